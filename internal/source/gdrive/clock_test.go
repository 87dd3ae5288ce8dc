package gdrive

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
)

func TestAKeyThatAWrongClockSignsWithDoesNotPauseTheConnection(t *testing.T) {
	t.Parallel()
	const (
		untimely = `{"error":"invalid_grant","error_description":"Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe."}`
		deleted  = `{"error":"invalid_grant","error_description":"Invalid grant: account not found"}`
	)
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	for name, c := range map[string]struct {
		body  string
		sent  string
		class source.Class
		says  string
	}{
		"a fast clock":                      {untimely, now.Add(-time.Hour).Format(http.TimeFormat), source.ClassUnavailable, "1h0m0s fast"},
		"a slow clock":                      {untimely, now.Add(time.Hour).Format(http.TimeFormat), source.ClassUnavailable, "1h0m0s slow"},
		"a clock that is right":             {untimely, now.Add(-time.Second).Format(http.TimeFormat), source.ClassUnauthorized, "refused the grant"},
		"an answer without a date":          {untimely, "", source.ClassUnauthorized, "refused the grant"},
		"a deleted account by a fast clock": {deleted, now.Add(-time.Hour).Format(http.TimeFormat), source.ClassUnauthorized, "refused the grant"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{"Date": {c.sent}}}
			failure, ok := errors.AsType[*source.Failure](grantRefused(answer, []byte(c.body), now))
			require.True(t, ok)
			assert.Equal(t, c.class, failure.Class)
			assert.Contains(t, failure.Sentence, c.says)
		})
	}
}
