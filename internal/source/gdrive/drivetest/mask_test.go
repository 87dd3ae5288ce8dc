package drivetest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/api/googleapi"

	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

// fixtures is where real payloads lie, on machines that have them.
const fixtures = "/work/shared/fixtures/drive"

// readFixture reads a real payload, or skips the test.
func readFixture(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(fixtures, name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the real payloads of Drive aren't on this machine: put them at %s to compare with them", fixtures)
	}
	require.NoError(t, err)
	return raw
}

// get asks for a path and gives the body of the answer.
func (s stand) get(path string) (status int, body drivetest.Object) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.Endpoint()+path, http.NoBody)
	require.NoError(s.t, err)
	got, err := s.HTTPClient(s.Owner()).Do(r)
	require.NoError(s.t, err)
	defer func() { _ = got.Body.Close() }()
	raw, err := io.ReadAll(got.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, json.Unmarshal(raw, &body))
	return got.StatusCode, body
}

type object = drivetest.Object

func TestFields(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{PageCap: 1})
	id := drivetest.Must(s.AddFile("", "f", "text/plain", []byte("text")))
	drivetest.Must(s.AddFolder("", "g"))
	cases := map[string]object{
		"files/" + id: {"kind": "drive#file", "id": id, "name": "f", "mimeType": "text/plain"},
		"files/" + id + "?fields=id,trashed,explicitlyTrashed":                      {"id": id, "trashed": false, "explicitlyTrashed": false},
		"files/" + id + "?fields=owners(emailAddress),owners/me":                    {"owners": []any{object{"emailAddress": s.Owner(), "me": true}}},
		"files/" + id + "?fields=capabilities/canDownload,size":                     {"capabilities": object{"canDownload": true}, "size": "4"},
		"files/" + id + "?fields=lastModifyingUser/*,kind":                          {"kind": "drive#file", "lastModifyingUser": s.person()},
		"files/" + id + "?fields=description,driveId,exportLinks":                   {},
		"files?fields=files(name)&q=name+%3D+'f'":                                   {"files": []any{object{"name": "f"}}},
		"files?fields=files/id,files(name)&q=name+%3D+'f'":                          {"files": []any{object{"id": id, "name": "f"}}},
		"files?fields=incompleteSearch":                                             {"incompleteSearch": false},
		"files?fields=kind,files(permissions(role,emailAddress))&q=name+%3D+'f'":    {"kind": "drive#fileList", "files": s.permissions()},
		"files?q=name+%3D+'f'&fields=*/name":                                        {"files": []any{object{"name": "f"}}},
		"changes/startPageToken?fields=kind":                                        {"kind": "drive#startPageToken"},
		"about?fields=user/emailAddress":                                            {"user": object{"emailAddress": s.Owner()}},
		"files/" + id + "/permissions?fields=permissions/role":                      {"permissions": []any{object{"role": "owner"}, object{"role": "reader"}}},
		"files/" + id + "?fields=exportLinks/anything,properties/x,appProperties/y": {},
	}
	for path, want := range cases {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			status, body := stand{s.Server, t}.get(path)
			assert.Equal(t, http.StatusOK, status)
			assert.Equal(t, want, body)
		})
	}
	_, body := s.get("files")
	assert.Len(t, body, 4, "without a mask all of a list is there, and four fields of its files")
	assert.Contains(t, body, "nextPageToken")
}

func (s stand) person() object {
	_, body := s.get("about?fields=user")
	user, _ := body["user"].(object)
	return user
}

func (s stand) permissions() []any {
	return []any{object{"permissions": []any{
		object{"role": "owner", "emailAddress": s.Owner()}, object{"role": "reader", "emailAddress": s.ServiceAccount()},
	}}}
}

func TestFieldsThatAreRefused(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	id := drivetest.Must(s.AddFolder("", "f"))
	for fields, named := range map[string]string{
		"title": "title", "id,title": "title", "owners/mail": "mail", "owners(me,mail)": "mail", "id/x": "x", "id,": "id,", "": "", "a b": "a b",
		"owners(me": "owners(me", "owners)": "owners)", "owners()": "owners()", "owners/": "owners/", "(id)": "(id)", "i*": "i*",
		"files(id)": "files", "ID": "ID", ",": ",",
	} {
		if fields == "" {
			continue
		}
		t.Run(fields, func(t *testing.T) {
			t.Parallel()
			_, err := s.owner().Files.Get(id).Fields(googleapi.Field(fields)).Do()
			status, reason, message := refused(t, err)
			assert.Equal(t, 400, status)
			assert.Equal(t, "invalidParameter", reason)
			assert.Equal(t, "Invalid field selection "+named, message)
		})
	}
	_, err := s.owner().About.Get().Do()
	requireStatus(t, err, 400, "required")
}

// schemas are the resources of Drive's discovery document.
type schemas map[string]struct {
	Properties map[string]property `json:"properties"`
}

type property struct {
	Ref                  string              `json:"$ref"`
	Items                *property           `json:"items"`
	Properties           map[string]property `json:"properties"`
	AdditionalProperties *property           `json:"additionalProperties"` //nolint:tagliatelle // the document's word
}

