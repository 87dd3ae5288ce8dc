package notion_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
	"github.com/loresync/loresync/internal/source/transport"
)

const html = "<html><body><h1>A timeout occurred</h1></body></html>"

func TestR035_AnswersOfTheEdgeAreTriedAgainWhateverTheirBody(t *testing.T) {
	t.Parallel()
	for what, effect := range map[string]notiontest.Effect{
		"502 in HTML":             notiontest.BadGateway(),
		"504 without a body":      notiontest.GatewayTimeout(),
		"524 in HTML":             saying(524, "text/html", html),
		"500 in JSON":             notiontest.Status(http.StatusInternalServerError),
		"503 in JSON":             notiontest.Status(http.StatusServiceUnavailable),
		"409":                     notiontest.Conflict(),
		"a body that breaks off":  notiontest.CutBody(),
		"a reset connection":      notiontest.Reset(),
		"200 with half an object": saying(http.StatusOK, "application/json", `{"object":"list","results":[`),
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := plainSpace(t)
			id := s.page("", "Page", paragraph("text"))
			db := s.database("", "Tasks")
			row := s.row(db.Source, "Row", nil)
			s.server.Fail(notiontest.OfKind(notiontest.KindChildren), 2, effect)
			assert.Equal(t, "text\n", s.fetch(id).Markdown)
			assert.Equal(t, 3, s.server.Count(notiontest.KindChildren))
			s.server.Fail(notiontest.OfKind(notiontest.KindSearch), 1, effect)
			entries, listed := s.list(s.root)
			assert.ElementsMatch(t, []string{id, db.ID, row}, idsOf(entries), "a search is a read though it is a POST")
			assert.Equal(t, source.VerdictComplete, listed.Verdict)
			s.server.Fail(notiontest.OfKind(notiontest.KindQuery), 1, effect)
			assert.Equal(t, []string{row}, idsOf(s.fetch(db.ID).Children), "and so is a query")
		})
	}
}

func TestR035_PageOfHTMLUnder200IsTriedLaterAndNotKept(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page", paragraph("text"))
	for _, kind := range []notiontest.Kind{notiontest.KindPage, notiontest.KindChildren} {
		heal := s.server.Fail(notiontest.OfKind(kind), 0, saying(http.StatusOK, "text/html", html))
		assert.Equal(t, source.ClassUnavailable, s.refused(id).Class)
		heal()
	}
	s.server.Fail(notiontest.OfKind(notiontest.KindSearch), 0, saying(http.StatusOK, "text/html", html))
	_, _, err := s.tryList(s.root)
	assert.Equal(t, source.ClassUnavailable, failureOf(t, err).Class)
}

func TestR117_LimitsAreWaitedForInWhateverFormTheyCome(t *testing.T) {
	t.Parallel()
	for what, effect := range map[string]notiontest.Effect{
		"a fraction of a second": notiontest.TooManyRequests("0.05"), "no time at all": notiontest.TooManyRequests(""),
		"a date": notiontest.TooManyRequests(time.Now().Add(-time.Second).UTC().Format(http.TimeFormat)), "529": notiontest.Overloaded("0.05"),
		"529 without a time": notiontest.Overloaded(""),
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := plainSpace(t)
			id := s.page("", "Page", paragraph("text"))
			s.server.Fail(notiontest.OfKind(notiontest.KindSearch, notiontest.KindChildren), 2, effect)
			entries, _ := s.list(s.root)
			assert.Equal(t, []string{id}, idsOf(entries))
			assert.Equal(t, "text\n", s.fetch(id).Markdown)
		})
	}
}

func TestR117_LongWaitIsHandedUpWithItsTime(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page")
	s.server.Fail(nil, 0, notiontest.WorkspaceLimited("600"))
	failure := s.refused(id)
	assert.Equal(t, source.ClassRateLimited, failure.Class)
	assert.Equal(t, 10*time.Minute, failure.RetryAfter)
	assert.Equal(t, 1, s.server.Count(), "nothing more is sent meanwhile")
	presence, err := s.src.Presence(t.Context(), s.root, id)
	assert.Equal(t, source.ClassRateLimited, failureOf(t, err).Class)
	assert.Equal(t, source.PresenceUnknown, presence)
}

