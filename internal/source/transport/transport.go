// Package transport carries the requests of every vendor client: one http.RoundTripper that takes a slot of the connection's rate
// budget for each try, bounds its time and size, tries again what is worth it, and speaks of errors without tokens, bodies or queries.
//
//	transport.go   the settings and the life of a request
//	try.go         one try: sending, reading the answer whole, judging it
//	retry.go       what is tried again, and when
//	after.go       Retry-After in all its forms
//	request.go     sending a request's body more than once
//	errors.go      what comes out instead of an answer
//	failure.go     these errors as failures of a source
//	attempt.go     who asks
//	budget.go      waiting for slots: one poller per process and connection
//	queue.go       the order in which a process' requests wait
//
// A vendor's own retries have to be switched off, and so has http.Client.Timeout, which would count the wait for a slot.
package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/loresync/loresync/internal/source"
)

// The defaults of Config.
const (
	// DefaultTimeout is what the vendors' own clients wait for one answer.
	DefaultTimeout = 60 * time.Second
	// DefaultTotal leaves an activity the time to hand the rest over to a later attempt.
	DefaultTotal = 5 * time.Minute
	// DefaultPatience is the longest Retry-After that is waited for in process: a rate limit of a minute's window is over by then.
	DefaultPatience = 60 * time.Second
	// DefaultMaxBody is far above a page of JSON and bounds what a hundred concurrent requests can hold.
	DefaultMaxBody = 32 << 20
	// DefaultRetries leaves out what is down for longer than about half a minute: that is the workflow's to wait for.
	DefaultRetries = 4
	// DefaultBackoff and DefaultMaxBackoff follow what Notion and Google ask for.
	DefaultBackoff    = time.Second
	DefaultMaxBackoff = 32 * time.Second
)

// Config says how requests are sent. The zero values of all but Connection mean a default.
type Config struct {
	// Connection names the budget.
	Connection string
	// Base sends one request; http.DefaultTransport by default.
	Base http.RoundTripper
	// Budget gives a slot for each try. Without one there is no limit, and a Retry-After is waited for on the spot.
	Budget Budget
	// Timeout bounds one try from sending to the last byte of the answer; DefaultTimeout by default.
	Timeout time.Duration
	// Total bounds all tries and the waits between them: no wait begins that would end later. DefaultTotal by default.
	Total time.Duration
	// Patience is the longest Retry-After that is waited for in process; a longer one comes out as a *source.Failure.
	// DefaultPatience by default.
	Patience time.Duration
	// MaxBody bounds an answer, in bytes after decompression; DefaultMaxBody by default.
	MaxBody int64
	// Retries is how often a request is sent again at most; DefaultRetries by default, none below zero.
	Retries int
	// Backoff is the first wait where the vendor named none; it doubles up to MaxBackoff, with jitter.
	Backoff, MaxBackoff time.Duration
	// IsRead tells which requests besides GET and HEAD change nothing, and so may be sent again when nobody knows what became of
	// them.
	IsRead func(*http.Request) bool
	// Classify reads a vendor's refusal: the answer's status (400 and above), its header, and its body, of which at most 64 KiB are
	// given. Without one a refusal has only its status.
	Classify func(status int, header http.Header, body []byte) Verdict
}

// Verdict is what a vendor's answer says about itself.
type Verdict struct {
	// Code, Message, RequestID and Reason go into the StatusError; see there.
	Code, Message, RequestID, Reason string
	// RetryAfter is what the body says where the header says nothing.
	RetryAfter time.Duration
	// Treat overrules what the status says.
	Treat Treat
}

// Treat is how a refusal is treated.
type Treat int

// The ways to treat a refusal.
const (
	// TreatByStatus goes by the status.
	TreatByStatus Treat = iota
	// TreatAsRateLimit treats any status like 429, as for Drive's 403 with a rate reason.
	TreatAsRateLimit
	// TreatAsFinal never sends the request again, as for an integration that was blocked.
	TreatAsFinal
)

// Transport is an http.RoundTripper. It is safe for concurrent use.
type Transport struct{ config Config }

