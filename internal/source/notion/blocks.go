package notion

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion/document"
)

// blockReader reads the blocks of one page, several requests at once, and notes the pages and databases among them.
type blockReader struct {
	source *Source
	// page is the id of the page, which its children hang under whatever block holds them.
	page string
	// slots bounds requests at once, over all levels.
	slots chan struct{}

	mu       sync.Mutex
	blocks   int
	children []source.Entry
}

func (s *Source) blockReader(page string) *blockReader {
	return &blockReader{source: s, page: page, slots: make(chan struct{}, parallelReads)}
}

// read gives the blocks below a page or block, with theirs. above are the synced blocks that lead here, which may form a circle.
func (r *blockReader) read(ctx context.Context, parent string, depth int, above []string) ([]*document.Block, error) {
	blocks, err := r.level(ctx, parent)
	if err != nil {
		return blocks, err
	}
	group, reading := errgroup.WithContext(ctx)
	for _, block := range blocks {
		if !hasContent(block) {
			continue
		}
		group.Go(func() error { return r.fill(reading, block, depth+1, above) })
	}
	return blocks, group.Wait()
}

// hasContent tells whether a block holds blocks that are part of the page: pages and databases in it are documents of their own.
func hasContent(block *document.Block) bool {
	return block.HasChildren && block.Type != "child_page" && block.Type != "child_database"
}

// fill reads what is below a block. What isn't shown or goes too far is missing, with a word for why; it doesn't fail the page.
func (r *blockReader) fill(ctx context.Context, block *document.Block, depth int, above []string) error {
	if depth > maxDepth {
		block.Missing = document.MissingDepth
		return nil
	}
	from := block.ID
	if original := syncedFrom(block); original != "" {
		from = original
		for _, seen := range above {
			if seen == original {
				block.Missing = document.MissingDepth
				return nil
			}
		}
		above = append(above[:len(above):len(above)], original)
	}
	children, err := r.read(ctx, from, depth, above)
	if notShared(err) && from != block.ID {
		// A copy may be read where its original isn't shared.
		children, err = r.read(ctx, block.ID, depth, above)
	}
	if block.Children = children; children == nil {
		block.Children = []*document.Block{}
	}
	switch {
	case notShared(err):
		block.Missing = document.MissingUnshared
		return nil
	case errors.Is(err, errLimit):
		block.Missing = document.MissingLimit
		return nil
	}
	return err
}

var errLimit = errors.New("the page has more blocks than are read")

// level reads the blocks directly below a page or block.
func (r *blockReader) level(ctx context.Context, parent string) ([]*document.Block, error) {
	var blocks []*document.Block
	seen := map[string]bool{}
	err := pages(ctx, func(cursor string) (list, error) {
		select {
		case r.slots <- struct{}{}:
			defer func() { <-r.slots }()
		case <-ctx.Done():
			return list{}, ctx.Err()
		}
		return r.source.client.children(ctx, parent, cursor)
	}, func(answer list) (bool, error) {
		for _, block := range document.DecodeBlocks(answer.Results) {
			if block.InTrash || block.ID != "" && seen[block.ID] {
				continue
			}
			seen[block.ID] = true
			if !r.take(block) {
				return false, errLimit
			}
			blocks = append(blocks, block)
		}
		return true, nil
	})
	return blocks, err
}

// syncedFrom is the block that a synced copy shows; empty for originals and all other blocks.
func syncedFrom(block *document.Block) string {
	if block.Type != "synced_block" {
		return ""
	}
	var payload struct {
		From struct {
			BlockID string `json:"block_id"`
		} `json:"synced_from"`
	}
	_ = json.Unmarshal(block.Payload, &payload) // what can't be read is no copy
	return payload.From.BlockID
}

// childTitle is what a child page or database is called in the page that holds it.
func childTitle(block *document.Block) string {
	var payload struct {
		Title string `json:"title"`
	}
	_ = json.Unmarshal(block.Payload, &payload) // the title is a hint: the page has its own
	return payload.Title
}

// take counts a block and notes a page or database; false beyond the limit.
func (r *blockReader) take(block *document.Block) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.blocks >= r.source.maxBlocks {
		return false
	}
	r.blocks++
	if block.ID != "" && (block.Type == "child_page" || block.Type == "child_database") {
		r.children = append(r.children, source.Entry{
			SourceID: block.ID, ParentSourceID: r.page, Kind: source.KindDocument, Title: childTitle(block), FoundBy: knowledge.FoundByTree,
		})
	}
	return true
}
