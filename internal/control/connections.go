package control

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/loresync/loresync/internal/store"
)

// Connection is the credentials, by reference, for one vendor account or local root.
type Connection struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	// State is active or paused.
	State string `json:"state"`
	// Reason is why it is paused.
	Reason string `json:"reason"`
}

// ConnectionSpec is a connection to be recorded.
type ConnectionSpec struct {
	Name, Source string
	// SecretRef is where the secret is, never the secret itself: env:NAME or file:PATH; empty for sources without one.
	SecretRef string
}

// ConnectionCheck is whether the root of one folder can be read through a connection now.
type ConnectionCheck struct {
	Folder   string `json:"folder"`
	Root     string `json:"root"`
	OK       bool   `json:"ok"`
	Sentence string `json:"sentence"`
}

var connectionName = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)

// Connections gives all connections.
func (c *Control) Connections(ctx context.Context) ([]Connection, error) {
	rows, err := c.store.Connections(ctx)
	found := make([]Connection, len(rows))
	for i, row := range rows {
		found[i] = connectionOf(row)
	}
	return found, err
}

func connectionOf(row store.Connection) Connection {
	connection := Connection{Name: row.Name, Source: row.Source, State: "active"}
	if row.PausedAt != nil {
		connection.State, connection.Reason = "paused", row.PauseReason
	}
	return connection
}

// connection reads a connection or says that there is none.
func (c *Control) connection(ctx context.Context, name string) (store.Connection, error) {
	if name == "" || !storable(name) {
		return store.Connection{}, unknownConnection(name)
	}
	row, err := c.store.Connection(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return row, unknownConnection(name)
	}
	return row, err
}

func unknownConnection(name string) error {
	return notFound("connection_unknown", "there is no connection %q: `starter connection list` shows those there are", name)
}

// AddConnection records a connection.
func (c *Control) AddConnection(ctx context.Context, spec ConnectionSpec, actor Actor) (Connection, error) {
	if !connectionName.MatchString(spec.Name) {
		return Connection{}, usage("connection_name", "the connection name %q is not possible: use 1 to 64 lower-case letters, digits, - or _", spec.Name)
	}
	if err := checkSource(spec.Source); err != nil {
		return Connection{}, err
	}
	if err := checkSecretRef(spec.SecretRef); err != nil {
		return Connection{}, err
	}
	added, err := c.store.AddConnection(ctx, spec.Name, spec.Source, spec.SecretRef, who(actor))
	if err != nil {
		return Connection{}, err
	}
	if !added {
		return Connection{}, refuse("connection_exists", "there is a connection %q already: choose another name", spec.Name)
	}
	return Connection{Name: spec.Name, Source: spec.Source, State: "active"}, nil
}

// checkSecretRef keeps secrets themselves out of the database. It doesn't repeat what was given, which may be one.
func checkSecretRef(ref string) error {
	kind, where, _ := strings.Cut(ref, ":")
	if ref == "" || storable(ref) && where != "" && (kind == "env" || kind == "file") {
		return nil
	}
	return usage("secret_ref", "the secret is given by reference: env:NAME for an environment variable, or file:/path for a file")
}

// PauseConnection lets no sync of its folders start; running ones stop at their next batch.
func (c *Control) PauseConnection(ctx context.Context, name string, actor Actor) (Connection, error) {
	return c.pauseConnection(ctx, name, true, actor)
}

// ResumeConnection lets its folders sync again, except those that are paused themselves.
func (c *Control) ResumeConnection(ctx context.Context, name string, actor Actor) (Connection, error) {
	return c.pauseConnection(ctx, name, false, actor)
}

func (c *Control) pauseConnection(ctx context.Context, name string, paused bool, actor Actor) (Connection, error) {
	if _, err := c.connection(ctx, name); err != nil {
		return Connection{}, err
	}
	reason := "paused by " + who(actor)
	if _, err := c.store.PauseConnection(ctx, name, paused, reason, who(actor)); err != nil {
		return Connection{}, err
	}
	row, err := c.connection(ctx, name)
	return connectionOf(row), err
}

// CheckConnection asks the source of each folder of a connection whether the folder's root can be read now.
func (c *Control) CheckConnection(ctx context.Context, name string) ([]ConnectionCheck, error) {
	if _, err := c.connection(ctx, name); err != nil {
		return nil, err
	}
	places, err := c.store.FolderPlaces(ctx, name)
	if err != nil {
		return nil, err
	}
	checks := []ConnectionCheck{}
	for _, place := range places {
		if place.DeletedAt != nil {
			continue
		}
		check := ConnectionCheck{Folder: place.FolderID, Root: place.Root, Sentence: "The root can be read."}
		_, err := c.usableRoot(ctx, place)
		if ctx.Err() != nil {
			return nil, err
		}
		if check.OK = err == nil; err != nil {
			check.Sentence = sentenceOf(err)
		}
		checks = append(checks, check)
	}
	return checks, nil
}
