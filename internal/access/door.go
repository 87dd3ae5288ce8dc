package access

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"time"
)

// ErrNoCredentials says that a request shows none.
var ErrNoCredentials = errors.New("no credentials")

// ErrWrongCredentials says that what a request shows opens nothing, or no longer does.
var ErrWrongCredentials = errors.New("wrong credentials")

// TooManyTriesError says that too many wrong credentials came from an address. What it showed this time was not looked at.
type TooManyTriesError struct {
	// Wait is when it may try again.
	Wait time.Duration
}

// Error gives the sentence.
func (*TooManyTriesError) Error() string { return "too many wrong credentials" }

// Tokens knows the API tokens. control.Control implements it.
type Tokens interface {
	// FindToken gives the principal of the token whose secret has this hash; false when there is none that still counts.
	FindToken(ctx context.Context, secret Hash) (Principal, bool, error)
}

// AdminName is what the bearer of the admin token is called: nobody knows which person it is.
const AdminName = "admin"

// Door finds out who makes a request. It keeps nothing that counts: a token that is revoked opens nothing from then on.
type Door struct {
	tokens Tokens
	admin  Hash
	// hasAdmin is false where no admin token was set, and then none is right.
	hasAdmin bool
	tries    *tries
}

// NewDoor makes a door. An empty admin token opens nothing. Without tokens the admin token alone opens. now is the clock; nil
// means the system's.
func NewDoor(adminToken string, tokens Tokens, now func() time.Time) *Door {
	if now == nil {
		now = time.Now
	}
	return &Door{tokens: tokens, admin: HashOf(adminToken), hasAdmin: adminToken != "", tries: newTries(now)}
}

// Principal gives who makes a request by the bearer token it shows. The error is ErrNoCredentials, ErrWrongCredentials, a
// TooManyTriesError, or says that the tokens could not be asked for.
//
// An API token can't be guessed, so one that is right opens although others at the same address (behind the same proxy) tried
// wrong ones. The admin token is whatever a person chose, and waits with them.
func (d *Door) Principal(r *http.Request) (Principal, error) {
	shown := r.Header.Values("Authorization")
	if len(shown) == 0 {
		return Principal{}, ErrNoCredentials
	}
	address := network(Address(r))
	wait := d.tries.wait(address)
	principal, err := d.open(r.Context(), shown, wait == 0)
	if !errors.Is(err, ErrWrongCredentials) {
		return principal, err
	}
	if wait > 0 {
		return Principal{}, &TooManyTriesError{Wait: wait}
	}
	d.tries.wrong(address)
	return Principal{}, ErrWrongCredentials
}

func (d *Door) open(ctx context.Context, shown []string, mayGuess bool) (Principal, error) {
	scheme, token, _ := strings.Cut(shown[0], " ")
	token = strings.TrimSpace(token)
	switch {
	case len(shown) > 1, !strings.EqualFold(scheme, "Bearer"):
		return Principal{}, ErrWrongCredentials
	case mayGuess && d.isAdmin(token):
		return Principal{Name: AdminName, Role: Admin}, nil
	case d.tokens == nil, !isSecret(token):
		return Principal{}, ErrWrongCredentials
	}
	return d.find(ctx, HashOf(token))
}

// isAdmin compares hashes, in a time that tells nothing about the token or its length.
func (d *Door) isAdmin(token string) bool {
	given := HashOf(token)
	return subtle.ConstantTimeCompare(given[:], d.admin[:]) == 1 && d.hasAdmin
}

func (d *Door) find(ctx context.Context, secret Hash) (Principal, error) {
	principal, found, err := d.tokens.FindToken(ctx, secret)
	if err != nil {
		return Principal{}, err
	}
	if !found {
		return Principal{}, ErrWrongCredentials
	}
	principal.secret = secret
	return principal, nil
}

// Again tells whether a principal that the door let in would be let in now, as the same: for answers that go on.
func (d *Door) Again(ctx context.Context, p Principal) (bool, error) {
	if p.TokenID == "" {
		return p.Role == Admin && d.hasAdmin, nil
	}
	now, err := d.find(ctx, p.secret)
	if errors.Is(err, ErrWrongCredentials) {
		return false, nil
	}
	return err == nil && now.TokenID == p.TokenID, err
}
