package gdrive

import (
	"context"
	"net/http"

	"google.golang.org/api/googleapi"
)

// exportLink gives the address under which a file is exported in a format, whatever its size; empty when there is none.
func (c *client) exportLink(ctx context.Context, id, mimeType string) (string, error) {
	call := c.api.Files.Get(id).SupportsAllDrives(true).Fields("exportLinks").Context(ctx)
	c.keys.add(call.Header(), id)
	found, err := call.Do()
	if err != nil {
		return "", refusal("read a file's export links", err)
	}
	return found.ExportLinks[mimeType], nil
}

// link reads what an export link gives. Links of other hosts than Google's, or the endpoint's, get no request. Who isn't let in is
// led to a page that asks to sign in, which is not what was asked for.
func (c *client) link(ctx context.Context, address, mimeType string) ([]byte, error) {
	const doing = "export a file by its link"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, &Error{Doing: doing, Status: http.StatusNotFound} // the cause would quote the link
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, refusal(doing, err)
	}
	if err := googleapi.CheckMediaResponse(resp); err != nil {
		_ = resp.Body.Close()
		return nil, refusal(doing, err)
	}
	if bareType(resp.Header.Get("Content-Type")) == "text/html" && mimeType != "text/html" {
		_ = resp.Body.Close()
		return nil, &Error{Doing: doing, Status: http.StatusForbidden}
	}
	return whole(doing, resp, MaxContent)
}
