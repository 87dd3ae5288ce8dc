package transport

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
	"unicode"
)

// ErrStopped says that nothing was sent because a delete asked the sync to stop, or another sync of the page replaced it.
var ErrStopped = errors.New("the sync was stopped before the request was sent")

// ErrPaused says that nothing was sent because the connection is paused.
var ErrPaused = errors.New("the connection is paused")

// errNotWhole is an answer that ends too early without the connection having said so.
var errNotWhole = errors.New("the answer is not whole")

// BlockedError says that nothing was sent because the vendor wants nothing for longer than is waited for in process.
type BlockedError struct {
	Connection string
	For        time.Duration
}

// Error names the connection and the time that is left.
func (e *BlockedError) Error() string {
	return fmt.Sprintf("connection %s sends nothing for another %s", e.Connection, e.For.Round(time.Second))
}

// StatusError is a vendor's refusal.
type StatusError struct {
	// Status is the HTTP status, 400 or above.
	Status int
	// Code is the vendor's own word for it, Reason a finer one; both empty when the body has none.
	Code, Reason string
	// Message is the vendor's sentence. It may quote what was sent, so Error leaves it out.
	Message string
	// RequestID is what the vendor's support asks for.
	RequestID string
	// RetryAfter is how long the vendor wants to be left alone; zero when it didn't say. At most an hour.
	RetryAfter time.Duration
}

// Error gives the status and the vendor's words for it, without its message.
func (e *StatusError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "status %d", e.Status)
	if name := http.StatusText(e.Status); name != "" {
		b.WriteString(" " + name)
	}
	for _, part := range []struct{ name, value string }{{"code", e.Code}, {"reason", e.Reason}, {"request", e.RequestID}} {
		if part.value != "" {
			b.WriteString(", " + part.name + " " + part.value)
		}
	}
	return b.String()
}

// statusError puts what the answer and the vendor's hook say into one error.
func (a *answer) statusError(now time.Time) *StatusError {
	e := &StatusError{
		Status: a.response.StatusCode, Code: word(a.verdict.Code), Reason: word(a.verdict.Reason), RequestID: word(a.verdict.RequestID),
		Message: a.verdict.Message, RetryAfter: retryAfter(a.response.Header, now),
	}
	if e.RetryAfter == 0 {
		e.RetryAfter = bounded(a.verdict.RetryAfter)
	}
	return e
}

// word keeps a vendor's code a word: something longer, or with spaces in it, is a text that doesn't belong into an error.
func word(s string) string {
	const longest = 100
	if len(s) > longest || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return ""
	}
	return s
}

// TooLargeError is an answer that is larger than Config.MaxBody.
type TooLargeError struct {
	// Limit is in bytes.
	Limit int64
}

// Error names the limit.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the answer has more than %d bytes", e.Limit)
}

// NetworkError is a request that got no answer, or not all of it. Whether it reached the server is not known.
type NetworkError struct {
	Method, Host string
	// Err is the cause. Its own text may quote what came over the wire, so Error doesn't.
	Err error
}

// Error says what happened in words of its own.
func (e *NetworkError) Error() string {
	return fmt.Sprintf("%s %s: %s", e.Method, e.Host, describe(e.Err))
}

// Unwrap gives the cause.
func (e *NetworkError) Unwrap() error { return e.Err }

func describe(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	if network, ok := errors.AsType[net.Error](err); ok && network.Timeout() {
		return "no whole answer in time"
	}
	switch {
	case errors.Is(err, errNotWhole), errors.Is(err, io.ErrUnexpectedEOF):
		return "the answer is not whole"
	case errors.Is(err, io.EOF):
		return "the connection was closed without an answer"
	case errors.As(err, new(*net.DNSError)):
		return "the name of the host can't be looked up"
	case errors.As(err, new(*tls.CertificateVerificationError)), errors.As(err, new(x509.UnknownAuthorityError)):
		return "the certificate of the host isn't trusted"
	}
	return "the connection broke"
}

// Bare takes off what an http.Client puts around the errors of a RoundTripper, the URL with its query.
func Bare(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
