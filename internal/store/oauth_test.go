package store_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

// sealed is a new pair; what it holds is the program's affair.
func sealed() store.OAuthSealed {
	return store.OAuthSealed{Generation: uuid.NewString(), Access: []byte("access"), Refresh: []byte("refresh"), Account: "Handbook"}
}

// authorized is a desk whose connection notion has a pair of tokens.
func authorized(t *testing.T) (*desk, store.OAuthSealed) {
	t.Helper()
	d := newDesk(t)
	pair := sealed()
	_, err := d.BeginAuthorization(t.Context(), "notion", []byte("state"), time.Minute)
	require.NoError(t, err)
	kept, err := d.KeepAuthorization(t.Context(), store.PendingAuthorization{Connection: "notion", StateHash: []byte("state")}, pair, "mika")
	require.NoError(t, err)
	require.True(t, kept)
	return d, pair
}

func TestAuthorizations(t *testing.T) {
	t.Parallel()

	t.Run("end with their time", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		expires, err := d.BeginAuthorization(t.Context(), "notion", []byte("state"), time.Minute)
		require.NoError(t, err)
		assert.WithinDuration(t, time.Now().Add(time.Minute), expires, 30*time.Second)
		found, err := d.AuthorizationByState(t.Context(), []byte("state"))
		require.NoError(t, err)
		assert.Equal(t, "notion", found.Connection)
		d.exec(`UPDATE oauth_states SET expires_at = now()`)
		_, err = d.AuthorizationByState(t.Context(), []byte("state"))
		require.ErrorIs(t, err, store.ErrNotFound)
		_, err = d.NewestAuthorization(t.Context(), "notion")
		require.ErrorIs(t, err, store.ErrNotFound)
	})

	t.Run("that nobody finished are swept", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		for _, state := range []string{"a", "b"} {
			_, err := d.BeginAuthorization(t.Context(), "notion", []byte(state), time.Minute)
			require.NoError(t, err)
			d.exec(`UPDATE oauth_states SET expires_at = now() - interval '2 hours'`)
		}
		assert.Equal(t, 1, d.count(`SELECT count(*) FROM oauth_states`))
	})

	t.Run("are good once", func(t *testing.T) {
		t.Parallel()
		d, first := authorized(t)
		kept, err := d.KeepAuthorization(t.Context(), store.PendingAuthorization{Connection: "notion", StateHash: []byte("state")}, sealed(), "mika")
		require.NoError(t, err)
		assert.False(t, kept)
		stored, err := d.OAuthToken(t.Context(), "notion")
		require.NoError(t, err)
		assert.Equal(t, store.OAuthToken{Generation: first.Generation, Access: first.Access, Refresh: first.Refresh}, stored)
	})

	t.Run("don't take a connection's own secret away", func(t *testing.T) {
		t.Parallel()
		d := newDesk(t)
		_, err := d.BeginAuthorization(t.Context(), "notion", []byte("state"), time.Minute)
		require.NoError(t, err)
		d.exec(`UPDATE connections SET secret_ref = 'env:X' WHERE name = 'notion'`)
		kept, err := d.KeepAuthorization(t.Context(), store.PendingAuthorization{Connection: "notion", StateHash: []byte("state")}, sealed(), "mika")
		require.NoError(t, err)
		assert.False(t, kept)
		_, err = d.OAuthToken(t.Context(), "notion")
		require.ErrorIs(t, err, store.ErrNotFound)
	})

	for reason, goesOn := range map[string]bool{knowledge.PausedByToken + "authorize again": true, "paused by mika": false} {
		t.Run("let a connection go on only if its credentials paused it: "+reason, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			_, err := d.PauseConnection(t.Context(), "notion", true, reason, "loresync")
			require.NoError(t, err)
			_, err = d.BeginAuthorization(t.Context(), "notion", []byte("state"), time.Minute)
			require.NoError(t, err)
			_, err = d.KeepAuthorization(t.Context(), store.PendingAuthorization{Connection: "notion", StateHash: []byte("state")}, sealed(), "mika")
			require.NoError(t, err)
			row, err := d.Connection(t.Context(), "notion")
			require.NoError(t, err)
			assert.Equal(t, goesOn, row.PausedAt == nil)
			assert.Equal(t, 1, d.count(`SELECT count(*) FROM sync_events WHERE kind = 'connection_authorized' AND actor = 'mika'`))
		})
	}
}

func TestTheTimesOfTokens(t *testing.T) {
	t.Parallel()
	d, _ := authorized(t)
	for change, want := range map[string]store.OAuthToken{
		`expires_at = NULL`:                                                   {},
		`expires_at = now() + interval '1 hour'`:                              {},
		`expires_at = now() + interval '50 s'`:                                {Stale: true},
		`expires_at = now() - interval '1 hour'`:                              {Stale: true},
		`refreshed_at = now()`:                                                {Young: true},
		`refreshed_at = now() - interval '2 min'`:                             {},
		`refused_at = now()`:                                                  {Refused: true},
		`in_doubt = true`:                                                     {InDoubt: true},
		`claim = gen_random_uuid(), claimed_until = now() + interval '1 min'`: {},
		`claim = gen_random_uuid(), claimed_until = now() - interval '1 s'`:   {InDoubt: true},
	} {
		d.exec(`UPDATE oauth_tokens SET expires_at = NULL, refreshed_at = NULL, refused_at = NULL, in_doubt = false, claim = NULL, claimed_until = NULL`)
		d.exec(`UPDATE oauth_tokens SET ` + change)
		got, err := d.OAuthToken(t.Context(), "notion")
		require.NoError(t, err)
		got.Generation, got.Access, got.Refresh = "", nil, nil
		assert.Equal(t, want, got, change)
	}
}

