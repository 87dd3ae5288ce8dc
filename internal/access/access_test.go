package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const adminToken = "a-token-of-the-test"

// noon is when the tests take place.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// givenTokens are the API tokens that there are; the real ones are tested in package control.
type givenTokens struct {
	byHash map[Hash]Principal
	err    error
}

func (g givenTokens) FindToken(_ context.Context, secret Hash) (Principal, bool, error) {
	p, found := g.byHash[secret]
	return p, found, g.err
}

func bearing(authorization ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "https://lore.example.com/api/v1/folders", http.NoBody)
	r.RemoteAddr = "203.0.113.7:51234"
	for _, value := range authorization {
		r.Header.Add("Authorization", value)
	}
	return r
}

func TestDoor(t *testing.T) {
	t.Parallel()
	secret, hash := NewSecret()
	stranger, _ := NewSecret()
	tokens := givenTokens{byHash: map[Hash]Principal{hash: {Name: "ci", Role: Operator, TokenID: "tok_1"}}}
	for name, c := range map[string]struct {
		admin string
		shown []string
		want  string
		err   error
	}{
		"the admin token":               {adminToken, []string{"Bearer " + adminToken}, "admin", nil},
		"the scheme written small":      {adminToken, []string{"bearer  " + adminToken}, "admin", nil},
		"an API token":                  {adminToken, []string{"Bearer " + secret}, "ci", nil},
		"an API token, no admin token":  {"", []string{"Bearer " + secret}, "ci", nil},
		"nothing":                       {adminToken, nil, "", ErrNoCredentials},
		"a wrong token":                 {adminToken, []string{"Bearer wrong"}, "", ErrWrongCredentials},
		"half a token":                  {adminToken, []string{"Bearer " + adminToken[:5]}, "", ErrWrongCredentials},
		"an unknown API token":          {adminToken, []string{"Bearer " + stranger}, "", ErrWrongCredentials},
		"another scheme":                {adminToken, []string{"Basic " + adminToken}, "", ErrWrongCredentials},
		"two tokens at once":            {adminToken, []string{"Bearer wrong", "Bearer " + adminToken}, "", ErrWrongCredentials},
		"an empty one, no admin token":  {"", []string{"Bearer "}, "", ErrWrongCredentials},
		"an empty one where one is set": {adminToken, []string{"Bearer "}, "", ErrWrongCredentials},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := NewDoor(c.admin, tokens, nil).Principal(bearing(c.shown...))
			require.ErrorIs(t, err, c.err)
			assert.Equal(t, c.want, p.Name)
		})
	}
	t.Run("says so when the tokens can't be asked for", func(t *testing.T) {
		t.Parallel()
		away := errors.New("away")
		_, err := NewDoor(adminToken, givenTokens{err: away}, nil).Principal(bearing("Bearer " + secret))
		require.ErrorIs(t, err, away)
	})
}

func TestADoorAsksAgain(t *testing.T) {
	t.Parallel()
	secret, hash := NewSecret()
	tokens := givenTokens{byHash: map[Hash]Principal{hash: {Name: "ci", Role: Viewer, TokenID: "tok_1"}}}
	door := NewDoor(adminToken, tokens, nil)
	p, err := door.Principal(bearing("Bearer " + secret))
	require.NoError(t, err)
	admitted, err := door.Again(t.Context(), p)
	require.NoError(t, err)
	assert.True(t, admitted)
	delete(tokens.byHash, hash)
	admitted, err = door.Again(t.Context(), p)
	require.NoError(t, err)
	assert.False(t, admitted, "it was revoked meanwhile")
	admitted, err = door.Again(t.Context(), Principal{})
	require.NoError(t, err)
	assert.False(t, admitted, "nobody")
}

