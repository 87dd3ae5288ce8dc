package transport

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/loresync/loresync/internal/source"
)

// Failure gives an error of this package, or what an http.Client made of it, the class that holds for every vendor: no answer and
// 5xx are ClassUnavailable, 429 and 529 ClassRateLimited, 401 ClassUnauthorized, 404 and 410 ClassNotFound, an answer above the
// limit ClassInvalid with a Skip. doing is what was being done, lower case.
//
// Everything else, a context's end and ErrStopped among it, comes back as it is, with doing in front: what a 400 or 403 means is
// known to the vendor's package alone.
func Failure(doing string, err error) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*source.Failure](err); ok {
		named := *known
		named.Doing = doing
		return &named
	}
	bare := Bare(err)
	if refused, ok := errors.AsType[*StatusError](bare); ok {
		if class, sentence := ofStatus(refused.Status); class != "" {
			return &source.Failure{Class: class, Doing: doing, Sentence: sentence, RetryAfter: refused.RetryAfter, Err: bare}
		}
	}
	if large, ok := errors.AsType[*TooLargeError](bare); ok {
		skip := &source.Skip{Class: "too_large", Sentence: fmt.Sprintf("The source sent more than %s for it.", humanize.IBytes(uint64(max(large.Limit, 0))))}
		return &source.Failure{Class: source.ClassInvalid, Doing: doing, Sentence: skip.Sentence, Skip: skip, Err: bare}
	}
	if errors.As(bare, new(*NetworkError)) {
		return &source.Failure{Class: source.ClassUnavailable, Doing: doing, Sentence: "The source can't be reached; it is tried again by itself.", Err: bare}
	}
	return fmt.Errorf("%s: %w", doing, bare)
}

// ofStatus is the class of a status that means the same everywhere; empty for the others.
func ofStatus(status int) (source.Class, string) {
	switch {
	case status == http.StatusTooManyRequests, status == statusOverloaded:
		return source.ClassRateLimited, rateSentence
	case status >= http.StatusInternalServerError:
		return source.ClassUnavailable, "The source has trouble of its own; it is tried again by itself."
	case status == http.StatusUnauthorized:
		return source.ClassUnauthorized, "The source refused the connection's credentials; renew them and check the connection."
	case status == http.StatusNotFound, status == http.StatusGone:
		return source.ClassNotFound, "The source has nothing by this id, or doesn't show it to the connection."
	}
	return "", ""
}

const rateSentence = "The source asked for fewer requests; the sync goes on by itself after the time that it named."

// Refusal reads an answer of 400 or above that was handed on, as RoundTrip would have done.
func (t *Transport) Refusal(resp *http.Response) (*StatusError, error) {
	defer discard(resp.Body)
	r := &round{Transport: t, req: resp.Request}
	body, err := r.readBody(resp)
	if err != nil {
		return nil, fmt.Errorf("read a refusal: %w", err)
	}
	return r.whole(resp, body).statusError(time.Now()), nil
}
