package notion

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/jomei/notionapi"
)

const (
	// Version is the Notion-Version that is asked for.
	Version = "2026-03-11"
	// DefaultBaseURL is Notion's own address, without /v1.
	DefaultBaseURL = "https://api.notion.com"
	// pageSize is the most that Notion gives in one answer.
	pageSize = 100
	// maxAnswer bounds an answer in bytes. Notion's own bound of a request is 500 KB; a page of a hundred results with long
	// texts was never seen above 8 MB.
	maxAnswer = 32 << 20
	userAgent = "loresync"
)

var errAnswerTooLong = errors.New("the answer is longer than 32 MB")

// client makes the calls. It retries nothing and waits for nothing: the transport below it does.
type client struct {
	base  string
	http  *http.Client
	token func(context.Context) (string, error)
}

// list is one page of results. Items are left undecoded, so that a strange one spoils nothing but itself.
type list struct {
	Results    []json.RawMessage `json:"results"`
	HasMore    bool              `json:"has_more"`
	NextCursor string            `json:"next_cursor"`
	Status     struct {
		Type   string `json:"type"`
		Reason string `json:"incomplete_reason"`
	} `json:"request_status"`
	// PropertyItem is set in lists of a property's items.
	PropertyItem json.RawMessage `json:"property_item"`
}

// capped tells whether Notion gave up before the end of what it has.
func (l list) capped() bool { return l.Status.Type == "incomplete" }

// searchRequest asks for what the connection may see. An empty filter object would be refused, so there is none.
type searchRequest struct {
	Filter      searchFilter          `json:"filter"`
	Sort        *notionapi.SortObject `json:"sort,omitempty"`
	StartCursor string                `json:"start_cursor,omitempty"`
	PageSize    int                   `json:"page_size"`
}

type searchFilter struct {
	Property string `json:"property"`
	Value    string `json:"value"`
}

// queryRequest asks for the rows of a data source.
type queryRequest struct {
	Filter      *createdFilter         `json:"filter,omitempty"`
	Sorts       []notionapi.SortObject `json:"sorts,omitempty"`
	StartCursor string                 `json:"start_cursor,omitempty"`
	PageSize    int                    `json:"page_size"`
}

type createdFilter struct {
	Timestamp   string          `json:"timestamp"`
	CreatedTime createdBoundary `json:"created_time"`
}

type createdBoundary struct {
	OnOrAfter string `json:"on_or_after"`
}

func (c *client) search(ctx context.Context, in searchRequest) (list, error) {
	in.PageSize = pageSize
	return c.list(ctx, "search", http.MethodPost, "/v1/search", in)
}

func (c *client) page(ctx context.Context, id string) (json.RawMessage, error) {
	return c.object(ctx, "read a page", "/v1/pages/"+url.PathEscape(id))
}

func (c *client) database(ctx context.Context, id string) (json.RawMessage, error) {
	return c.object(ctx, "read a database", "/v1/databases/"+url.PathEscape(id))
}

func (c *client) dataSource(ctx context.Context, id string) (json.RawMessage, error) {
	return c.object(ctx, "read a data source", "/v1/data_sources/"+url.PathEscape(id))
}

func (c *client) block(ctx context.Context, id string) (json.RawMessage, error) {
	return c.object(ctx, "read a block", "/v1/blocks/"+url.PathEscape(id))
}

func (c *client) query(ctx context.Context, dataSource string, in queryRequest) (list, error) {
	in.PageSize = pageSize
	return c.list(ctx, "query a data source", http.MethodPost, "/v1/data_sources/"+url.PathEscape(dataSource)+"/query?filter_properties=title", in)
}

func (c *client) children(ctx context.Context, block, cursor string) (list, error) {
	return c.list(ctx, "read blocks", http.MethodGet, paged("/v1/blocks/"+url.PathEscape(block)+"/children", cursor), nil)
}

// property reads one page of a property's items. Property ids come URL-encoded in the page and are used as they come.
func (c *client) property(ctx context.Context, page, propertyID, cursor string) (list, error) {
	return c.list(ctx, "read a property", http.MethodGet, paged("/v1/pages/"+url.PathEscape(page)+"/properties/"+propertyID, cursor), nil)
}

