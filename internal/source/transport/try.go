package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"os"
	"strings"
	"sync/atomic"
)

const (
	// maxRefusal is how much of a refusal's body is given to Classify, in bytes.
	maxRefusal = 64 << 10
	// maxDrain is how much of a body that nobody wants is read, so that its connection can be used again.
	maxDrain = 256 << 10
)

// answer is an answer that was read whole.
type answer struct {
	response *http.Response
	body     []byte
	verdict  Verdict
}

// send makes one try. Its error is a *NetworkError, a *TooLargeError, or the caller's own context's.
func (r *round) send(ctx context.Context) (*answer, error) {
	within, cancel := context.WithTimeout(ctx, r.config.Timeout)
	defer cancel()
	req, err := r.request(r.watched(within, cancel))
	if err != nil {
		return nil, err
	}
	resp, err := r.config.Base.RoundTrip(req) //nolint:bodyclose // discard closes it
	if err != nil {
		return nil, r.networkError(ctx, within, err)
	}
	defer discard(resp.Body)
	body, err := r.readBody(resp)
	if err != nil {
		if errors.As(err, new(*TooLargeError)) {
			return nil, err
		}
		return nil, r.networkError(ctx, within, err)
	}
	if r.read && r.req.Method != http.MethodHead && cutShort(resp, body) {
		return nil, r.networkError(ctx, within, errNotWhole)
	}
	return r.whole(resp, body), nil
}

// watched takes a slot when the base sends a request again on its own, as net/http does where a connection that was used before
// breaks without an answer.
func (r *round) watched(ctx context.Context, cancel context.CancelFunc) context.Context {
	var sent atomic.Bool
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteHeaders: func() { sent.Store(true) },
		GotConn: func(httptrace.GotConnInfo) {
			if sent.Load() && r.takeSlot(ctx) != nil {
				cancel()
			}
		},
	})
}

// readBody reads an answer to its end. A refusal that is too large keeps its status and loses the rest of its body.
func (r *round) readBody(resp *http.Response) ([]byte, error) {
	limit := r.config.MaxBody
	refusal := resp.StatusCode >= http.StatusBadRequest
	if !refusal && resp.ContentLength > limit && r.req.Method != http.MethodHead {
		return nil, &TooLargeError{Limit: limit}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	switch {
	case err != nil && refusal:
		return body, nil // the status was clear
	case err != nil:
		return nil, err
	case int64(len(body)) > limit && refusal:
		return body[:limit], nil
	case int64(len(body)) > limit:
		return nil, &TooLargeError{Limit: limit}
	}
	return body, nil
}

// whole is the answer with its body in memory.
func (r *round) whole(resp *http.Response, body []byte) *answer {
	copied := *resp
	copied.Body = io.NopCloser(bytes.NewReader(body))
	copied.Request = r.req
	if r.req.Method != http.MethodHead {
		copied.ContentLength = int64(len(body))
	}
	a := &answer{response: &copied, body: body}
	if resp.StatusCode >= http.StatusBadRequest {
		a.verdict = r.config.Classify(resp.StatusCode, resp.Header, body[:min(len(body), maxRefusal)])
	}
	return a
}

// cutShort reports that an answer says it is JSON and isn't: a connection that is closed early looks like its end where no length
// was announced.
func cutShort(resp *http.Response, body []byte) bool {
	if resp.StatusCode != http.StatusOK {
		return false
	}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return false
	}
	return !json.Valid(body)
}

// networkError tells the end of the caller's own time or patience apart from what went wrong on the way.
func (r *round) networkError(ctx, within context.Context, err error) error {
	if own := ctx.Err(); own != nil {
		return own
	}
	if within.Err() != nil {
		err = os.ErrDeadlineExceeded
	}
	return &NetworkError{Method: r.req.Method, Host: r.req.URL.Host, Err: Bare(err)}
}

// discard reads what is left of a body, within bounds, and closes it.
func discard(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, maxDrain)
	closeBody(body)
}
