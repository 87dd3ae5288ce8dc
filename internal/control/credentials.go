package control

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/store"
)

// Credentials are whose the credentials of a connection are, as far as that is known, and nothing secret.
type Credentials struct {
	// Identity is the vendor's public name of the account; empty until a check has asked for it.
	Identity string `json:"identity"`
	// Key tells one secret from another; empty for a person's consent.
	Key string `json:"key"`
	// Origin is where the secret is found.
	Origin string `json:"origin"`
	// Since is when the workers took them up, or when the person consented.
	Since *time.Time `json:"since,omitempty"`
}

// Identified is implemented by Sources that can tell whose credentials this process has.
type Identified interface {
	// Identity asks the source, with one request at most. Sources without credentials have none.
	Identity(ctx context.Context, source, connection string) (Credentials, error)
}

// CredentialsCheck compares the credentials of this process with those that the workers use.
type CredentialsCheck struct {
	// Here is nil where the connection needs none, or where they can't be asked about; then Trouble says why.
	Here    *Credentials
	Trouble string
	// Used is nil as long as no worker has used any.
	Used *Credentials
}

// usedCredentials are those that the workers took up last.
func usedCredentials(row store.Connection) *Credentials {
	if row.KeySince == nil {
		return nil
	}
	return &Credentials{Identity: row.Identity, Key: row.KeyDigest, Origin: row.KeyOrigin, Since: row.KeySince}
}

// checkPatience bounds a question about the credentials of a connection.
const checkPatience = 10 * time.Second

// CheckCredentials asks a connection's source whose the credentials of this process are.
func (c *Control) CheckCredentials(ctx context.Context, name string) (CredentialsCheck, error) {
	row, err := c.connection(ctx, name)
	if err != nil {
		return CredentialsCheck{}, err
	}
	check := CredentialsCheck{}
	if known, able := c.sources.(Identified); able {
		asking, cancel := context.WithTimeout(ctx, checkPatience)
		defer cancel()
		here, err := known.Identity(asking, row.Source, name)
		switch {
		case ctx.Err() != nil:
			return check, ctx.Err()
		case err != nil:
			check.Trouble = sentenceOf(err)
		case here.Origin != "":
			check.Here = &here
		}
	}
	row, err = c.connection(ctx, name) // the answer may have named those in use
	check.Used = usedCredentials(row)
	return check, err
}

// refuseStillRefused asks a source whether it takes the credentials. One that can't be asked from here is no reason to refuse: the
// credentials of the workers may be good.
func (c *Control) refuseStillRefused(ctx context.Context, name string) error {
	places, err := c.store.FolderPlaces(ctx, name)
	if err != nil {
		return err
	}
	places = slices.DeleteFunc(places, func(p store.FolderPlace) bool { return p.DeletedAt != nil })
	if len(places) == 0 {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	failure, known := errors.AsType[*source.Failure](c.askOnce(asking, places[0]))
	if !known || failure.Class != source.ClassUnauthorized {
		return ctx.Err()
	}
	return refuse("credentials_refused", "connection %q stays paused, since its source refuses the credentials: %s; `starter connection resume %s --force` "+
		"resumes it all the same", name, failure.Sentence, name)
}

// askOnce asks a folder's source for whatever it answers to good credentials with one request: whose they are, else its root.
func (c *Control) askOnce(ctx context.Context, place store.FolderPlace) error {
	src, err := c.sourceOf(ctx, place)
	if err != nil {
		return nil //nolint:nilerr // there is nothing to ask with
	}
	if asked, able := src.(interface {
		Identity(ctx context.Context) (string, error)
	}); able {
		if identity, err := asked.Identity(ctx); err != nil || identity != "" {
			return err
		}
	}
	root, err := rootOf(place)
	if err != nil {
		return err
	}
	return src.Check(ctx, root)
}
