package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/loresync/loresync/internal/control"
)

func (c *canned) BeginAuthorization(_ context.Context, name string) (control.Authorization, error) {
	return control.Authorization{
		Connection: name, URL: "https://notion.test/v1/oauth/authorize?state=s", RedirectURI: "https://lore.test/oauth/notion/callback",
		ExpiresAt: now.Add(15 * time.Minute),
	}, c.err
}

func (c *canned) FinishAuthorization(_ context.Context, consent control.Consent, actor control.Actor) (control.Authorized, error) {
	c.note("authorize", consent.Connection, consent.Code, consent.State, actor.Name)
	return control.Authorized{
		Connection: control.Connection{Name: consent.Connection, Source: "notion", State: "active"}, Account: "Handbook",
	}, c.err
}

func TestAuthorizingTakesACodeOrTheAddressThatItCameTo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ flag, in, asked string }{
		"a code as an argument":                  {flag: "c0de", asked: "c0de "},
		"a code from stdin":                      {flag: "-", in: "c0de\n", asked: "c0de "},
		"a code from stdin without a line's end": {flag: "-", in: " c0de", asked: "c0de "},
		"an address from stdin":                  {flag: "-", in: "https://lore.test/oauth/notion/callback?code=c0de&state=s%201\n", asked: "c0de s 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := furnished()
			got := call{typed: c.in}.run(t.Context(), t, d, "connection", "authorize", "mine", "--code", c.flag)
			assert.Equal(t, exitDone, got.code, got.err)
			assert.Len(t, d.asked, 1)
			assert.Contains(t, d.asked[0], "authorize mine "+c.asked)
		})
	}
}

func TestAuthorizingRefusesWhatIsNoCodeWithoutRepeatingIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		in       string
		code     int
		sentence string
	}{
		"nothing":                    {in: "\n", code: exitUsage, sentence: "no code was given"},
		"an address without a state": {in: "https://lore.test/?code=c0de", code: exitUsage, sentence: "no code and state"},
		"an address that is cut":     {in: "https://lore.test/%zz?code=c0de", code: exitUsage, sentence: "not whole"},
		"a consent that was denied":  {in: "https://lore.test/?error=access_denied&state=c0de", code: exitRefused, sentence: "nobody consented"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := furnished()
			got := call{typed: c.in}.run(t.Context(), t, d, strings.Fields("connection authorize mine --code -")...)
			assert.Equal(t, c.code, got.code)
			assert.Contains(t, got.err, c.sentence)
			assert.NotContains(t, got.err, "c0de")
			assert.Empty(t, d.asked)
		})
	}
}