var _ http.RoundTripper = (*Transport)(nil)

// New gives a Transport for one connection.
func New(config Config) *Transport {
	if config.Base == nil {
		config.Base = http.DefaultTransport
	}
	config.Timeout = orDefault(config.Timeout, DefaultTimeout)
	config.Total = orDefault(config.Total, DefaultTotal)
	config.Patience = orDefault(config.Patience, DefaultPatience)
	config.MaxBody = orDefault(config.MaxBody, DefaultMaxBody)
	config.Retries = orDefault(config.Retries, DefaultRetries)
	config.Backoff = orDefault(config.Backoff, DefaultBackoff)
	config.MaxBackoff = orDefault(config.MaxBackoff, DefaultMaxBackoff)
	if config.IsRead == nil {
		config.IsRead = func(*http.Request) bool { return false }
	}
	if config.Classify == nil {
		config.Classify = func(int, http.Header, []byte) Verdict { return Verdict{} }
	}
	return &Transport{config: config}
}

func orDefault[T int | int64 | time.Duration](value, fallback T) T {
	if value == 0 {
		return fallback
	}
	return value
}

// RoundTrip sends a request, more than once where that is right. The answer's body is in memory, whole: closing it is a courtesy.
//
// A status below 400 and a refusal that isn't worth another try (any 4xx but 429) are handed on as they came. Otherwise the
// error, which an http.Client wraps once more (see Bare), is one of
//
//	*source.Failure   ClassRateLimited: the vendor wants a longer rest than is waited for in process; it wraps a *StatusError or *BlockedError
//	*StatusError      the vendor's last word, 5xx or what Classify called final
//	*NetworkError     no answer, or not all of it
//	*TooLargeError    an answer above MaxBody
//	ErrStopped, ErrPaused   nothing was sent, and nothing should be
//	context errors    the caller's own
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := newReplay(req, t.config.MaxBody)
	if err != nil {
		return nil, err
	}
	r := &round{
		Transport: t, req: req, body: body,
		read: req.Method == http.MethodGet || req.Method == http.MethodHead || t.config.IsRead(req),
	}
	for {
		answer, err := r.try(req.Context())
		if err != nil && !errors.As(err, new(*NetworkError)) {
			return nil, err
		}
		again, err := r.judge(req.Context(), answer, err)
		if err != nil {
			return nil, err
		}
		if !again {
			return answer.response, nil
		}
		r.retries++
	}
}

// round is one request on its way.
type round struct {
	*Transport
	req  *http.Request
	body replay
	// began is when it was first sent: the wait for the first slot doesn't count.
	began   time.Time
	read    bool
	retries int
}

// try takes a slot and sends the request once.
func (r *round) try(ctx context.Context) (*answer, error) {
	if err := r.takeSlot(ctx); err != nil {
		if blocked, ok := errors.AsType[*BlockedError](err); ok {
			return nil, rateLimited(blocked.For, err)
		}
		return nil, fmt.Errorf("wait for a slot: %w", err)
	}
	if r.began.IsZero() {
		r.began = time.Now()
	}
	return r.send(ctx)
}

func (r *round) takeSlot(ctx context.Context) error {
	if r.config.Budget == nil {
		return nil
	}
	return r.config.Budget.Take(ctx, r.config.Connection, attemptOf(ctx))
}

// rateLimited hands a rest that is too long to be waited for in process up to whoever can.
func rateLimited(after time.Duration, err error) *source.Failure {
	return &source.Failure{
		Class: source.ClassRateLimited, Doing: "send a request", RetryAfter: after, Err: err,
		Sentence: rateSentence,
	}
}

// CloseIdleConnections closes what the base keeps open.
func (t *Transport) CloseIdleConnections() {
	if base, ok := t.config.Base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

var errBodyTooLarge = errors.New("the request's body is larger than an answer may be, and can't be sent again")

func closeBody(body io.Closer) {
	if body != nil {
		_ = body.Close() // nothing more is wanted of it
	}
}
