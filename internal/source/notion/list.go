package notion

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/transport"
)

const (
	// defaultBatchSize keeps a batch well under a megabyte.
	defaultBatchSize = 500
	// overlap is how far an incremental listing looks back behind its checkpoint: times are cut down to the minute, and the
	// search index is behind the pages.
	overlap = 2 * time.Minute
)

// List enumerates what search knows below the root, parents first and then in the order of the ids, so that it resumes after
// any of them. A page that moved up meanwhile is not seen by a resumed listing: absence alone removes nothing. Pages
// whose place search doesn't tell (inside a block of a page not read yet) are left to be found by reading.
//
// A cursor bears the checkpoint that the listing had when it began: what was edited since then may lie before the cursor.
func (s *Source) List(ctx context.Context, root source.Root, after string, yield func(source.Batch) error) (source.Listed, error) {
	t, verdict, err := s.survey(ctx, root, time.Time{})
	if err != nil || verdict.Verdict != "" {
		return verdict, failure(err)
	}
	listed := t.listed()
	at, began, resumed := cutLast(after)
	if resumed {
		listed.Checkpoint = min(began, listed.Checkpoint)
	}
	entries := t.entries()
	entries = entries[behind(entries, at):]
	gone := t.gone
	for len(entries) > 0 || len(gone) > 0 {
		if err := ctx.Err(); err != nil {
			return source.Listed{}, err
		}
		n := min(len(entries), s.batchSize)
		batch := source.Batch{Entries: plain(entries[:n]), Returned: n, Gone: gone}
		if entries, gone = entries[n:], nil; len(entries) > 0 {
			batch.Cursor = entries[0].cursor() + " " + listed.Checkpoint
		}
		if err := yield(batch); err != nil {
			return source.Listed{}, err
		}
	}
	return listed, nil
}

// cutLast parts a cursor into its place and its checkpoint.
func cutLast(cursor string) (at, checkpoint string, found bool) {
	i := strings.LastIndexByte(cursor, ' ')
	if i < 0 {
		return cursor, "", false
	}
	return cursor[:i], cursor[i+1:], true
}

// Changes yields what was edited since the checkpoint, with an overlap, and what search shows in the trash or out of the root.
// Removed pages are a hint: each is confirmed by a direct read.
func (s *Source) Changes(
	ctx context.Context, root source.Root, checkpoint string, yield func(changed []source.Entry, removed []string) error,
) (source.Listed, error) {
	since, err := time.Parse(time.RFC3339, checkpoint)
	if err != nil {
		return source.Listed{}, &source.Failure{
			Class: source.ClassCheckpointExpired, Doing: "read the checkpoint", Sentence: "The checkpoint can't be read: everything is listed.", Err: err,
		}
	}
	t, verdict, err := s.survey(ctx, root, since.Add(-overlap))
	if err != nil || verdict.Verdict != "" {
		return verdict, failure(err)
	}
	listed := t.listed()
	if listed.Checkpoint == "" {
		listed.Checkpoint = checkpoint
	}
	t.gone = append(t.gone, t.left()...)
	for batch := range slices.Chunk(t.entries(), s.batchSize) {
		if err := yield(plain(batch), t.gone); err != nil {
			return source.Listed{}, err
		}
		t.gone = nil
	}
	if len(t.gone) > 0 {
		return listed, yield(nil, t.gone)
	}
	return listed, nil
}

// survey asks for the root, and for what search shows, since a time or altogether.
func (s *Source) survey(ctx context.Context, root source.Root, since time.Time) (*tree, source.Listed, error) {
	t := &tree{nodes: map[string]node{}}
	top, listed, err := s.top(ctx, root)
	if err != nil || listed.Verdict != "" {
		return nil, listed, err
	}
	t.top = top
	seenPages, err := s.searchAll(ctx, searchPages, since)
	if err != nil {
		return nil, source.Listed{}, err
	}
	seenSources, err := s.searchAll(ctx, searchDataSources, since)
	if err != nil {
		return nil, source.Listed{}, err
	}
	if root.Known != nil && (!since.IsZero() || t.wantsKnown(seenPages, seenSources)) {
		if t.known, err = root.Known(ctx); err != nil {
			return nil, source.Listed{}, err
		}
	}
	t.add(seenPages, seenSources)
	t.addTop(since)
	return t, source.Listed{}, nil
}

// listed is the listing's own word on whether it saw everything that search has.
func (t *tree) listed() source.Listed {
	listed := source.Listed{Verdict: source.VerdictComplete}
	if !t.newest.IsZero() {
		listed.Checkpoint = t.newest.UTC().Format(time.RFC3339)
	}
	switch {
	case t.capped:
		listed.Verdict = source.VerdictCapped
		listed.Sentence = "Notion's search gave up before its end, so pages that it left out were not seen; nothing is removed. " +
			"Split the root into several folders."
	case t.strange > 0:
		listed.Verdict = source.VerdictPartUnreadable
		listed.Sentence = fmt.Sprintf("%d of the objects that Notion listed could not be read, so nothing is removed; the next sync lists again.", t.strange)
	}
	return listed
}

// Check tells whether the token is good and shows the root.
func (s *Source) Check(ctx context.Context, root source.Root) error {
	ctx = transport.WithAttempt(ctx, transport.Attempt{Lane: knowledge.LanePerson, Check: true})
	if _, err := s.client.me(ctx); err != nil {
		return failure(err)
	}
	_, listed, err := s.top(ctx, root)
	switch {
	case err != nil:
		return failure(err)
	case listed.Verdict != "":
		return &source.Failure{Class: source.ClassNotFound, Doing: "look at the root", Sentence: listed.Sentence}
	}
	return nil
}

// placed is an entry and how far below the root it is.
type placed struct {
	source.Entry
	depth int
}

func (p placed) cursor() string { return fmt.Sprintf("%04d %s", p.depth, p.SourceID) }

// behind finds where a listing goes on: at the entry that the cursor names, or the next one.
func behind(entries []placed, cursor string) int {
	start, _ := slices.BinarySearchFunc(entries, cursor, func(p placed, at string) int { return strings.Compare(p.cursor(), at) })
	return start
}

func plain(entries []placed) []source.Entry {
	bare := make([]source.Entry, len(entries))
	for i, p := range entries {
		bare[i] = p.Entry
	}
	return bare
}

// entry is what a listing says about an object.
func (n node) entry(parent string, known bool) source.Entry {
	return source.Entry{
		SourceID: n.id, ParentSourceID: parent, ParentUnknown: !known, Kind: source.KindDocument, Title: n.title, URL: n.url,
		Version: versionOf(n.edited), EditedAt: n.edited, FoundBy: knowledge.FoundBySearch,
	}
}

// versionOf is the hint that a page may be unchanged: its time of the last edit.
func versionOf(edited time.Time) string {
	if edited.IsZero() {
		return ""
	}
	return edited.UTC().Format(time.RFC3339)
}
