package control_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/access"
	"github.com/loresync/loresync/internal/control"
)

func TestTokens(t *testing.T) { //nolint:tparallel // one story
	t.Parallel()
	r, ctx := newRoom(t, nil, ""), t.Context()
	token, err := r.AddToken(ctx, control.TokenSpec{Name: "ci", Role: "operator", Folders: []string{"it", "hr", "hr"}, Life: time.Hour}, mika)
	require.NoError(t, err)
	assert.Equal(t, []string{"hr", "it"}, token.Folders)
	assert.Equal(t, []string{"active", "operator", "mika"}, []string{token.State, token.Role, token.CreatedBy})
	require.NotNil(t, token.ExpiresAt)
	assert.WithinDuration(t, token.CreatedAt.Add(time.Hour), *token.ExpiresAt, 0)
	hash := access.HashOf(token.Secret)
	exec := func(query string) {
		_, err := r.sql.Exec(ctx, query)
		require.NoError(t, err)
	}

	t.Run("the secret is told once and kept nowhere", func(t *testing.T) {
		assert.True(t, strings.HasPrefix(token.Secret, access.SecretPrefix))
		tokens, err := r.Tokens(ctx)
		require.NoError(t, err)
		require.Len(t, tokens, 1)
		assert.Empty(t, tokens[0].Secret)
		var rows string
		const all = `SELECT string_agg(t::text, '') || (SELECT string_agg(e::text, '') FROM sync_events e) FROM api_tokens t`
		require.NoError(t, r.sql.QueryRow(ctx, all).Scan(&rows))
		assert.NotContains(t, rows, strings.TrimPrefix(token.Secret, access.SecretPrefix))
	})

	t.Run("a use is noted, once a minute", func(t *testing.T) {
		p, found, err := r.FindToken(ctx, hash)
		require.NoError(t, err)
		assert.True(t, found)
		assert.Equal(t, []string{"ci", token.ID, "operator"}, []string{p.Name, p.TokenID, p.Role.String()})
		assert.Equal(t, []string{"hr", "it"}, p.Folders)
		used := func() time.Time {
			tokens, err := r.Tokens(ctx)
			require.NoError(t, err)
			require.NotNil(t, tokens[0].LastUsedAt)
			return *tokens[0].LastUsedAt
		}
		first := used()
		_, _, err = r.FindToken(ctx, hash)
		require.NoError(t, err)
		assert.Equal(t, first, used())
		exec(`UPDATE api_tokens SET last_used_at = now() - interval '2 minutes'`)
		_, _, err = r.FindToken(ctx, hash)
		require.NoError(t, err)
		assert.False(t, used().Before(first))
	})

	t.Run("a name means one token at a time", func(t *testing.T) {
		_, err := r.AddToken(ctx, control.TokenSpec{Name: "ci", Role: "viewer"}, mika)
		requireKind(t, err, control.KindRefused, "token_exists")
	})

	t.Run("an expired one opens nothing", func(t *testing.T) {
		exec(`UPDATE api_tokens SET expires_at = now()`)
		_, found, err := r.FindToken(ctx, hash)
		require.NoError(t, err)
		assert.False(t, found)
		tokens, err := r.Tokens(ctx)
		require.NoError(t, err)
		assert.Equal(t, "expired", tokens[0].State)
		exec(`UPDATE api_tokens SET expires_at = NULL`)
	})

	t.Run("a revoked one opens nothing, and its name is free", func(t *testing.T) {
		revoked, err := r.RevokeToken(ctx, "ci", mika)
		require.NoError(t, err)
		assert.Equal(t, []string{"revoked", "mika"}, []string{revoked.State, revoked.RevokedBy})
		again, err := r.RevokeToken(ctx, token.ID, control.Actor{Name: "ken", Trigger: "cli"})
		require.NoError(t, err)
		assert.Equal(t, "mika", again.RevokedBy, "the first revocation counts")
		_, found, err := r.FindToken(ctx, hash)
		require.NoError(t, err)
		assert.False(t, found)
		next, err := r.AddToken(ctx, control.TokenSpec{Name: "ci", Role: "viewer"}, mika)
		require.NoError(t, err)
		assert.Equal(t, []string{}, next.Folders)
		byName, err := r.RevokeToken(ctx, "ci", mika)
		require.NoError(t, err)
		assert.Equal(t, next.ID, byName.ID, "by its name the one is meant that counts")
	})

	var kinds []string
	rows, err := r.sql.Query(ctx, `SELECT kind FROM sync_events WHERE kind LIKE 'token%' ORDER BY event_id`)
	require.NoError(t, err)
	for rows.Next() {
		var kind string
		require.NoError(t, rows.Scan(&kind))
		kinds = append(kinds, kind)
	}
	assert.Equal(t, []string{"token_added", "token_revoked", "token_added", "token_revoked"}, kinds)
}