// unknown gives the fields of an answer that a resource doesn't have.
func (s schemas) unknown(path string, value any, properties map[string]property) []string {
	var found []string
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			found = append(found, s.unknown(path, item, properties)...)
		}
	case object:
		for name, inner := range value {
			p, ok := properties[name]
			if !ok {
				found = append(found, path+"/"+name)
				continue
			}
			if p.Items != nil {
				p = *p.Items
			}
			if p.Ref != "" {
				p.Properties = s[p.Ref].Properties
			}
			if p.AdditionalProperties == nil {
				found = append(found, s.unknown(path+"/"+name, inner, p.Properties)...)
			}
		}
	}
	return found
}

// TestAllFieldsAreReal compares what the server answers, when all is asked for, with Drive's discovery document.
func TestAllFieldsAreReal(t *testing.T) {
	t.Parallel()
	var document struct {
		Schemas schemas `json:"schemas"`
	}
	require.NoError(t, json.Unmarshal(readFixture(t, "discovery/drive-api.json"), &document))
	s := newStand(t, drivetest.Options{})
	_, before := s.get("changes/startPageToken")
	team := s.everyKind()
	everywhere := "&supportsAllDrives=true&includeItemsFromAllDrives=true"
	for path, schema := range map[string]string{
		"files?fields=*&corpora=allDrives" + everywhere:                                      "FileList",
		fmt.Sprintf("changes?fields=*&pageToken=%s%s", before["startPageToken"], everywhere): "ChangeList",
		"files/root?fields=*":                                "File",
		"files/" + team + "?fields=*&supportsAllDrives=true": "File",
		"drives?fields=*":                                    "DriveList",
		"drives/" + team + "?fields=*":                       "Drive",
		"about?fields=*":                                     "About",
		"changes/startPageToken":                             "StartPageToken",
		"files/" + team + "/permissions?fields=*&supportsAllDrives=true": "PermissionList",
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			status, body := stand{s.Server, t}.get(path)
			require.Equal(t, http.StatusOK, status)
			assert.Empty(t, document.Schemas.unknown(schema, body, document.Schemas[schema].Properties))
		})
	}
}

// everyKind fills a Drive with a file of every kind, and gives a shared drive.
func (s stand) everyKind() string {
	team := drivetest.Must(s.AddDrive("Team"))
	for _, parent := range []string{"", team} {
		folder := drivetest.Must(s.AddFolder(parent, "folder"))
		doc := drivetest.Must(s.AddDoc(folder, "doc", "# Title"))
		drivetest.Must(s.AddSheet(folder, "sheet", drivetest.Tab{Name: "Tab", Rows: [][]any{{"a", 1}}}))
		drivetest.Must(s.AddSlides(folder, "slides", drivetest.Slide{Title: "Title"}))
		drivetest.Must(s.AddNative(folder, "form", drivetest.MimeForm, nil))
		drivetest.Must(s.AddShortcut(folder, "shortcut", doc))
		file := drivetest.Must(s.AddFile(folder, "file.tar.gz", "application/gzip", []byte("bytes")))
		require.NoError(s.t, s.Describe(file, "A file"))
		require.NoError(s.t, s.Trash(drivetest.Must(s.AddFile(folder, "trash", "text/plain", nil))))
		drivetest.Must(s.RequireResourceKey(drivetest.Must(s.AddFile(folder, "old link", "text/plain", nil))))
	}
	return team
}

// TestRecordedFiles compares the fields of each kind of file with those of recorded answers: none that is always there is missing.
func TestRecordedFiles(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	s.everyKind()
	_, body := s.get("files?fields=*&supportsAllDrives=true&includeItemsFromAllDrives=true&corpora=allDrives")
	here := byKind(body)
	for _, name := range []string{"just_a_dribble", "mix_of_files_and_teamdrives"} {
		var recorded object
		require.NoError(t, json.Unmarshal(readFixture(t, "googledrive-r/"+name+".files.json"), &recorded))
		for kind, always := range byKind(recorded) {
			if here[kind] == nil {
				continue
			}
			for field := range always {
				switch field {
				case "thumbnailLink", "viewedByMeTime", "parents", "sharedWithMeTime", "permissions", "permissionIds", "webContentLink", "modifiedByMeTime":
					// What a user looked at or was given; a link that editors' files had in 2021 when their owner listed them.
				default:
					assert.Contains(t, here[kind], field, "of %s", kind)
				}
			}
		}
	}
}

// byKind gives the fields that all files of a kind have: its type, and whether it is in a shared drive.
func byKind(list object) map[string]map[string]bool {
	found := map[string]map[string]bool{}
	files, _ := list["files"].([]any)
	for _, each := range files {
		file, _ := each.(object)
		kind, _ := file["mimeType"].(string)
		if kind == "text/plain" || kind == "application/gzip" || kind == "application/pdf" || kind == "application/octet-stream" {
			kind = "bytes"
		}
		if file["driveId"] != nil {
			kind += " in a shared drive"
		}
		if found[kind] == nil {
			found[kind] = map[string]bool{}
			for field := range file {
				found[kind][field] = true
			}
		}
		for field := range found[kind] {
			if file[field] == nil {
				delete(found[kind], field)
			}
		}
	}
	return found
}
