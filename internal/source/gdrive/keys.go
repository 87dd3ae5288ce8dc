package gdrive

import (
	"net/http"
	"sync"
	"time"
)

// keys are the resource keys that came with files and shortcuts. Files that were shared by link long ago are found only with theirs.
type keys struct {
	mu    sync.Mutex
	known map[string]string
	// swept is when roots were listed for the keys of what is below them.
	swept map[string]time.Time
}

// sweepEvery bounds how often a root is listed for keys.
const sweepEvery = time.Minute

// due tells whether a root may be listed for its keys again, and notes that it is.
func (k *keys) due(root string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.swept[root]) < sweepEvery {
		return false
	}
	if k.swept == nil {
		k.swept = map[string]time.Time{}
	}
	k.swept[root] = time.Now()
	return true
}

func (k *keys) note(id, key string) {
	if id == "" || key == "" {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil {
		k.known = map[string]string{}
	}
	k.known[id] = key
}

// add puts the key of a file into a request's header, if it has one.
func (k *keys) add(header http.Header, id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if key := k.known[id]; key != "" {
		header.Set("X-Goog-Drive-Resource-Keys", id+"/"+key)
	}
}

// of gives a file's key; empty when none is known.
func (k *keys) of(id string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.known[id]
}

// has tells whether a file's key is known.
func (k *keys) has(id string) bool { return k.of(id) != "" }
