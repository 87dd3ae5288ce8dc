package control

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/loresync/loresync/internal/access"
	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/store"
)

const (
	// A token that is made for less than this is made by mistake.
	shortestLife = time.Minute
	// maxTokenFolders bounds a scope: whoever needs more needs a token for the whole.
	maxTokenFolders = 100
)

// TokenSpec is an API token to be made.
type TokenSpec struct {
	// Name is what audits call its bearer.
	Name string
	// Role is viewer, operator or admin.
	Role string
	// Folders are the only ones it reaches; none means the whole deployment. They need not be there yet.
	Folders []string
	// Life is how long it counts; 0 means until it is revoked.
	Life time.Duration
}

// Token is an API token as people see it.
type Token struct {
	ID   string `json:"token_id"`
	Name string `json:"name"`
	Role string `json:"role"`
	// Folders are the only ones it reaches; empty means the whole deployment.
	Folders []string `json:"folders"`
	// State is active, expired or revoked.
	State      string     `json:"state"`
	CreatedAt  time.Time  `json:"created_at"`
	CreatedBy  string     `json:"created_by"`
	LastUsedAt *time.Time `json:"last_used_at"`
	ExpiresAt  *time.Time `json:"expires_at"`
	RevokedAt  *time.Time `json:"revoked_at,omitempty"`
	RevokedBy  string     `json:"revoked_by,omitempty"`
	// Secret is the token itself. It is told once, when it is made, and kept nowhere.
	Secret string `json:"secret,omitempty"`
}

// The states of a token.
const (
	tokenActive  = "active"
	tokenExpired = "expired"
	tokenRevoked = "revoked"
)

// The names of API tokens stand in audits and logs, so they hold nothing that could pretend to be something else there.
var tokenName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// AddToken makes an API token. The answer holds its secret, which nobody can ask for again.
func (c *Control) AddToken(ctx context.Context, spec TokenSpec, actor Actor) (Token, error) {
	if err := checkToken(spec); err != nil {
		return Token{}, err
	}
	secret, hash := access.NewSecret()
	folders := slices.Compact(slices.Sorted(slices.Values(spec.Folders)))
	row := store.NewToken{TokenID: newTokenID(), Name: spec.Name, Role: spec.Role, SecretHash: hash[:], Folders: folders}
	if spec.Life > 0 {
		row.Life = &spec.Life
	}
	added, err := c.store.AddToken(ctx, row, who(actor))
	if errors.Is(err, store.ErrNotFound) {
		return Token{}, refuse("token_exists", "there is a token %q already: choose another name, or revoke it first with `starter token revoke %s`",
			spec.Name, spec.Name)
	}
	if err != nil {
		return Token{}, err
	}
	c.log.InfoContext(ctx, "token added", "token_id", added.TokenID, "token_name", added.Name, "role", added.Role, "actor", who(actor))
	token := tokenOf(added)
	token.Secret = secret
	return token, nil
}

// newTokenID gives a short id that people can tell from others: it is no secret.
func newTokenID() string { return "tok_" + strings.ReplaceAll(uuid.NewString(), "-", "")[:12] }

func checkToken(spec TokenSpec) error {
	if !tokenName.MatchString(spec.Name) || spec.Name == access.AdminName {
		return usage("token_name", "the token name %q is not possible: use 1 to 64 letters, digits, ., - or _, beginning with a letter or digit, and not %q",
			spec.Name, access.AdminName)
	}
	if _, ok := access.ParseRole(spec.Role); !ok {
		return usage("role", "there is no role %q: use one of %s", spec.Role, strings.Join(access.RoleNames(), ", "))
	}
	for _, folder := range spec.Folders {
		if err := ids.CheckFolder(folder); err != nil {
			return usage("folder_id", "%s", err)
		}
	}
	switch {
	case len(spec.Folders) > maxTokenFolders:
		return usage("folders", "a token is for at most %d folders: leave them out to make one for all", maxTokenFolders)
	case spec.Life != 0 && (spec.Life < shortestLife || spec.Life > longestInterval):
		return usage("expires", "the life %s is not possible: give one from 1m to 8784h (a year), or none", spec.Life)
	}
	return nil
}

// Tokens gives all API tokens, those that count no more too, in the order in which they were made.
func (c *Control) Tokens(ctx context.Context) ([]Token, error) {
	rows, err := c.store.Tokens(ctx)
	tokens := make([]Token, len(rows))
	for i, row := range rows {
		tokens[i] = tokenOf(row)
	}
	return tokens, err
}

func tokenOf(row store.Token) Token {
	state := tokenActive
	switch {
	case row.RevokedAt != nil:
		state = tokenRevoked
	case row.Expired:
		state = tokenExpired
	}
	return Token{
		ID: row.TokenID, Name: row.Name, Role: row.Role, Folders: row.Folders, State: state, CreatedAt: row.CreatedAt, CreatedBy: row.CreatedBy,
		LastUsedAt: row.LastUsedAt, ExpiresAt: row.ExpiresAt, RevokedAt: row.RevokedAt, RevokedBy: row.RevokedBy,
	}
}

// RevokeToken makes an API token, named by its id or name, count no more from now on. One that is revoked already stays as it is.
func (c *Control) RevokeToken(ctx context.Context, ref string, actor Actor) (Token, error) {
	row, err := c.token(ctx, ref)
	if err != nil {
		return Token{}, err
	}
	if _, err := c.store.RevokeToken(ctx, row.TokenID, who(actor)); err != nil {
		return Token{}, err
	}
	row, err = c.token(ctx, row.TokenID)
	return tokenOf(row), err
}

func (c *Control) token(ctx context.Context, ref string) (store.Token, error) {
	unknown := notFound("token_unknown", "there is no token %q: `starter token list` shows those there are", ref)
	if ref == "" || !storable(ref) {
		return store.Token{}, unknown
	}
	row, err := c.store.Token(ctx, ref)
	if errors.Is(err, store.ErrNotFound) {
		return row, unknown
	}
	return row, err
}

// FindToken gives the principal of the API token whose secret has this hash; false when there is none that still counts.
func (c *Control) FindToken(ctx context.Context, secret access.Hash) (access.Principal, bool, error) {
	row, found, err := c.store.UseToken(ctx, secret[:])
	role, known := access.ParseRole(row.Role)
	if err != nil || !found || !known {
		return access.Principal{}, false, err
	}
	return access.Principal{Name: row.Name, Role: role, Folders: row.Folders, TokenID: row.TokenID}, true, nil
}
