package notion

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jomei/notionapi"

	"github.com/loresync/loresync/internal/content/text"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/transport"
)

// Error is a refusal by Notion. It holds no token, no body and no text of a page.
type Error struct {
	// Doing is what was being done, lower case.
	Doing string
	// Status is the HTTP status, and Code Notion's own word for it, empty when the answer was not Notion's.
	Status int
	Code   string
	// Message is Notion's sentence.
	Message string
	// RequestID is what Notion's support asks for.
	RequestID string
}

func (e *Error) Error() string {
	said := fmt.Sprintf("%s: Notion answered %d %s", e.Doing, e.Status, e.Code)
	if e.RequestID != "" {
		said += " (request " + e.RequestID + ")"
	}
	return said
}

// maxMessage is the most characters of Notion's sentence that are kept.
const maxMessage = 300

// requestIDHeader is on every answer of Notion's, but on none of the edge in front of it.
const requestIDHeader = "X-Notion-Request-Id"

// refusal reads an answer that isn't 200, whatever its body is.
func refusal(doing string, resp *http.Response, body []byte) error {
	var said struct {
		Object    string `json:"object"`
		Code      string `json:"code"`
		Message   string `json:"message"`
		RequestID string `json:"request_id"`
	}
	if json.Unmarshal(body, &said) != nil || said.Object != "error" {
		said.Code, said.Message, said.RequestID = "", "", ""
	}
	if said.RequestID == "" {
		said.RequestID = resp.Header.Get(requestIDHeader)
	}
	return &Error{
		Doing: doing, Status: resp.StatusCode, Code: text.Clean(said.Code), Message: text.Truncate(text.Clean(said.Message), maxMessage),
		RequestID: said.RequestID,
	}
}

// unreachable keeps what went wrong on the way, without the address, whose query may hold a cursor.
func unreachable(doing string, err error) error {
	return fmt.Errorf("%s: %w", doing, transport.Bare(err))
}

// fromLibrary turns an error of the vendor library into ours.
func fromLibrary(doing, requestID string, err error) error {
	var said *notionapi.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &said) && said.Status != 0:
		return &Error{
			Doing: doing, Status: said.Status, Code: text.Clean(string(said.Code)), Message: text.Truncate(text.Clean(said.Message), maxMessage),
			RequestID: requestID,
		}
	}
	return unreachable(doing, err)
}

// statusOf is the status of a refusal, 0 for every other error.
func statusOf(err error) int {
	if refused, ok := errors.AsType[*Error](err); ok {
		return refused.Status
	}
	return 0
}

// isServerError tells Notion's own trouble, which says nothing about the page.
func isServerError(err error) bool {
	var refused *transport.StatusError
	return errors.As(err, &refused) && refused.Status >= http.StatusInternalServerError || statusOf(err) >= http.StatusInternalServerError
}

// codeNotFound is Notion's word for what was deleted and for what is not shared.
const codeNotFound = "object_not_found"

// notShared tells the one answer that stands for deleted and for not shared: Notion doesn't tell which.
func notShared(err error) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound && refused.Code == codeNotFound
}

// withheld tells what is not shared, and what Notion's API doesn't give out whoever asks.
func withheld(err error) bool { return notShared(err) || statusOf(err) == http.StatusBadRequest }

const (
	sayUnauthorized = "Notion refused the token: check that the integration still exists and that LORESYNC_NOTION_TOKEN, or the connection's secret, is its own"
	sayCapability   = "the Notion integration lacks a capability: give it \"Read content\" in its settings at Notion"
	sayAway         = "Notion could not be reached or answered with an error of its own: it is tried again"
	sayBroken       = "Notion's list broke off before its end: it is read again"
	sayLimited      = "Notion asks to slow down: it is tried again later"
	sayNotShared    = "Notion doesn't show it to this integration: share it with the integration, or it was deleted"
)

// failure makes an error one that callers can act on. Errors that are failures already, and ends of the context, stay.
func failure(err error) error {
	var known *source.Failure
	var refused *Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case errors.Is(err, errBrokenList):
		return &source.Failure{Class: source.ClassUnavailable, Doing: "read a list", Sentence: sayBroken, Err: err}
	case !errors.As(err, &refused):
		return transport.Failure("ask Notion", err)
	}
	f := &source.Failure{Class: source.ClassUnavailable, Doing: refused.Doing, Sentence: sayAway, Err: err}
	switch {
	case refused.Status == http.StatusUnauthorized:
		f.Class, f.Sentence = source.ClassUnauthorized, sayUnauthorized
	case refused.Status == http.StatusForbidden:
		f.Class, f.Sentence = source.ClassUnauthorized, sayCapability
	case notShared(err):
		f.Class, f.Sentence = source.ClassNotFound, sayNotShared
	case refused.Status == http.StatusTooManyRequests || refused.Status == statusOverloaded:
		f.Class, f.Sentence, f.RetryAfter = source.ClassRateLimited, sayLimited, time.Minute
	case refused.Status >= http.StatusBadRequest && refused.Status < http.StatusInternalServerError && refused.Status != http.StatusConflict:
		f.Class, f.Sentence = source.ClassInvalid, fmt.Sprintf("Notion refused the request (%s): %s", refused.Code, refused.Message)
	}
	return f
}

// statusOverloaded is Notion's own 529 service_overload.
const statusOverloaded = 529
