package notion

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion/document"
)

// blockReader reads the blocks of one page level by level, several requests at once, and notes the pages and databases among
// them. What is left of a page that is too large depends on the page alone and not on which answer came first: otherwise the
// same page would read differently each time.
type blockReader struct {
	source *Source
	// page is the id of the page, which its children hang under whatever block holds them.
	page string
	// progress holds the answers that an earlier attempt got, and keeps those of this one.
	progress *progress
	// room is how many blocks may still be kept.
	room int
	// beyond is set when blocks were left out for want of room, atTop when some of them lie directly on the page.
	beyond, atTop bool
	children      []source.Entry
}

func (s *Source) blockReader(page string, kept *progress) *blockReader {
	return &blockReader{source: s, page: page, progress: kept, room: s.maxBlocks}
}

// container is what has blocks directly below it: a block, or the page, which has none itself.
type container struct {
	block *document.Block
	// from is whose blocks are read: for a copy of a synced block those of the original.
	from string
	// above are the containers on the way down to here, this one included: one among its own descendants would never end.
	above []string
	// copied is set below a copy: the pages in it hang where the original is.
	copied bool

	blocks  []*document.Block
	missing document.Missing
}

// read gives the blocks of the page, with all that is below them. What isn't shown or goes too far is missing, with a word for
// why; it doesn't fail the page.
func (r *blockReader) read(ctx context.Context) ([]*document.Block, error) {
	top := &container{from: r.page, above: []string{r.page}}
	level := []*container{top}
	for depth := 1; len(level) > 0; depth++ {
		if err := r.readAll(ctx, level); err != nil {
			return nil, err
		}
		var next []*container
		for _, c := range level {
			r.keep(c)
			next = append(next, c.below(depth)...)
		}
		level = next
	}
	return top.blocks, nil
}

// readAll reads the blocks of containers, those that come first before the others, until there is no room for more.
func (r *blockReader) readAll(ctx context.Context, level []*container) error {
	group, reading := errgroup.WithContext(ctx)
	group.SetLimit(parallelReads)
	var taken atomic.Int64
	for _, c := range level {
		if taken.Load() >= int64(r.room) {
			break
		}
		group.Go(func() error {
			err := r.fill(reading, c)
			taken.Add(int64(len(c.blocks)))
			return err
		})
	}
	return group.Wait() //nolint:wrapcheck // the calls say what they did
}

// fill reads the blocks directly below a container.
func (r *blockReader) fill(ctx context.Context, c *container) (err error) {
	c.blocks, err = r.level(ctx, c.from)
	if c.block == nil {
		return err
	}
	if notShared(err) && c.from != c.block.ID {
		// A copy may be read where its original isn't shared.
		c.blocks, err = r.level(ctx, c.block.ID)
	}
	switch {
	case notShared(err):
		c.missing = document.MissingUnshared
	case statusOf(err) == http.StatusBadRequest:
		// Notion has blocks that its API doesn't give out.
		c.missing = document.MissingError
	default:
		return err
	}
	return nil
}

// level reads the blocks directly below a page or block, up to one more than there is room for. A list that breaks off after it
// began with kept answers is read once more without them: their cursor may have expired meanwhile.
func (r *blockReader) level(ctx context.Context, parent string) ([]*document.Block, error) {
	blocks, remembered, err := r.levelOnce(ctx, parent, r.progress.children)
	if remembered && errors.Is(err, errBrokenList) {
		blocks, _, err = r.levelOnce(ctx, parent, r.progress.afresh)
	}
	return blocks, err
}

// children gives a part of the blocks directly below one, from where it is kept (then it is remembered) or by asking.
type children func(ctx context.Context, parent, cursor string, ask asking) (answer list, remembered bool, err error)

func (r *blockReader) levelOnce(ctx context.Context, parent string, from children) (blocks []*document.Block, remembered bool, err error) {
	seen := map[string]bool{}
	err = pages(ctx, func(cursor string) (list, error) {
		answer, kept, err := from(ctx, parent, cursor, r.source.client.children)
		remembered = remembered || kept
		return answer, err
	}, func(answer list) (bool, error) {
		for _, block := range document.DecodeBlocks(answer.Results) {
			if block.InTrash || block.ID != "" && seen[block.ID] {
				continue
			}
			seen[block.ID] = true
			blocks = append(blocks, block)
		}
		return len(blocks) <= r.room, nil
	})
	return blocks, remembered, err
}

// keep takes what was read of a container into the page, as far as there is room.
func (r *blockReader) keep(c *container) {
	if len(c.blocks) > r.room || r.room == 0 {
		c.blocks, c.missing = c.blocks[:min(len(c.blocks), r.room)], document.MissingLimit
		r.beyond, r.atTop = true, r.atTop || c.block == nil
	}
	r.room -= len(c.blocks)
	for _, block := range c.blocks {
		if !c.copied && block.ID != "" && isObject(block) {
			r.children = append(r.children, source.Entry{
				SourceID: block.ID, ParentSourceID: r.page, Kind: source.KindDocument, Title: childTitle(block), FoundBy: knowledge.FoundByTree,
			})
		}
	}
	if c.block != nil {
		c.block.Missing = c.missing
		if c.block.Children = c.blocks; c.blocks == nil {
			c.block.Children = []*document.Block{}
		}
	}
}

// below gives the containers among the blocks of one.
func (c *container) below(depth int) []*container {
	var found []*container
	for _, block := range c.blocks {
		if !block.HasChildren || block.ID == "" || isObject(block) {
			continue
		}
		from, copied := block.ID, c.copied
		if original := syncedFrom(block); original != "" {
			from, copied = original, true
		}
		if depth > maxDepth || slices.Contains(c.above, from) {
			block.Children, block.Missing = []*document.Block{}, document.MissingDepth
			continue
		}
		above := slices.Concat(c.above, []string{from})
		found = append(found, &container{block: block, from: from, above: above, copied: copied})
	}
	return found
}

// isObject tells the blocks that are pages and databases: documents of their own, whose content isn't the page's.
func isObject(block *document.Block) bool {
	return block.Type == "child_page" || block.Type == "child_database"
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