func TestWrongTriesAreSlowed(t *testing.T) {
	t.Parallel()
	secret, hash := NewSecret()
	now := noon
	door := NewDoor(adminToken, givenTokens{byHash: map[Hash]Principal{hash: {Name: "ci", Role: Viewer, TokenID: "tok_1"}}}, func() time.Time { return now })
	for range triesAtOnce {
		_, err := door.Principal(bearing("Bearer wrong"))
		require.ErrorIs(t, err, ErrWrongCredentials)
	}
	tooMany := func(r *http.Request) time.Duration {
		_, err := door.Principal(r)
		var slowed *TooManyTriesError
		if !errors.As(err, &slowed) {
			require.ErrorIs(t, err, ErrWrongCredentials)
			return 0
		}
		return slowed.Wait
	}
	assert.Equal(t, tryPause, tooMany(bearing("Bearer wrong")))
	assert.Equal(t, tryPause, tooMany(bearing("Bearer "+adminToken)), "a guess isn't looked at, be it right")
	assert.Equal(t, tryPause, tooMany(bearing("Bearer "+SecretPrefix+"wrong")))
	p, err := door.Principal(bearing("Bearer " + secret))
	require.NoError(t, err, "nobody can guess an API token, so its bearer doesn't wait for others at the same address")
	assert.Equal(t, "ci", p.Name)

	elsewhere := bearing("Bearer wrong")
	elsewhere.RemoteAddr = "203.0.113.8:1"
	assert.Zero(t, tooMany(elsewhere), "another address has tries of its own")

	now = now.Add(tryPause)
	p, err = door.Principal(bearing("Bearer " + adminToken))
	require.NoError(t, err)
	assert.Equal(t, Admin, p.Role)
	assert.Zero(t, tooMany(bearing("Bearer wrong")), "one try came back")
	assert.Positive(t, tooMany(bearing("Bearer wrong")))
	now = now.Add(triesAtOnce * tryPause)
	for range triesAtOnce {
		assert.Zero(t, tooMany(bearing("Bearer wrong")))
	}
	assert.Positive(t, tooMany(bearing("Bearer wrong")))
}

func TestNoCredentialsAreNoTry(t *testing.T) {
	t.Parallel()
	door := NewDoor(adminToken, nil, func() time.Time { return noon })
	for range 3 * triesAtOnce {
		_, err := door.Principal(bearing())
		require.ErrorIs(t, err, ErrNoCredentials)
	}
	_, err := door.Principal(bearing("Bearer " + adminToken))
	require.NoError(t, err)
}

func TestTriesAreBoundedInMemory(t *testing.T) {
	t.Parallel()
	now := noon
	slowed := newTries(func() time.Time { return now })
	for i := range 2*maxAddresses + 5 {
		slowed.wrong(fmt.Sprint("address ", i))
	}
	assert.LessOrEqual(t, len(slowed.free), maxAddresses)
	now = now.Add(time.Hour)
	for i := range maxAddresses {
		slowed.wrong(fmt.Sprint("later ", i))
	}
	slowed.wrong("the last")
	assert.LessOrEqual(t, len(slowed.free), maxAddresses)
}

func TestWhatCountsAsOneAddress(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"203.0.113.7":          "203.0.113.7",
		"2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
		"2001:db8:1:2::9":      "2001:db8:1:2::/64",
		"fe80::1%eth0":         "fe80::/64",
		"::ffff:203.0.113.7":   "::ffff:203.0.113.7",
		"":                     "",
	} {
		assert.Equal(t, want, network(address))
	}
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	secret, hash := NewSecret()
	other, _ := NewSecret()
	assert.NotEqual(t, secret, other)
	assert.True(t, strings.HasPrefix(secret, SecretPrefix))
	assert.True(t, isSecret(secret))
	assert.Equal(t, hash, HashOf(secret))
	for _, wrong := range []string{"", SecretPrefix, secret[1:], secret + "x", secret[:len(secret)-1], SecretPrefix + strings.Repeat("=", 43)} {
		assert.False(t, isSecret(wrong), wrong)
	}
}

func TestRolesAndFolders(t *testing.T) {
	t.Parallel()
	for _, name := range RoleNames() {
		role, known := ParseRole(name)
		assert.True(t, known)
		assert.Equal(t, name, role.String())
	}
	for _, name := range []string{"", "anyone", "Admin", "owner"} {
		_, known := ParseRole(name)
		assert.False(t, known, name)
	}
	assert.Less(t, Viewer, Operator)
	assert.Less(t, Operator, Admin)
	assert.Equal(t, "unknown", Role(9).String())

	whole, some := Principal{Role: Viewer}, Principal{Role: Admin, Folders: []string{"hr"}}
	assert.True(t, whole.Sees("hr"))
	assert.True(t, whole.Sees(""))
	assert.True(t, some.Sees("hr"))
	assert.False(t, some.Sees("hr2"))
	assert.False(t, some.Sees(""), "what belongs to no folder is the whole deployment's")
	assert.False(t, Principal{}.Sees("hr"), "nobody sees nothing")
}
