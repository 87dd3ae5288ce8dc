package transport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
)

// replay gives the body of a request for each try; nil for a request without one.
type replay func() (io.ReadCloser, error)

// newReplay goes by GetBody, and reads a body that has none into memory. Either way the request's own body is closed.
func newReplay(req *http.Request, limit int64) (replay, error) {
	if req.Body == nil || req.Body == http.NoBody {
		return nil, nil //nolint:nilnil // no body is an answer
	}
	defer closeBody(req.Body)
	if req.GetBody != nil {
		return req.GetBody, nil
	}
	whole, err := io.ReadAll(io.LimitReader(req.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read the request's body: %w", err)
	}
	if int64(len(whole)) > limit {
		return nil, errBodyTooLarge
	}
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(whole)), nil }, nil
}

// request is a copy of the caller's request for one try: a RoundTripper leaves the original as it is.
func (r *round) request(ctx context.Context) (*http.Request, error) {
	req := r.req.Clone(ctx)
	if r.body == nil {
		return req, nil
	}
	body, err := r.body()
	if err != nil {
		return nil, fmt.Errorf("get the request's body again: %w", err)
	}
	req.Body, req.GetBody = body, r.body
	return req, nil
}
