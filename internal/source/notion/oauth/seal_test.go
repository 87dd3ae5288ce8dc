package oauth

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// key is 32 bytes in base64, each of one value.
func key(value byte) string {
	return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{value}, keySize))
}

func sealer(t *testing.T, secret string) *Sealer {
	t.Helper()
	s, err := NewSealer(secret)
	require.NoError(t, err)
	return s
}

func TestSealer(t *testing.T) {
	t.Parallel()
	at := place{connection: "notion", generation: "g1", kind: kindAccess}

	t.Run("gives back what it sealed", func(t *testing.T) {
		t.Parallel()
		s := sealer(t, key(1))
		sealed := s.seal("ntn_token", at)
		assert.NotContains(t, string(sealed), "ntn_token")
		token, err := s.open(sealed, at)
		require.NoError(t, err)
		assert.Equal(t, "ntn_token", token)
		assert.NotEqual(t, sealed, s.seal("ntn_token", at), "each has a nonce of its own")
	})

	t.Run("refuses a change of any byte", func(t *testing.T) {
		t.Parallel()
		s := sealer(t, key(1))
		sealed := s.seal("ntn_token", at)
		for i := range sealed {
			changed := bytes.Clone(sealed)
			changed[i] ^= 1
			_, err := s.open(changed, at)
			require.Error(t, err, "byte %d", i)
			_, err = s.open(sealed[:i], at)
			require.Error(t, err, "cut at %d", i)
		}
	})

	t.Run("opens a token nowhere but in its place", func(t *testing.T) {
		t.Parallel()
		s := sealer(t, key(1))
		sealed := s.seal("ntn_token", at)
		for _, elsewhere := range []place{
			{connection: "other", generation: "g1", kind: kindAccess},
			{connection: "notion", generation: "g2", kind: kindAccess},
			{connection: "notion", generation: "g1", kind: kindRefresh},
		} {
			_, err := s.open(sealed, elsewhere)
			require.ErrorIs(t, err, errTampered)
		}
	})

	t.Run("tells another key from a change", func(t *testing.T) {
		t.Parallel()
		_, err := sealer(t, key(2)).open(sealer(t, key(1)).seal("ntn_token", at), at)
		require.ErrorIs(t, err, errOtherKey)
	})
}

func TestNewSealer(t *testing.T) {
	t.Parallel()
	at := place{connection: "notion", generation: "g1", kind: kindAccess}

	t.Run("takes one key in every spelling of base64", func(t *testing.T) {
		t.Parallel()
		raw := bytes.Repeat([]byte{0xfb}, keySize)
		sealed := sealer(t, base64.StdEncoding.EncodeToString(raw)).seal("x", at)
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			_, err := sealer(t, " "+encoding.EncodeToString(raw)+"\n").open(sealed, at)
			require.NoError(t, err)
		}
	})

	t.Run("takes a long text", func(t *testing.T) {
		t.Parallel()
		sealed := sealer(t, strings.Repeat("word ", 8)).seal("x", at)
		_, err := sealer(t, strings.Repeat("word ", 9)).open(sealed, at)
		require.ErrorIs(t, err, errOtherKey)
	})

	t.Run("refuses none and a short one, without repeating it", func(t *testing.T) {
		t.Parallel()
		_, err := NewSealer(" ")
		require.ErrorIs(t, err, ErrNoKey)
		_, err = NewSealer("hunter2")
		require.ErrorIs(t, err, ErrShortKey)
		assert.NotContains(t, err.Error(), "hunter2")
	})
}

func TestAGrantPrintsNoToken(t *testing.T) {
	t.Parallel()
	g := grant{access: "ntn_token", refresh: "nrt_token"}
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		assert.NotContains(t, fmt.Sprintf(form, g), "_token")
	}
}

func TestReadGrant(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		body string
		want grant
		bad  bool
	}{
		"both tokens":            {body: `{"access_token":"a","refresh_token":"r","workspace_name":"W"}`, want: grant{access: "a", refresh: "r", account: "W"}},
		"nulls":                  {body: `{"access_token":"a","refresh_token":null,"workspace_name":null}`, want: grant{access: "a"}},
		"a told end":             {body: `{"access_token":"a","expires_in":3600}`, want: grant{access: "a", expiresIn: 3600e9}},
		"an end beyond all time": {body: `{"access_token":"a","expires_in":1e300}`, want: grant{access: "a", expiresIn: longestLife}},
		"an end before now":      {body: `{"access_token":"a","expires_in":-5}`, want: grant{access: "a"}},
		"no token":               {body: `{"refresh_token":"r"}`, bad: true},
		"no JSON":                {body: `<html>secret</html>`, bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := readGrant([]byte(c.body))
			if c.bad {
				require.ErrorIs(t, err, errNoGrant)
				assert.NotContains(t, err.Error(), "secret")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, []any{c.want.access, c.want.refresh, c.want.account, c.want.expiresIn},
				[]any{got.access, got.refresh, got.account, got.expiresIn})
		})
	}
}

func TestRefusalKeepsAWordAndNoText(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"error":"invalid_grant","error_description":"Invalid code c0de."}`: "Notion answered 400 invalid_grant",
		`{"object":"error","code":"validation_error","message":"c0de"}`:      "Notion answered 400 validation_error",
		`{"error":"the code c0de is bad"}`:                                   "Notion answered 400",
		`<html>c0de</html>`:                                                  "Notion answered 400",
	} {
		assert.Equal(t, want, refusal(400, []byte(body)).Error())
	}
}