func TestRenewals(t *testing.T) {
	t.Parallel()
	claim := func(d *desk, generation string) (string, bool, bool) {
		id := uuid.NewString()
		claimed, inDoubt, err := d.ClaimOAuthRefresh(d.t.Context(), "notion", generation, id, time.Minute)
		assert.NoError(d.t, err)
		return id, claimed, inDoubt
	}

	t.Run("have one at it of many that want to", func(t *testing.T) {
		t.Parallel()
		d, pair := authorized(t)
		var winners atomic.Int64
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				if _, claimed, _ := claim(d, pair.Generation); claimed {
					winners.Add(1)
				}
			})
		}
		group.Wait()
		assert.EqualValues(t, 1, winners.Load())
	})

	t.Run("are taken over from one that died, in doubt", func(t *testing.T) {
		t.Parallel()
		d, pair := authorized(t)
		_, claimed, inDoubt := claim(d, pair.Generation)
		assert.True(t, claimed)
		assert.False(t, inDoubt)
		d.exec(`UPDATE oauth_tokens SET claimed_until = now()`)
		_, claimed, inDoubt = claim(d, pair.Generation)
		assert.True(t, claimed)
		assert.True(t, inDoubt)
	})

	t.Run("leave no doubt when they end with a word", func(t *testing.T) {
		t.Parallel()
		for _, doubt := range []bool{false, true} {
			d, pair := authorized(t)
			id, _, _ := claim(d, pair.Generation)
			require.NoError(t, d.ReleaseOAuthRefresh(t.Context(), "notion", uuid.NewString(), true), "another's claim is left alone")
			_, claimed, _ := claim(d, pair.Generation)
			assert.False(t, claimed)
			require.NoError(t, d.ReleaseOAuthRefresh(t.Context(), "notion", id, doubt))
			_, claimed, inDoubt := claim(d, pair.Generation)
			assert.True(t, claimed)
			assert.Equal(t, doubt, inDoubt)
		}
	})

	t.Run("replace the pair that they name, and may be repeated", func(t *testing.T) {
		t.Parallel()
		d, pair := authorized(t)
		claim(d, pair.Generation)
		renewed, late := sealed(), sealed()
		renewed.ExpiresIn = time.Hour
		for range 2 {
			kept, err := d.KeepOAuthRefresh(t.Context(), "notion", pair.Generation, renewed)
			require.NoError(t, err)
			assert.True(t, kept)
		}
		kept, err := d.KeepOAuthRefresh(t.Context(), "notion", pair.Generation, late)
		require.NoError(t, err)
		assert.False(t, kept)
		got, err := d.OAuthToken(t.Context(), "notion")
		require.NoError(t, err)
		assert.Equal(t, store.OAuthToken{Generation: renewed.Generation, Access: renewed.Access, Refresh: renewed.Refresh, Young: true}, got)
		_, claimed, _ := claim(d, pair.Generation)
		assert.False(t, claimed, "nobody renews a pair that was replaced")
		assert.Equal(t, 1, d.count(`SELECT count(*) FROM sync_events WHERE kind = 'connection_tokens_renewed'`))
		assert.Equal(t, 1, d.count(`SELECT count(*) FROM oauth_tokens WHERE expires_at BETWEEN now() + interval '59 min' AND now() + interval '1 hour'`))
	})

	t.Run("that were refused end all others, until tokens come late all the same", func(t *testing.T) {
		t.Parallel()
		d, pair := authorized(t)
		first, _, _ := claim(d, pair.Generation)
		d.exec(`UPDATE oauth_tokens SET claimed_until = now()`)
		second, _, _ := claim(d, pair.Generation)
		for id, want := range map[string]bool{first: false, second: true} {
			ours, err := d.RefuseOAuthRefresh(t.Context(), "notion", id)
			require.NoError(t, err)
			assert.Equal(t, want, ours)
		}
		_, claimed, _ := claim(d, pair.Generation)
		assert.False(t, claimed)
		got, err := d.OAuthToken(t.Context(), "notion")
		require.NoError(t, err)
		assert.True(t, got.Refused && got.InDoubt)

		kept, err := d.KeepOAuthRefresh(t.Context(), "notion", pair.Generation, sealed())
		require.NoError(t, err)
		assert.True(t, kept, "the process that was overtaken has the tokens that Notion gave")
		got, err = d.OAuthToken(t.Context(), "notion")
		require.NoError(t, err)
		assert.False(t, got.Refused || got.InDoubt)
	})
}
