package gdrive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"google.golang.org/api/drive/v3"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"github.com/loresync/loresync/internal/source/transport"
)

const (
	// fileFields are what a listing asks for. Without a mask Drive tells four fields, and no page token.
	fileFields = "id,name,mimeType,parents,driveId,version,md5Checksum,sha256Checksum,modifiedTime,size,trashed,webViewLink,resourceKey," +
		"sharedWithMeTime,shortcutDetails(targetId,targetMimeType,targetResourceKey),capabilities(canDownload)"
	// pageFields are what a page's read asks for besides. Who asks for permissions in a list gets at most a hundred files an answer.
	pageFields = fileFields + ",createdTime,owners(displayName,emailAddress),lastModifyingUser(displayName,emailAddress)," +
		"permissions(" + grantFields + ")"
	grantFields = "type,role,domain,allowFileDiscovery,emailAddress,deleted"
	// pageSize is the most that Drive gives in one answer.
	pageSize = 1000
	// permissionPageSize is the most that Drive gives of a shared drive's permissions.
	permissionPageSize = 100
)

// client makes the calls. It retries nothing and waits for nothing: the transport below it does.
type client struct {
	api  *drive.Service
	http *http.Client
	keys keys
}

func newClient(endpoint string, opts Options) (*client, error) {
	base, err := url.Parse(endpoint)
	if err != nil || base.Host == "" {
		return nil, errors.New("the endpoint of Google Drive is not an address: it looks like " + DefaultEndpoint)
	}
	who, err := newTokens(opts)
	if err != nil {
		return nil, err
	}
	next := opts.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	sending := &http.Client{Transport: &authorized{endpoint: base, tokens: who, next: next}}
	api, err := drive.NewService(context.Background(), option.WithHTTPClient(sending), option.WithEndpoint(endpoint))
	if err != nil {
		return nil, fmt.Errorf("make the client of Google Drive: %w", err)
	}
	return &client{api: api, http: sending}, nil
}

// get reads what Drive tells of one file.
func (c *client) get(ctx context.Context, id string, fields googleapi.Field) (file, error) {
	call := c.api.Files.Get(id).SupportsAllDrives(true).Fields(fields).Context(ctx)
	c.keys.add(call.Header(), id)
	found, err := call.Do()
	if err != nil {
		return file{}, refusal("read a file's metadata", err)
	}
	f := fileOf(found)
	c.keys.note(f.id, f.key)
	c.keys.note(f.target.id, f.target.key)
	return f, nil
}

// named gives the top folder of a shared drive the drive's name: as a folder, each is called Drive.
func (c *client) named(ctx context.Context, f file) (file, error) {
	if f.id == "" || f.id != f.drive {
		return f, nil
	}
	found, err := c.api.Drives.Get(f.drive).Fields("name").Context(ctx).Do()
	if err != nil {
		return f, refusal("read a shared drive's name", err)
	}
	f.name = found.Name
	return f, nil
}

// query is one question to files.list.
type query struct {
	q string
	// drive is the shared drive that is asked; empty for all that the account sees by itself.
	drive string
	// about are the ids whose resource keys are sent.
	about  string
	fields string
	token  string
	size   int64
}

// answer is one page of files.
type answer struct {
	files []file
	next  string
	// incomplete is set when Drive didn't look everywhere.
	incomplete bool
}

func (c *client) list(ctx context.Context, in query) (answer, error) {
	call := c.api.Files.List().Q(in.q).PageSize(in.size).SupportsAllDrives(true).IncludeItemsFromAllDrives(true).Spaces("drive").
		Fields(googleapi.Field("nextPageToken,incompleteSearch,files(" + in.fields + ")")).Context(ctx)
	if in.drive != "" {
		call.Corpora("drive").DriveId(in.drive)
	} else {
		call.Corpora("user")
	}
	if in.token != "" {
		call.PageToken(in.token)
	}
	c.keys.add(call.Header(), in.about)
	found, err := call.Do()
	if err != nil {
		return answer{}, refusal("list a folder", err)
	}
	out := answer{files: make([]file, 0, len(found.Files)), next: found.NextPageToken, incomplete: found.IncompleteSearch}
	for _, each := range found.Files {
		if each != nil && each.Id != "" {
			f := fileOf(each)
			c.keys.note(f.id, f.key)
			c.keys.note(f.target.id, f.target.key)
			out.files = append(out.files, f)
		}
	}
	return out, nil
}

// account tells who asks.
func (c *client) account(ctx context.Context) (string, error) {
	about, err := c.api.About.Get().Fields("user(displayName,emailAddress)").Context(ctx).Do()
	switch {
	case err != nil:
		return "", refusal("ask who the credentials belong to", err)
	case about.User == nil:
		return "", nil
	case about.User.EmailAddress != "":
		return about.User.EmailAddress, nil
	}
	return userName(about.User), nil
}

// permissions lists who may read a shared drive.
func (c *client) permissions(ctx context.Context, driveID string) ([]*drive.Permission, error) {
	var all []*drive.Permission
	err := pages(func(token string) (string, error) {
		call := c.api.Permissions.List(driveID).SupportsAllDrives(true).PageSize(permissionPageSize).
			Fields("nextPageToken,permissions(" + grantFields + ")").Context(ctx)
		if token != "" {
			call.PageToken(token)
		}
		found, err := call.Do()
		if err != nil {
			return "", refusal("read a shared drive's permissions", err)
		}
		all = append(all, found.Permissions...)
		return found.NextPageToken, nil
	})
	return all, err
}

// export reads a file of Google's own in another format.
func (c *client) export(ctx context.Context, id, mimeType string, limit int64) ([]byte, error) {
	call := c.api.Files.Export(id, mimeType).Context(ctx)
	c.keys.add(call.Header(), id)
	resp, err := call.Download() //nolint:bodyclose // whole closes it
	if err != nil {
		return nil, refusal("export a file", err)
	}
	return whole("export a file", resp, limit)
}

// media reads a file's bytes.
func (c *client) media(ctx context.Context, id string, limit int64) ([]byte, error) {
	call := c.api.Files.Get(id).SupportsAllDrives(true).Context(ctx)
	c.keys.add(call.Header(), id)
	resp, err := call.Download() //nolint:bodyclose // whole closes it
	if err != nil {
		return nil, refusal("download a file", err)
	}
	return whole("download a file", resp, limit)
}

// whole reads a body to its end, and no further than the limit.
func whole(doing string, resp *http.Response, limit int64) ([]byte, error) {
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil:
		return nil, refusal(doing, err)
	case int64(len(body)) > limit:
		return nil, fmt.Errorf("%s: %w", doing, &transport.TooLargeError{Limit: limit})
	}
	return body, nil
}

// quoted escapes a value for a query.
func quoted(value string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(value) + "'"
}

// driveCount tells whether the account is a member of any shared drive.
func (c *client) driveCount(ctx context.Context) (int, error) {
	found, err := c.api.Drives.List().PageSize(1).Fields("drives(id)").Context(ctx).Do()
	if err != nil {
		return 0, refusal("list shared drives", err)
	}
	return len(found.Drives), nil
}
