// Package model is what the clients of remote models share: how they talk to an
// OpenAI-compatible endpoint and how they say what went wrong.
package model

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"
)

const (
	// DefaultBaseURL is OpenAI's own endpoint.
	DefaultBaseURL = "https://api.openai.com/v1"
	// defaultTimeout bounds one request. A batch of embeddings takes a second or
	// two, a summary by a large model up to half a minute.
	defaultTimeout = 60 * time.Second
	// maxAnswer bounds an answer in bytes: 64 vectors of 4,096 numbers are some
	// 6 MB, and a worker has 250 MB in all.
	maxAnswer = 32 << 20
)

// Endpoint says where a model is asked.
type Endpoint struct {
	// BaseURL ends in /v1 or whatever stands in front of /embeddings. Empty means
	// OpenAI.
	BaseURL string
	// APIKey is sent as a bearer token. Empty sends none, which suits a local
	// server.
	APIKey string
	// Timeout bounds one request; 0 means a minute.
	Timeout time.Duration
}

// Options are the client options for e. They are complete: nothing is read from
// the environment. The library doesn't retry, since whoever calls does, with the
// delay that the endpoint asked for and across restarts.
func (e Endpoint) Options() []option.RequestOption {
	base, timeout := e.BaseURL, e.Timeout
	if base == "" {
		base = DefaultBaseURL
	}
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	opts := []option.RequestOption{
		option.WithBaseURL(strings.TrimRight(base, "/") + "/"),
		option.WithHTTPClient(&http.Client{Transport: bounded{http.DefaultTransport}}),
		option.WithRequestTimeout(timeout),
		option.WithMaxRetries(0),
	}
	if e.APIKey != "" {
		opts = append(opts, option.WithAPIKey(e.APIKey))
	}
	return opts
}

// bounded cuts an endless answer off.
type bounded struct{ next http.RoundTripper }

// RoundTrip sends the request and bounds what is read of its answer.
func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err //nolint:wrapcheck // the client above wraps
	}
	resp.Body = &boundedBody{ReadCloser: resp.Body, left: maxAnswer}
	return resp, nil
}

var errTooLong = errors.New("answer is too long")

type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errTooLong
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err //nolint:wrapcheck // io.EOF has to stay itself
}
