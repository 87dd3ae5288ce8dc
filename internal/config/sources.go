package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/loresync/loresync/internal/content/extract"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/files"
	"github.com/loresync/loresync/internal/source/gdrive"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/transport"
	"github.com/loresync/loresync/internal/store"
)

// ConnectionStore is what sources ask of the store: where secrets are, slots of the rate budgets, and pausing.
type ConnectionStore interface {
	Slots(perSecond float64, burst int) *store.Slots
	Connection(ctx context.Context, name string) (store.Connection, error)
	PauseConnection(ctx context.Context, name string, paused bool, reason, actor string) (bool, error)
	NoteKey(ctx context.Context, n store.KeyNote) error
	SetBudget(ctx context.Context, connection string, perSecond float64, burst int) error
	OAuthStore
}

// Sources are the sources of one process. It is safe for concurrent use.
type Sources struct {
	config Config
	store  ConnectionStore
	files  filesSource
	// extractor reads attachments, in a child process that it starts with the first one.
	extractor *extract.Extractor
	// driveFiles reads Drive's files, in another.
	driveFiles *extract.Extractor

	mu sync.Mutex
	// budget gives slots to all connections of this process.
	budget transport.Budget
	// made are the sources of connections, by name: each keeps its HTTP connections.
	made map[string]source.Source
	// keys are the keys that this process is known to use.
	keys usedKeys
}

// NewSources gives the sources that this version can sync, one for each connection that asks for it.
func NewSources(c Config, st ConnectionStore) *Sources {
	return &Sources{
		config: c, store: st, files: filesSource{files.New(files.Options{})}, made: map[string]source.Source{},
		extractor: extract.New(extract.Options{CacheDir: cacheDir()}), driveFiles: newDriveExtractor(),
	}
}

// cacheDir keeps the compiled PDF engine where only this account can write; empty where the account has no such place.
func cacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "loresync", "pdf")
}

// Close ends the child processes that read files.
func (s *Sources) Close() {
	s.extractor.Close()
	s.driveFiles.Close()
}

// Source finds a source by its name and connection. Files need no connection of their own: there is nothing to sign in to.
func (s *Sources) Source(ctx context.Context, name, connection string) (source.Source, error) {
	switch name {
	case files.Name:
		return s.files, nil
	case notion.Name:
		return s.connected(ctx, name, connection, s.newNotion)
	case gdrive.Name:
		return s.connected(ctx, name, connection, s.newGDrive)
	}
	return nil, fmt.Errorf("there is no source %q: use files, notion or gdrive", name)
}

var errNoStore = errors.New("this process has no database, in which connections are kept: it can only sync files")

func (s *Sources) connected(
	ctx context.Context, name, connection string, create func(context.Context, string) (source.Source, error),
) (source.Source, error) {
	if s.store == nil {
		return nil, errNoStore
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if made, known := s.made[connection]; known {
		return made, nil
	}
	s.openBudget()
	src, err := create(ctx, connection)
	if err != nil {
		return nil, err
	}
	src = guard(src, connection, s.store, func(ctx context.Context) string { return s.renewal(ctx, name, connection) })
	s.made[connection] = src
	return src, nil
}

// openBudget makes the budget with the first connection. The lock is held.
func (s *Sources) openBudget() {
	if s.budget == nil {
		s.budget = transport.NewBudget(s.store.Slots(transport.DefaultPerSecond, transport.DefaultBurst))
	}
}

// notionBurst keeps a 60-second window at 180 requests with the default rate.
const notionBurst = 9

func (s *Sources) newNotion(ctx context.Context, connection string) (source.Source, error) {
	tokens := s.notionTokens(connection)
	token := s.notionToken(connection, tokens)
	if _, err := token(ctx); err != nil {
		return nil, err
	}
	if err := s.store.SetBudget(ctx, connection, s.config.Notion.Rate, notionBurst); err != nil {
		return nil, err
	}
	return notion.New(notion.Options{
		BaseURL:   s.config.Notion.BaseURL,
		Token:     token,
		Transport: tokens.Transport(transport.New(notion.Transport(connection, s.budget))),
		Extract: func(ctx context.Context, name string, r io.Reader) (notion.Extracted, error) {
			result, err := s.extractor.Extract(ctx, "", name, r)
			return notion.Extracted{Text: result.Text, Reason: result.Reason, Note: result.Note, Truncated: result.Truncated}, err
		},
	}), nil
}

// secret reads a connection's secret anew for every request, so that one that was renewed is used at once. The connection that
// bears the source's name takes the setting unless it has a reference of its own.
func (s *Sources) secret(ctx context.Context, connection, setting, variable string) (string, error) {
	row, err := s.store.Connection(ctx, connection)
	if err != nil {
		return "", connectionTrouble(connection, err)
	}
	kind, where, _ := strings.Cut(row.SecretRef, ":")
	var secret string
	switch kind {
	case "":
		if secret = setting; secret == "" {
			return "", &source.Failure{
				Class: source.ClassUnauthorized, Doing: "find the secret", Sentence: variable + " is not set: set it to the token of the integration",
			}
		}
		return secret, nil
	case "env":
		secret = os.Getenv(where)
	case "file":
		read, err := os.ReadFile(where) //nolint:gosec // an admin named it
		if err != nil {
			return "", &source.Failure{
				Class: source.ClassUnauthorized, Doing: "find the secret", Err: err,
				Sentence: fmt.Sprintf("the file with the secret of connection %s can't be read: check its path and rights", connection),
			}
		}
		secret = strings.TrimSpace(string(read))
	}
	if secret == "" {
		return "", &source.Failure{
			Class: source.ClassUnauthorized, Doing: "find the secret",
			Sentence: fmt.Sprintf("the secret of connection %s is empty: check what its reference names", connection),
		}
	}
	return secret, nil
}

func connectionTrouble(connection string, err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("there is no connection %q: `starter connection list` shows those there are", connection)
	}
	return err
}

// filesSource adds what control asks of sources whose roots and ids are paths.
type filesSource struct{ *files.Source }

// Canonical gives the absolute form of a directory.
func (filesSource) Canonical(ref string) (string, error) { return files.Canonical(ref) }

// Ancestors gives the directories above a page, nearest first. The id of a page is the path below its root.
func (filesSource) Ancestors(sourceID string) []string {
	var above []string
	for dir := path.Dir(sourceID); dir != "." && dir != "/"; dir = path.Dir(dir) {
		above = append(above, dir)
	}
	return above
}