func TestR117_BlockedConnectionIsNeverTriedAgain(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page")
	s.server.Fail(nil, 0, notiontest.Blocked())
	assert.Equal(t, source.ClassRateLimited, s.refused(id).Class)
	assert.Equal(t, 1, s.server.Count())
}

func TestRevokedTokenAndMissingCapabilityAreForAPersonAndTellNoSecret(t *testing.T) {
	t.Parallel()
	for what, hurt := range map[string]func(*space){
		"a revoked token": func(s *space) { s.server.Revoke(s.server.Token()) },
		"no capability":   func(s *space) { s.server.SetCapabilities(notiontest.Capabilities{Users: true}) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := plainSpace(t)
			id := s.page("", "Page", paragraph("text"))
			db := s.database("", "Tasks")
			root := s.below(id)
			hurt(s)
			for doing, ask := range map[string]func() error{
				"list":    func() error { _, _, err := s.tryList(root); return err },
				"changes": func() error { _, err := s.src.Changes(t.Context(), s.root, "2026-11-30T09:00:00Z", nil); return err },
				"check":   func() error { return s.src.Check(t.Context(), root) },
				"fetch":   func() error { _, err := s.src.Fetch(t.Context(), root, id); return err },
				"rows":    func() error { _, err := s.src.Fetch(t.Context(), root, db.ID); return err },
				"presence": func() error {
					presence, err := s.src.Presence(t.Context(), root, id)
					assert.Equal(t, source.PresenceUnknown, presence, "nothing is removed for it")
					return err
				},
			} {
				failure := failureOf(t, ask())
				assert.Equal(t, source.ClassUnauthorized, failure.Class, doing)
				for err := error(failure); err != nil; err = errors.Unwrap(err) {
					assert.NotContains(t, err.Error(), s.server.Token(), doing)
				}
				assert.NotContains(t, failure.Sentence, s.server.Token())
				assert.Regexp(t, `request [0-9a-f-]{36}`, failure.Error(), "%s: what Notion's support asks for", doing)
			}
		})
	}
}

func TestTokenIsAskedForAtEachRequestSoThatARenewedOneIsUsed(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page", paragraph("text"))
	first, renewed := s.server.Token(), "ntn_renewed"
	var current atomic.Pointer[string]
	current.Store(&first)
	src := s.with(func(o *notion.Options) {
		o.Token = func(context.Context) (string, error) { return *current.Load(), nil }
	})
	s.server.Fail(notiontest.OfKind(notiontest.KindPage), 1, afterwards(func() {
		s.server.Revoke(first)
		s.server.Allow(renewed)
		current.Store(&renewed)
	}))
	page, err := src.Fetch(t.Context(), s.root, id)
	require.NoError(t, err)
	assert.Equal(t, "text\n", page.Markdown)
	require.NoError(t, src.Check(t.Context(), s.root))
}

func TestTokenThatCannotBeHadIsAnErrorBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	errVault := errors.New("the vault is shut")
	src := s.with(func(o *notion.Options) { o.Token = func(context.Context) (string, error) { return "", errVault } })
	_, err := src.Fetch(t.Context(), s.root, s.page("", "Page"))
	require.ErrorIs(t, err, errVault)
	require.ErrorIs(t, src.Check(t.Context(), s.root), errVault)
	assert.Zero(t, s.server.Count())
}

func TestRequestIDIsKeptInTheErrorsOfATransportThatGaveUp(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page")
	s.server.Fail(nil, 0, notiontest.Status(http.StatusInternalServerError))
	failure := s.refused(id)
	assert.Equal(t, source.ClassUnavailable, failure.Class)
	var refused *transport.StatusError
	require.ErrorAs(t, failure, &refused)
	assert.NotEmpty(t, refused.RequestID)
	assert.Contains(t, failure.Error(), refused.RequestID)
}
