package oauth_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
	"github.com/loresync/loresync/internal/source/notion/oauth"
	"github.com/loresync/loresync/internal/store"
)

func TestARefusedTokenIsRenewed(t *testing.T) {
	t.Parallel()

	t.Run("and the request sent again with its body", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.process(d.st)
		p.authorize()
		old := p.token()
		d.Revoke(old)
		status, err := p.search(t.Context(), old)
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, status)
		assert.Equal(t, 1, d.renewals())
		assert.NotEqual(t, old, p.token())
		assert.Contains(t, d.AccessTokens(), p.token())
	})

	t.Run("again and again, each time with the newest refresh token", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.process(d.st)
		p.authorize()
		for range 3 {
			d.Revoke(p.token())
			status, err := p.search(t.Context(), p.token())
			require.NoError(t, err)
			assert.Equal(t, http.StatusOK, status)
			d.age()
		}
		assert.Equal(t, 3, d.renewals())
	})

	t.Run("but not a moment after it was renewed", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.process(d.st)
		p.authorize()
		heal := d.Fail(notiontest.OfKind(notiontest.KindSearch), 0, notiontest.Status(http.StatusUnauthorized))
		_, err := p.search(t.Context(), p.token())
		assert.Contains(t, class(t, err, source.ClassUnauthorized), "starter connection authorize notion")
		_, err = p.search(t.Context(), p.token())
		class(t, err, source.ClassUnauthorized)
		assert.Equal(t, 1, d.renewals(), "a storm of renewals would help nobody")
		heal()
		status, err := p.search(t.Context(), p.token())
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, status, "it goes on by itself")
	})

	t.Run("unless the connection was never authorized", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.process(d.st)
		_, err := p.Token(t.Context())
		require.ErrorIs(t, err, oauth.ErrNotAuthorized)
		status, err := p.search(t.Context(), "ntn_secret")
		require.NoError(t, err)
		assert.Equal(t, http.StatusUnauthorized, status)
	})

	t.Run("unless there is nothing to renew it with", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.process(d.st)
		p.authorize()
		d.exec(`UPDATE oauth_tokens SET refresh_sealed = NULL, expires_at = now()`)
		old := p.token()
		d.Revoke(old)
		_, err := p.search(t.Context(), old)
		assert.Contains(t, class(t, err, source.ClassUnauthorized), "gave no token to renew it with")
	})
}

func TestOneRenewalServesAll(t *testing.T) {
	t.Parallel()
	for name, processes := range map[string]int{"20 requests of one process": 1, "20 requests of each of two processes": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			all := make([]process, processes)
			for i := range all {
				all[i] = d.process(d.open(store.Options{}))
			}
			all[0].authorize()
			old := all[0].token()
			d.Revoke(old)
			// The answer takes its time, in which every other request finds the token refused.
			d.Fail(tokenRequests(), 1, func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
				assert.Eventually(t, func() bool { return d.Count(notiontest.KindSearch) == 20*processes }, 30*time.Second, time.Millisecond)
				assert.Never(t, func() bool { return d.renewals() > 1 }, 300*time.Millisecond, 10*time.Millisecond)
				next(w, r)
			})
			var group sync.WaitGroup
			for _, p := range all {
				for range 20 {
					group.Go(func() {
						status, err := p.search(t.Context(), old)
						if assert.NoError(t, err) {
							assert.Equal(t, http.StatusOK, status)
						}
					})
				}
			}
			group.Wait()
			assert.Equal(t, 1, d.renewals())
		})
	}
}

func TestATokenNearItsToldEndIsRenewedBefore(t *testing.T) {
	t.Parallel()

	t.Run("once", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.process(d.st)
		p.authorize()
		old := p.token()
		d.exec(`UPDATE oauth_tokens SET expires_at = now() + interval '30 seconds'`)
		renewed := p.token()
		assert.NotEqual(t, old, renewed)
		assert.Equal(t, renewed, p.token())
		assert.Equal(t, 1, d.renewals())
	})

	t.Run("and used on while it can't be renewed", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.process(d.st)
		p.authorize()
		old := p.token()
		d.exec(`UPDATE oauth_tokens SET expires_at = now() + interval '30 seconds'`)
		d.Fail(tokenRequests(), 0, notiontest.Status(http.StatusServiceUnavailable))
		assert.Equal(t, old, p.token())
		d.Heal()
		assert.NotEqual(t, old, p.token())
	})
}

func TestADeadRefreshTokenIsSentOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p, other := d.process(d.st), d.process(d.open(store.Options{}))
	p.authorize()
	old := p.token()
	d.dead(p)
	_, err := p.search(t.Context(), old)
	sentence := class(t, err, source.ClassUnauthorized)
	assert.Contains(t, sentence, "Notion ended the authorization")
	assert.Contains(t, sentence, "starter connection authorize notion")
	for _, each := range []process{p, other} {
		_, err = each.Token(t.Context())
		class(t, err, source.ClassUnauthorized)
		_, err = each.search(t.Context(), old)
		class(t, err, source.ClassUnauthorized)
	}
	assert.Equal(t, 1, d.renewals())

	p.authorize()
	status, err := other.search(t.Context(), old)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, status, "every process goes on with a new authorization")
}