func (c *client) comments(ctx context.Context, block, cursor string) (list, error) {
	return c.list(ctx, "read comments", http.MethodGet, paged("/v1/comments?block_id="+url.QueryEscape(block), cursor), nil)
}

// me tells who the token belongs to, through the vendor library's client over our transport.
func (c *client) me(ctx context.Context) (*notionapi.User, error) {
	token, err := c.token(ctx)
	if err != nil {
		return nil, err
	}
	sent := &rebased{base: c.base, next: c.http.Transport}
	library := notionapi.NewClient(notionapi.Token(token), notionapi.WithVersion(Version),
		notionapi.WithHTTPClient(&http.Client{Transport: sent}))
	user, err := library.User.Me(ctx)
	return user, fromLibrary("ask who the token belongs to", sent.requestID, err)
}

func paged(path, cursor string) string {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	path += separator + "page_size=" + strconv.Itoa(pageSize)
	if cursor != "" {
		path += "&start_cursor=" + url.QueryEscape(cursor)
	}
	return path
}

func (c *client) object(ctx context.Context, doing, path string) (json.RawMessage, error) {
	body, err := c.do(ctx, doing, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	var head struct {
		Object string `json:"object"`
		ID     string `json:"id"`
	}
	if err := json.Unmarshal(body, &head); err != nil || head.Object == "error" || head.ID == "" {
		return nil, &Error{Doing: doing, Status: http.StatusOK, Code: "bad_answer", Message: "the answer is not an object of Notion's"}
	}
	return body, nil
}

func (c *client) list(ctx context.Context, doing, method, path string, in any) (list, error) {
	body, err := c.do(ctx, doing, method, path, in)
	if err != nil {
		return list{}, err
	}
	var raw struct {
		list
		NextCursor *string `json:"next_cursor"`
		Object     string  `json:"object"`
	}
	if err := json.Unmarshal(body, &raw); err != nil || raw.Object == "error" {
		return list{}, &Error{Doing: doing, Status: http.StatusOK, Code: "bad_answer", Message: "the answer is not a list"}
	}
	if raw.NextCursor != nil {
		raw.list.NextCursor = *raw.NextCursor
	}
	return raw.list, nil
}

// do makes one call and gives the body of a good answer.
func (c *client) do(ctx context.Context, doing, method, path string, in any) ([]byte, error) {
	var body io.Reader
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", doing, err)
		}
		body = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	token, err := c.token(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Notion-Version", Version)
	req.Header.Set("User-Agent", userAgent)
	req.Header.Set("Accept", "application/json")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, unreachable(doing, err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, unreachable(doing, err)
	case len(answer) > maxAnswer:
		return nil, fmt.Errorf("%s: %w", doing, errAnswerTooLong)
	case resp.StatusCode != http.StatusOK:
		return nil, refusal(doing, resp, answer)
	}
	return answer, nil
}

// rebased sends one request of the vendor library to the base address; it knows only Notion's own.
type rebased struct {
	base string
	next http.RoundTripper
	// requestID is what the answer was numbered, which the library drops.
	requestID string
}

// RoundTrip rewrites the address and passes the request on.
func (r *rebased) RoundTrip(req *http.Request) (*http.Response, error) {
	base, err := url.Parse(r.base)
	if err != nil {
		return nil, fmt.Errorf("read the base URL: %w", err)
	}
	sent := req.Clone(req.Context())
	sent.URL.Scheme, sent.URL.Host, sent.Host = base.Scheme, base.Host, base.Host
	sent.URL.Path = strings.TrimRight(base.Path, "/") + sent.URL.Path
	next := r.next
	if next == nil {
		next = http.DefaultTransport
	}
	resp, err := next.RoundTrip(sent)
	if err == nil {
		r.requestID = resp.Header.Get(requestIDHeader)
	}
	return resp, err //nolint:wrapcheck // the library above wraps
}