func TestWhatNoTokenCanBe(t *testing.T) {
	t.Parallel()
	r, ctx := newRoom(t, nil, ""), t.Context()
	for code, spec := range map[string]control.TokenSpec{
		"token_name": {Name: "a b", Role: "viewer"},
		"role":       {Name: "a", Role: "owner"},
		"folder_id":  {Name: "a", Role: "viewer", Folders: []string{"HR"}},
		"folders":    {Name: "a", Role: "viewer", Folders: strings.Split(strings.Repeat("a,", 100)+"a", ",")},
		"expires":    {Name: "a", Role: "viewer", Life: time.Second},
	} {
		_, err := r.AddToken(ctx, spec, mika)
		requireKind(t, err, control.KindUsage, code)
	}
	_, err := r.AddToken(ctx, control.TokenSpec{Name: "admin", Role: "viewer"}, mika)
	requireKind(t, err, control.KindUsage, "token_name")
	for _, ref := range []string{"", "none", "a\x00b"} {
		_, err := r.RevokeToken(ctx, ref, mika)
		requireKind(t, err, control.KindNotFound, "token_unknown")
	}
}

func TestPagesFromGivesEachPageOnce(t *testing.T) {
	t.Parallel()
	r, ctx := withFolder(t), t.Context()
	ids := make([]string, 7)
	for i := range ids {
		ids[i] = r.page(string(rune('a'+i)) + "100%_off.md")
	}
	all := func(filter control.PageFilter, between func()) []string {
		var seen []string
		for cursor := ""; ; {
			slice, err := r.PagesFrom(ctx, "hr", filter, cursor)
			require.NoError(t, err)
			for _, page := range slice.Pages {
				seen = append(seen, page.PageID)
			}
			if cursor = slice.Next; cursor == "" {
				return seen
			}
			require.Len(t, slice.Pages, filter.Limit)
			between()
		}
	}
	assert.Equal(t, ids, all(control.PageFilter{Limit: 3}, func() {}))
	assert.Equal(t, ids, all(control.PageFilter{Limit: 7}, func() {}), "the last slice may be full")
	assert.Equal(t, ids, all(control.PageFilter{Limit: 3, Match: "100%_OFF"}, func() {}))
	assert.Equal(t, ids[1:2], all(control.PageFilter{Limit: 3, Match: "B100"}, func() {}))
	assert.Empty(t, all(control.PageFilter{Limit: 3, Match: "a%f"}, func() {}), "what people type is no pattern")
	assert.Empty(t, all(control.PageFilter{Limit: 3, Match: "a1__%"}, func() {}))
	assert.Equal(t, ids[:3], all(control.PageFilter{Limit: 3}, func() { r.exec(`DELETE FROM pages`) }), "the page that a cursor was made of may be gone")
	for _, cursor := range []string{"?", "bjE", "eDE", "bi0x", "bg"} {
		_, err := r.PagesFrom(ctx, "hr", control.PageFilter{Limit: 3}, cursor)
		if cursor == "bjE" { // n1
			require.NoError(t, err)
			continue
		}
		requireKind(t, err, control.KindUsage, "cursor")
	}
	_, err := r.PagesFrom(ctx, "none", control.PageFilter{Limit: 3}, "")
	requireKind(t, err, control.KindNotFound, "folder_unknown")
	_, err = r.PagesFrom(ctx, "hr", control.PageFilter{}, "")
	requireKind(t, err, control.KindUsage, "limit")
}