func TestAnInterruptedRenewal(t *testing.T) {
	t.Parallel()

	t.Run("is told apart when the answer was lost", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.process(d.st)
		p.authorize()
		old := p.token()
		d.lost(p)
		_, err := p.Renew(t.Context(), old)
		assert.Contains(t, class(t, err, source.ClassUnauthorized), "a renewal of the tokens was interrupted")
		_, err = p.Token(t.Context())
		assert.Contains(t, class(t, err, source.ClassUnauthorized), "a renewal of the tokens was interrupted")
	})

	t.Run("is taken over from a process that died before it asked", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.process(d.st)
		p.authorize()
		record, err := d.st.OAuthToken(t.Context(), "notion")
		require.NoError(t, err)
		claimed, _, err := d.st.ClaimOAuthRefresh(t.Context(), "notion", record.Generation, uuid.NewString(), time.Second)
		require.NoError(t, err)
		require.True(t, claimed)
		old := p.token()
		d.Revoke(old)
		status, err := p.search(t.Context(), old)
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, status)
		record, err = d.st.OAuthToken(t.Context(), "notion")
		require.NoError(t, err)
		assert.False(t, record.InDoubt, "the new pair is in no doubt")
	})

	t.Run("goes on when the request that began it is cancelled", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.process(d.st)
		p.authorize()
		old := p.token()
		d.Revoke(old)
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan struct{})
		d.Fail(tokenRequests(), 1, func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
			cancel()
			<-gone
			next(w, r)
		})
		_, err := p.Renew(ctx, old)
		close(gone)
		require.ErrorIs(t, err, context.Canceled)
		renewed, err := p.Renew(t.Context(), old)
		require.NoError(t, err)
		assert.Contains(t, d.AccessTokens(), renewed)
		assert.Equal(t, 1, d.renewals())
	})

	t.Run("is stored later when Postgres can't store it", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		st := d.open(store.Options{LockTimeout: 20 * time.Millisecond})
		p := d.process(st, func(o *oauth.Options) { o.Patience = 500 * time.Millisecond })
		p.authorize()
		old := p.token()
		d.Revoke(old)
		d.Fail(tokenRequests(), 1, func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
			d.exec(`BEGIN`)
			d.exec(`SELECT 1 FROM oauth_tokens FOR UPDATE`)
			next(w, r)
		})
		_, err := p.Renew(t.Context(), old)
		class(t, err, source.ClassUnavailable)
		d.exec(`ROLLBACK`)
		renewed := p.token()
		assert.NotEqual(t, old, renewed)
		assert.Contains(t, d.AccessTokens(), renewed)
		assert.Equal(t, renewed, d.process(d.st).token(), "all processes have it")
		assert.Equal(t, 1, d.renewals())
	})
}

func TestTroubleOfTheTokenEndpoint(t *testing.T) {
	t.Parallel()

	t.Run("is tried again later", func(t *testing.T) {
		t.Parallel()
		for _, effect := range []notiontest.Effect{
			notiontest.Status(http.StatusInternalServerError), notiontest.BadGateway(), notiontest.CutBody(), notiontest.Reset(),
		} {
			d := newDesk(t)
			p := d.process(d.st)
			p.authorize()
			old := p.token()
			// What the token endpoint does is lost with a cut answer, so the fault comes in its place.
			d.Fail(tokenRequests(), 1, func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
				effect(w, r, func(w http.ResponseWriter, _ *http.Request) {
					_, _ = w.Write([]byte(`{"access_token":"ntn_00000000000000000000"}`))
				})
			})
			_, err := p.Renew(t.Context(), old)
			class(t, err, source.ClassUnavailable)
			renewed, err := p.Renew(t.Context(), old)
			require.NoError(t, err)
			assert.NotEqual(t, old, renewed)
		}
	})

	t.Run("is waited for when it is a limit", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.process(d.st)
		p.authorize()
		d.Fail(tokenRequests(), 1, notiontest.TooManyRequests("0.05"))
		_, err := p.Renew(t.Context(), p.token())
		require.NoError(t, err)
	})

	t.Run("names the settings when Notion doesn't know the integration, and ends when they are right", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		p := d.process(d.st)
		p.authorize()
		wrong := d.process(d.st, func(o *oauth.Options) { o.App.ClientSecret = "another" })
		_, err := wrong.Renew(t.Context(), p.token())
		assert.Contains(t, class(t, err, source.ClassUnauthorized), "LORESYNC_NOTION_OAUTH_CLIENT_SECRET")
		_, err = p.Renew(t.Context(), p.token())
		require.NoError(t, err)
	})
}
