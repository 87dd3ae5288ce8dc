package control

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

// Connection is the credentials, by reference, for one vendor account or local root.
type Connection struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	// State is active, paused or not_configured: it has no credentials yet.
	State string `json:"state"`
	// Reason is why it is paused, or what to set.
	Reason string `json:"reason"`
	// Since is when it was paused.
	Since *time.Time `json:"since,omitempty"`
	// Credentials are those that the workers use; nil as long as none has used any.
	Credentials *Credentials `json:"credentials,omitempty"`
}

// The states of a connection.
const (
	connectionActive        = "active"
	connectionPaused        = "paused"
	connectionNotConfigured = "not_configured"
)

// Configured is implemented by Sources that can tell what a connection lacks before its source can be asked anything.
type Configured interface {
	// Missing says what is missing and what to set; empty when nothing is. It doesn't ask the vendor.
	Missing(ctx context.Context, source, connection string) (string, error)
}

// ConnectionSpec is a connection to be recorded.
type ConnectionSpec struct {
	Name, Source string
	// SecretRef is where the secret is, never the secret itself: env:NAME or file:PATH; empty for sources without one.
	SecretRef string
	// Subject is as whom a service account of Drive's with domain-wide delegation reads; empty for the account itself.
	Subject string
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
		found[i] = c.withMissing(ctx, connectionOf(row))
	}
	return found, err
}

// Connection gives one connection.
func (c *Control) Connection(ctx context.Context, name string) (Connection, error) {
	row, err := c.connection(ctx, name)
	if err != nil {
		return Connection{}, err
	}
	return c.withMissing(ctx, connectionOf(row)), nil
}

func connectionOf(row store.Connection) Connection {
	connection := Connection{Name: row.Name, Source: row.Source, State: connectionActive, Credentials: usedCredentials(row)}
	if row.PausedAt != nil {
		connection.State, connection.Reason, connection.Since = connectionPaused, row.PauseReason, row.PausedAt
	}
	return connection
}

// withMissing tells a connection that nobody has given credentials from one that works. A list is no place to fail because of
// one connection: what can't be told is left out.
func (c *Control) withMissing(ctx context.Context, connection Connection) Connection {
	known, able := c.sources.(Configured)
	if !able || connection.State != connectionActive {
		return connection
	}
	missing, err := known.Missing(ctx, connection.Source, connection.Name)
	if err != nil {
		c.log.WarnContext(ctx, "what a connection lacks can't be told", "connection", connection.Name, "error", err)
		return connection
	}
	if missing != "" {
		connection.State, connection.Reason = connectionNotConfigured, missing
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
	if err := checkSubject(spec); err != nil {
		return Connection{}, err
	}
	row := store.Connection{Name: spec.Name, Source: spec.Source, SecretRef: spec.SecretRef, Subject: spec.Subject}
	added, err := c.store.AddConnection(ctx, row, who(actor))
	if err != nil {
		return Connection{}, err
	}
	if !added {
		return Connection{}, refuse("connection_exists", "there is a connection %q already: choose another name", spec.Name)
	}
	return c.withMissing(ctx, Connection{Name: spec.Name, Source: spec.Source, State: connectionActive}), nil
}

// checkSecretRef keeps secrets themselves out of the database. It doesn't repeat what was given, which may be one.
func checkSecretRef(ref string) error {
	kind, where, _ := strings.Cut(ref, ":")
	if ref == "" || storable(ref) && where != "" && (kind == "env" || kind == "file") {
		return nil
	}
	return usage("secret_ref", "the secret is given by reference: env:NAME for an environment variable, or file:/path for a file")
}

const maxSubject = 320

func checkSubject(spec ConnectionSpec) error {
	switch {
	case spec.Subject == "":
		return nil
	case spec.Source != "gdrive":
		return usage("subject", "a subject is for connections of gdrive: leave --subject out")
	case !storable(spec.Subject) || len(spec.Subject) > maxSubject || !strings.Contains(spec.Subject, "@"):
		return usage("subject", "the subject is the address of a user of the domain, such as kb@example.com")
	}
	return nil
}

// PauseConnection lets no sync of its folders start; running ones stop at their next batch.
func (c *Control) PauseConnection(ctx context.Context, name string, actor Actor) (Connection, error) {
	return c.pauseConnection(ctx, name, true, actor)
}

// ResumeConnection lets its folders sync again, except those that are paused themselves. Its source is asked first: one that still
// refuses the credentials leaves the connection paused. A source that can't be asked from here is no reason against it.
func (c *Control) ResumeConnection(ctx context.Context, name string, actor Actor) (Connection, error) {
	row, err := c.connection(ctx, name)
	if err != nil {
		return Connection{}, err
	}
	if row.PausedAt != nil {
		if err := c.refuseStillRefused(ctx, name); err != nil {
			return Connection{}, err
		}
	}
	return c.ForceConnection(ctx, name, actor)
}

// ForceConnection is ResumeConnection without a question to the source.
func (c *Control) ForceConnection(ctx context.Context, name string, actor Actor) (Connection, error) {
	resumed, err := c.pauseConnection(ctx, name, false, actor)
	if err != nil || c.temporal == nil {
		return resumed, err
	}
	return resumed, c.catchUp(ctx, name)
}

// catchUp asks for what happened while a connection was paused. Where Temporal is away, the folders' intervals bring it.
func (c *Control) catchUp(ctx context.Context, connection string) error {
	folders, err := c.store.FoldersOf(ctx, connection)
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if _, err := c.RequestFolderSync(ctx, folder, knowledge.ModeIncremental, "resume"); err != nil {
			c.log.WarnContext(ctx, "a folder of a resumed connection could not be synced at once; its interval brings it", "folder_id", folder, "error", err)
			return nil
		}
	}
	return nil
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
	return c.withMissing(ctx, connectionOf(row)), err
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
