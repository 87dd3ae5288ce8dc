package gdrive

import (
	"maps"
	"sync"
	"time"

	"github.com/loresync/loresync/internal/source"
)

const (
	// rememberedFor is how long a listing's word on a file stands for a read of its metadata.
	rememberedFor = 30 * time.Minute
	// maxRemembered bounds the files; one takes half a kilobyte.
	maxRemembered = 20_000
)

// remembered is what the first listing of a folder told of its files. Each is used for the first read of its page and then forgotten,
// so that a first sync asks for no file twice; every later read asks Drive. What happened to a file between the two is in the change
// log, whose token is older than both, and its content is read at the time of the read in any case.
type remembered struct {
	mu    sync.Mutex
	known map[rememberedKey]rememberedFile
}

type rememberedKey struct{ folder, root, id string }

func keyOf(root source.Root, id string) rememberedKey {
	return rememberedKey{root.FolderID, root.Ref, id}
}

type rememberedFile struct {
	placed
	until time.Time
}

func newRemembered() *remembered { return &remembered{known: map[rememberedKey]rememberedFile{}} }

func (r *remembered) keep(root source.Root, at placed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if len(r.known) >= maxRemembered {
		maps.DeleteFunc(r.known, func(_ rememberedKey, kept rememberedFile) bool { return kept.until.Before(now) })
	}
	if len(r.known) < maxRemembered {
		r.known[keyOf(root, at.id)] = rememberedFile{placed: at, until: now.Add(rememberedFor)}
	}
}

// take gives what is remembered of a file and forgets it.
func (r *remembered) take(root source.Root, id string) (placed, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := keyOf(root, id)
	kept, ok := r.known[key]
	delete(r.known, key)
	return kept.placed, ok && time.Now().Before(kept.until)
}

// forget drops what is remembered of files whose changes were told.
func (r *remembered) forget(told func(id string) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.known, func(key rememberedKey, _ rememberedFile) bool { return told(key.id) })
}
