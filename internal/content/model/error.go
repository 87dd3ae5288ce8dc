package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/openai/openai-go/v3"
)

var (
	// ErrRefused is the cause when the endpoint answered with an error status.
	ErrRefused = errors.New("endpoint refused the request")
	// ErrUnreachable is the cause when no answer came.
	ErrUnreachable = errors.New("endpoint is unreachable")
	// ErrBadAnswer is the cause when the answer can't be used.
	ErrBadAnswer = errors.New("endpoint gave an unusable answer")
	// ErrBadRequest is the cause when there is nothing to ask for.
	ErrBadRequest = errors.New("request can't be sent")
)

// maxRetryAfter bounds the delay that an endpoint may ask for: longer than a day
// is a mistake in its header.
const maxRetryAfter = 24 * time.Hour

// Error is what every remote model returns. Neither its text nor its cause holds a
// key, an address, an answer's body or text of a page, so that it may be logged,
// stored and carried in a workflow's history.
type Error struct {
	// Status is the HTTP status, 0 if no answer came.
	Status int
	// Retryable says whether the same request may succeed later.
	Retryable bool
	// RetryAfter is the delay that the endpoint asked for, 0 if it didn't.
	RetryAfter time.Duration
	// Sentence is for people.
	Sentence string
	// Err is the cause: one of this package's errors or the context's.
	Err error
}

func (e *Error) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("ask model: %v", e.Err)
	}
	return fmt.Sprintf("ask model: %v (status %d)", e.Err, e.Status)
}

func (e *Error) Unwrap() error { return e.Err }

// Unusable returns the error for an answer with status 200 that can't be used.
func Unusable(retryable bool, sentence string) *Error {
	return &Error{Status: http.StatusOK, Retryable: retryable, Sentence: sentence, Err: ErrBadAnswer}
}

// Translate turns an error of the client library into an Error and drops all
// that could hold a secret.
func Translate(ctx context.Context, err error) *Error {
	if answered, ok := errors.AsType[*openai.Error](err); ok {
		return refused(answered)
	}
	if ctx.Err() != nil {
		return &Error{Retryable: true, Sentence: "The request to the model was interrupted.", Err: ctx.Err()}
	}
	var urlErr *url.Error
	var netErr net.Error
	timeout := errors.Is(err, context.DeadlineExceeded) || (errors.As(err, &netErr) && netErr.Timeout())
	switch {
	case timeout:
		return &Error{Retryable: true, Sentence: "The model did not answer in time.", Err: ErrUnreachable}
	case errors.As(err, &urlErr):
		return &Error{Retryable: true, Sentence: "The model's server can't be reached.", Err: ErrUnreachable}
	default:
		// A gateway's page with status 200, half an answer, or not the JSON it
		// should be.
		return Unusable(true, "The model's server gave an answer that can't be read.")
	}
}

func refused(answered *openai.Error) *Error {
	e := &Error{Status: answered.StatusCode, Err: ErrRefused}
	if answered.Response != nil {
		e.RetryAfter = retryAfter(answered.Response.Header, time.Now())
	}
	e.Retryable, e.Sentence = verdict(answered.StatusCode, answered.Code)
	return e
}

// verdict goes by the status alone, since a gateway's error page has no code. The
// one exception is a used-up quota, which comes with the status of a rate limit.
func verdict(status int, code string) (retryable bool, sentence string) {
	switch {
	case code == "insufficient_quota":
		return false, "The account for the model has used up its quota."
	case status == http.StatusTooManyRequests || status == 529:
		return true, "The model's server asks for fewer requests."
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return false, "The key for the model was refused."
	case status == http.StatusNotFound:
		return false, "The model's server doesn't know the model or the address."
	case status == http.StatusRequestTimeout || status == http.StatusConflict || status == http.StatusTooEarly:
		return true, "The model's server was busy."
	case status >= http.StatusInternalServerError:
		return true, "The model's server has a problem."
	default:
		return false, "The model's server refused the request."
	}
}

// retryAfter reads the delay in milliseconds, seconds (fractions included) or as a
// date.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil {
		return delay(ms * float64(time.Millisecond))
	}
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return delay(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return delay(float64(at.Sub(now)))
	}
	return 0
}

func delay(ns float64) time.Duration {
	if math.IsNaN(ns) || ns <= 0 {
		return 0
	}
	return time.Duration(min(ns, float64(maxRetryAfter)))
}
