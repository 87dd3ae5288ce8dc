package oauth

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/transport"
)

// ErrNotAuthorized says that nobody has authorized the connection: it has no tokens of this package.
var ErrNotAuthorized = errors.New("the connection was not authorized")

// What connections pause with. The sentence names the way out.
const (
	sayDead        = "Notion ended the authorization"
	sayInterrupted = "a renewal of the tokens was interrupted, and Notion no longer takes the old ones"
	sayNoRefresh   = "Notion refused the access token and gave no token to renew it with"
	sayAgain       = "Notion refuses a token that was renewed a moment ago"
	sayUnreadable  = "the stored tokens can't be decrypted, since %v"
)

// unauthorized is a failure that pauses the connection until a person authorizes it again.
func (t *Tokens) unauthorized(what string, err error) *source.Failure {
	return &source.Failure{
		Class: source.ClassUnauthorized, Doing: "use the connection's tokens", Err: err,
		Sentence: fmt.Sprintf("%s: authorize the connection again with `starter connection authorize %s`", what, t.connection),
	}
}

// unusable is a failure of the settings, which a person puts right without authorizing anew.
func unusable(err error) *source.Failure {
	return &source.Failure{Class: source.ClassUnauthorized, Doing: "use the connection's tokens", Sentence: err.Error()}
}

// unreadable tells another key, which may come back, from tokens that were changed.
func (t *Tokens) unreadable(err error) *source.Failure {
	failure := t.unauthorized(fmt.Sprintf(sayUnreadable, err), err)
	if errors.Is(err, errOtherKey) {
		failure.Sentence = fmt.Sprintf("%s, or set the key back", failure.Sentence)
	}
	return failure
}

// refused reports an answer by which the refresh token, or the code, is dead.
func refused(err error) bool {
	var answer *refusedError
	return errors.As(err, &answer) && answer.status == http.StatusBadRequest && answer.code == codeInvalidGrant
}

// unclear reports an error after which nobody knows whether Notion spent the token: all but a plain refusal, and a limit.
func unclear(err error) bool {
	var answer *refusedError
	var failure *source.Failure
	switch {
	case errors.As(err, &answer):
		return answer.status >= http.StatusInternalServerError || answer.status < http.StatusBadRequest
	case errors.As(err, &failure):
		return failure.Class != source.ClassRateLimited
	}
	return !errors.Is(err, transport.ErrPaused) && !errors.Is(err, transport.ErrStopped)
}

// failure gives an error of the token endpoint its class. A refused code or refresh token is the caller's to word.
func failure(doing string, err error) error {
	var answer *refusedError
	switch {
	case errors.As(err, &answer) && answer.code == codeInvalidClient, errors.As(err, &answer) && answer.status == http.StatusUnauthorized:
		return &source.Failure{
			Class: source.ClassUnauthorized, Doing: doing, Err: err,
			Sentence: "Notion refused the integration: check LORESYNC_NOTION_OAUTH_CLIENT_ID and LORESYNC_NOTION_OAUTH_CLIENT_SECRET",
		}
	case errors.As(err, &answer) && answer.status >= http.StatusBadRequest && answer.status < http.StatusInternalServerError:
		return &source.Failure{
			Class: source.ClassUnauthorized, Doing: doing, Err: err,
			Sentence: fmt.Sprintf("%v at its token endpoint: check the settings of the integration at Notion, its redirect URI among them", answer),
		}
	case errors.As(err, &answer), errors.Is(err, errNoGrant):
		return away(doing, err)
	}
	known := transport.Failure(doing, err)
	if errors.As(known, new(*source.Failure)) {
		return known
	}
	return away(doing, err)
}

// away is trouble that ends by itself.
func away(doing string, err error) *source.Failure {
	return &source.Failure{
		Class: source.ClassUnavailable, Doing: doing, Err: err,
		Sentence: "the tokens of the connection can't be renewed now: it is tried again",
	}
}
