package notion

import (
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/loresync/loresync/internal/source"
)

// fewRequests is how many requests a page's blocks may take without anything being kept of them. Nearly all pages take fewer.
const fewRequests = 20

// progress keeps the answers about a large page's blocks, so that a read that breaks off after a hundred requests doesn't send
// them again. Nil keeps nothing.
//
// The page's time of the last edit is part of each key: an edit since makes the read start over. That time is cut down to the
// minute, so nothing is kept of a page that was edited within the last two: a second edit could not be told from the first.
type progress struct {
	memo    source.Memo
	version string

	mu sync.Mutex
	// large is set once the page is known to take more than a few requests: then each answer is kept at once.
	large bool
	// early are the first answers of a page that isn't known to be large.
	early []kept
	// looked is set once it is known whether there is anything of an earlier attempt, which found tells.
	looked, found bool
}

type kept struct {
	key    string
	answer list
}

// asking is the request for blocks.
type asking func(ctx context.Context, parent, cursor string) (list, error)

func progressOf(root source.Root, entry source.Entry) *progress {
	if root.Memo == nil || entry.Version == "" || root.At.Sub(entry.EditedAt) < 2*editGranularity {
		return nil
	}
	return &progress{memo: root.Memo, version: entry.Version}
}

// children gives blocks from what an earlier attempt kept, or asks for them and keeps the answer.
func (p *progress) children(ctx context.Context, parent, cursor string, ask asking) (list, bool, error) {
	if answer, ok := p.remembered(ctx, p.key(parent, cursor)); ok {
		return answer, true, nil
	}
	return p.afresh(ctx, parent, cursor, ask)
}

// afresh asks for blocks and keeps the answer.
func (p *progress) afresh(ctx context.Context, parent, cursor string, ask asking) (list, bool, error) {
	answer, err := ask(ctx, parent, cursor)
	if err == nil {
		p.keep(ctx, kept{key: p.key(parent, cursor), answer: answer})
	}
	return answer, false, err
}

// key names an answer. It begins with what it is, and in which version of the API.
func (p *progress) key(parent, cursor string) string {
	if p == nil {
		return ""
	}
	return strings.Join([]string{"blocks", Version, p.version, parent, cursor}, " ")
}

// remembered looks for a kept answer. The first look is for the page's first blocks, which are kept before all others: where they
// are missing nothing is, and a small page costs no further look.
func (p *progress) remembered(ctx context.Context, key string) (list, bool) {
	var answer list
	if p == nil || !p.worthALook() {
		return answer, false
	}
	// What can't be read is asked for.
	value, ok, err := p.memo.Load(ctx, key)
	ok = ok && err == nil && json.Unmarshal(value, &answer) == nil
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.looked {
		p.looked, p.found, p.large = true, ok, ok
	}
	return answer, ok
}

func (p *progress) worthALook() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.looked || p.found
}

// keep keeps an answer, once the page turns out to be large together with those that came before.
func (p *progress) keep(ctx context.Context, latest kept) {
	if p == nil {
		return
	}
	for _, k := range p.due(latest) {
		value, err := json.Marshal(k.answer)
		if err != nil || p.memo.Save(ctx, k.key, value) != nil {
			return // it costs a request, should the read break off
		}
	}
}

func (p *progress) due(latest kept) []kept {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.early = append(p.early, latest)
	if p.large = p.large || len(p.early) > fewRequests; !p.large {
		return nil
	}
	due := p.early
	p.early = nil
	return due
}
