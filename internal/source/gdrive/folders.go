package gdrive

import (
	"context"
	"sync"
	"time"
)

const (
	// presenceKept is how old the place of a folder may be for what is removed on its word: fifty files of one folder cost one climb.
	presenceKept = 5 * time.Second
	// namesKept is how old the names of folders may be in a page's path. What was moved or renamed meanwhile is in the change log.
	namesKept = time.Minute
	// maxFolders bounds what is remembered; a folder takes some 300 bytes.
	maxFolders = 50_000
)

// folders remembers the folders that were read a moment ago, and what isn't there.
type folders struct {
	mu    sync.Mutex
	known map[string]seenFolder
}

type seenFolder struct {
	file
	err error
	at  time.Time
}

func newFolders() *folders { return &folders{known: map[string]seenFolder{}} }

func (k *folders) put(id string, f file, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.known) >= maxFolders {
		clear(k.known)
	}
	k.known[id] = seenFolder{file: f, err: err, at: time.Now()}
}

func (k *folders) get(id string, age time.Duration) (file, error, bool) { //nolint:revive // the error is what was answered then
	k.mu.Lock()
	defer k.mu.Unlock()
	seen, ok := k.known[id]
	return seen.file, seen.err, ok && time.Since(seen.at) < age
}

// folder reads a folder's metadata unless it was read a moment ago. That it can't be seen is remembered as well.
func (s *Source) folder(ctx context.Context, id string, age time.Duration) (file, error) {
	if f, err, ok := s.folders.get(id, age); ok {
		return f, err
	}
	f, err := s.client.get(ctx, id, fileFields)
	if err == nil || notFound(err) || withheld(err) {
		s.folders.put(id, f, err)
	}
	return f, err
}
