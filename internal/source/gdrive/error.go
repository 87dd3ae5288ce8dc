package gdrive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"google.golang.org/api/googleapi"

	"github.com/loresync/loresync/internal/content/text"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/transport"
)

// Error is a refusal by Drive. It holds no token, no query, no body and no text of a page.
type Error struct {
	// Doing is what was being done, lower case.
	Doing string
	// Status is the HTTP status, and Reason Drive's own word for it, empty when the answer was not Drive's.
	Status int
	Reason string
}

func (e *Error) Error() string {
	said := fmt.Sprintf("%s: Drive answered %d", e.Doing, e.Status)
	if e.Reason != "" {
		said += " " + e.Reason
	}
	return said
}

// maxReason is the most characters of a vendor's word that are kept.
const maxReason = 60

// errBadAnswer is an answer that is no answer of Drive's.
var errBadAnswer = errors.New("the answer is not Drive's")

// refusal turns what the vendor's client made of an answer into an error without the answer's body.
func refusal(doing string, err error) error {
	var said *googleapi.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &said):
		return &Error{Doing: doing, Status: said.Code, Reason: reasonOf(said)}
	case undecodable(err):
		return fmt.Errorf("%s: %w", doing, errBadAnswer)
	}
	return fmt.Errorf("%s: %w", doing, transport.Bare(err))
}

// reasonOf is Drive's word: a person's eye finds it in the first error of the body.
func reasonOf(said *googleapi.Error) string {
	var body refusalBody
	reason := ""
	if json.Unmarshal([]byte(said.Body), &body) == nil {
		reason = body.reason()
	}
	if reason == "" && len(said.Errors) > 0 {
		reason = said.Errors[0].Reason
	}
	return text.Truncate(text.Clean(reason), maxReason)
}

// undecodable tells an answer with a good status that is cut short or isn't JSON.
func undecodable(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &kind) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// refusedWith is the status and the reason of a refusal; zero for every other error. The transport's own errors count: what is
// said to be final comes as one of them.
func refusedWith(err error) (status int, reason string) {
	var own *Error
	var sent *transport.StatusError
	switch {
	case errors.As(err, &own):
		return own.Status, own.Reason
	case errors.As(err, &sent):
		return sent.Status, sent.Reason
	}
	return 0, ""
}

// notFound tells the one answer that stands for deleted and for not shared: Drive doesn't tell which.
func notFound(err error) bool {
	status, _ := refusedWith(err)
	return status == http.StatusNotFound || status == http.StatusGone
}

// withheld tells that a thing is there and may not be read, for a reason of its own. A refusal without a reason is not Drive's, and
// says nothing of the thing.
func withheld(err error) bool {
	status, reason := refusedWith(err)
	return status == http.StatusForbidden && reason != "" && !connectionReasons[reason] && !passingReasons[reason]
}

// failure makes an error one that callers can act on. Errors that are failures already, and ends of the context, stay.
func failure(err error) error {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	status, reason := refusedWith(err)
	if reason == reasonDailyLimit {
		return &source.Failure{
			Class: source.ClassRateLimited, Doing: doingOf(err), Sentence: sayDailyLimit, RetryAfter: untilReset(time.Now()), Err: err,
		}
	}
	var known *source.Failure
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, errBadAnswer), errors.Is(err, errBrokenList):
		return &source.Failure{Class: source.ClassUnavailable, Doing: doingOf(err), Sentence: sayBroken, Err: err}
	case errors.Is(err, errForeignHost):
		return &source.Failure{Class: source.ClassInvalid, Doing: doingOf(err), Sentence: sayForeign, Err: err}
	case status != 0:
		return refused(status, reason, err)
	}
	return transport.Failure(doingOf(err), err)
}

// refused decides on the reason before the status.
func refused(status int, reason string, err error) error {
	f := &source.Failure{Class: source.ClassInvalid, Doing: doingOf(err), Err: err}
	skip, skipped := skipReasons[reason]
	switch {
	case status == http.StatusUnauthorized, connectionReasons[reason]:
		f.Class, f.Sentence = source.ClassUnauthorized, sayUnauthorized(reason)
	case rateReasons[reason], status == http.StatusTooManyRequests:
		f.Class, f.Sentence, f.RetryAfter = source.ClassRateLimited, sayLimited, time.Minute
	case reason == reasonDownloadQuota:
		f.Class, f.Sentence = source.ClassUnavailable, sayQuota
	case status == http.StatusNotFound, status == http.StatusGone:
		f.Class, f.Sentence = source.ClassNotFound, sayNotFound
	case skipped && status == http.StatusForbidden:
		f.Sentence, f.Skip = skip.Sentence, &skip
	case status >= http.StatusInternalServerError, status == http.StatusRequestTimeout, status == http.StatusConflict:
		f.Class, f.Sentence = source.ClassUnavailable, sayAway
	default:
		f.Sentence = fmt.Sprintf("Google Drive refused the request (%d %s): look the word up in Google's documentation, or report it", status, reason)
	}
	return f
}

// doingOf is what was being done when an error came.
func doingOf(err error) string {
	if own, ok := errors.AsType[*Error](err); ok {
		return own.Doing
	}
	return "ask Google Drive"
}
