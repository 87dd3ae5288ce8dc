package api

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/loresync/loresync/internal/access"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/search"
	"github.com/loresync/loresync/internal/store"
)

const (
	problemType = "application/problem+json"
	// retryAfter is when to come again after something that a request needs was away.
	retryAfter = 5 * time.Second
)

// Problem is an answer that says what is wrong (RFC 9457), and an error that becomes one.
type Problem struct {
	// Type and Title are filled in: the code says what matters.
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Detail is a sentence for people; Code is for programs, in snake_case.
	Detail string `json:"detail"`
	Code   string `json:"code,omitempty"`

	// Wait is when to try again; 0 says nothing.
	Wait time.Duration `json:"-"`
}

// Error gives the sentence.
func (p *Problem) Error() string { return p.Detail }

// SendProblem answers with a problem.
func SendProblem(w http.ResponseWriter, p Problem) {
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	if p.Wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(p.Wait.Seconds()))))
	}
	SendJSON(w, p.Status, problemType, p)
}

// fail answers with the problem that an error is. What nobody expected goes to the log, and the caller learns no more than that.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	p, expected := problemOf(err)
	if !expected && r.Context().Err() == nil {
		a.options.Log.ErrorContext(r.Context(), "a request failed", "route", r.Pattern, "error", err)
	}
	if p.Status == http.StatusUnauthorized {
		challenge := `Bearer realm="loresync"`
		if errors.Is(err, access.ErrWrongCredentials) {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
	}
	SendProblem(w, p)
}

// problemOf is the one place where errors become answers; false for errors that nobody expected.
func problemOf(err error) (Problem, bool) {
	if known, ok := errors.AsType[*control.Error](err); ok {
		return problemOfControl(known), known.Kind != control.KindFailed
	}
	if p, ok := errors.AsType[*Problem](err); ok {
		return *p, true
	}
	if p, ok := errors.AsType[*access.TooManyTriesError](err); ok {
		return Problem{
			Status: http.StatusTooManyRequests, Code: "too_many_tries", Wait: p.Wait,
			Detail: "Too many wrong credentials came from your address: wait a moment, and check the token.",
		}, true
	}
	switch {
	case errors.Is(err, access.ErrNoCredentials):
		return Problem{Status: http.StatusUnauthorized, Code: "no_credentials", Detail: "Show a token: Authorization: Bearer …"}, true
	case errors.Is(err, access.ErrWrongCredentials):
		return Problem{Status: http.StatusUnauthorized, Code: "wrong_credentials", Detail: "The token is wrong, has expired, or was revoked."}, true
	case errors.Is(err, search.ErrEmptyQuery):
		return Problem{Status: http.StatusBadRequest, Code: "empty_query", Detail: "The query is empty: give q."}, true
	case errors.Is(err, store.ErrUnreachable):
		return Problem{Status: http.StatusServiceUnavailable, Code: "postgres_unreachable", Detail: "Postgres can't be reached: try again.", Wait: retryAfter}, true
	case errors.Is(err, store.ErrDiskFull):
		return Problem{Status: http.StatusServiceUnavailable, Code: "disk_full", Detail: "The disk of Postgres is full.", Wait: retryAfter}, true
	case errors.Is(err, store.ErrNotFound):
		return Problem{Status: http.StatusNotFound, Code: "not_found", Detail: "It isn't there any more."}, true
	case errors.Is(err, context.DeadlineExceeded):
		return Problem{Status: http.StatusServiceUnavailable, Code: "too_slow", Detail: "It took too long: try again.", Wait: retryAfter}, true
	}
	return Problem{Status: http.StatusInternalServerError, Code: "internal", Detail: "Something went wrong here. The gateway's log says more."}, false
}

func problemOfControl(known *control.Error) Problem {
	p := Problem{Status: http.StatusInternalServerError, Detail: known.Sentence, Code: known.Code}
	switch known.Kind {
	case control.KindUsage:
		p.Status = http.StatusBadRequest
	case control.KindNotFound:
		p.Status = http.StatusNotFound
	case control.KindRefused:
		p.Status = http.StatusConflict
	case control.KindUnreachable:
		p.Status, p.Wait = http.StatusServiceUnavailable, retryAfter
	case control.KindFailed:
	}
	return p
}

// badInput is a request that can't be carried out as it is.
func badInput(code, detail string) error {
	return &Problem{Status: http.StatusBadRequest, Code: code, Detail: detail}
}
