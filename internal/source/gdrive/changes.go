package gdrive

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/loresync/loresync/internal/source"
)

// Changes yields what the change logs tell since the checkpoint: a request for the root and one for each log, and no more when nothing
// changed. Where a folder came, moved or was renamed, what is below it is listed again: Drive logs none of that, and its places are
// others. What left, by itself or with a folder, is a hint: each is confirmed by a direct read.
func (s *Source) Changes(
	ctx context.Context, root source.Root, said string, yield func(changed []source.Entry, removed []string) error,
) (source.Listed, error) {
	logs, ok := parseCheckpoint(said)
	if !ok {
		return source.Listed{}, expired("the checkpoint can't be read: everything is listed")
	}
	top, listed, err := s.top(ctx, root, fresh)
	if err != nil || listed.Verdict != "" {
		return listed, failure(err)
	}
	if top.drive != "" && logs[top.drive] == "" {
		return source.Listed{}, expired("the folder's root moved into a shared drive: everything is listed")
	}
	d := s.digest(root, top)
	lost, err := d.readLogs(ctx, logs)
	if err != nil {
		return source.Listed{}, failure(err)
	}
	if d.news.drives[top.drive] && top.drive != "" {
		return source.Listed{Verdict: source.VerdictRootMissing, Sentence: sayRootMissing}, nil
	}
	if err := d.understand(ctx); err != nil {
		return source.Listed{}, failure(err)
	}
	if err := d.dropNotes(ctx); err != nil {
		return source.Listed{}, err
	}
	if err := d.tell(ctx, s.batchSize, yield); err != nil {
		return source.Listed{}, err
	}
	return d.listed(lost), nil
}

func expired(sentence string) error {
	return &source.Failure{Class: source.ClassCheckpointExpired, Doing: "read the checkpoint", Sentence: sentence}
}

// readLogs reads every log. A shared drive that is gone keeps no other log from being read; its token stays, for the case that it
// comes back before everything is listed again.
func (d *digest) readLogs(ctx context.Context, logs checkpoint) (lost int, err error) {
	for _, name := range logs.logs() {
		next, gone, err := d.s.read(ctx, name, logs[name], d.news)
		if err != nil {
			return lost, err
		}
		if gone || d.news.drives[name] {
			lost++
		}
		d.sweep.logs[name] = next
	}
	return lost, nil
}

// dropNotes drops what the first listing noted of files that are told now, or that lie below a folder that is.
func (d *digest) dropNotes(ctx context.Context) error {
	if d.root.Notes == nil || d.news.empty() {
		return nil
	}
	told := map[string]bool{}
	maps.Copy(told, d.news.gone)
	maps.Copy(told, d.lost)
	for id := range d.news.files {
		told[id] = true
	}
	for id := range d.found {
		told[id] = true
	}
	return d.root.Notes.Drop(ctx, slices.Sorted(maps.Keys(told)))
}

// tell yields what was found, parents first, and what was lost.
func (d *digest) tell(ctx context.Context, size int, yield func([]source.Entry, []string) error) error {
	found := slices.SortedFunc(maps.Values(d.found), func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.id, b.id))
	})
	lost := slices.Sorted(maps.Keys(d.lost))
	for len(found) > 0 || len(lost) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, m := min(len(found), size), min(len(lost), size)
		entries := make([]source.Entry, 0, n)
		for _, at := range found[:n] {
			entries = append(entries, at.entry(d.root.Limits))
		}
		if err := yield(entries, lost[:m]); err != nil {
			return err
		}
		found, lost = found[n:], lost[m:]
	}
	return nil
}

// listed is the word on what was read: what is in a shared drive that is gone can't be told.
func (d *digest) listed(lost int) source.Listed {
	listed := d.sweep.listed()
	if lost > 0 && listed.Verdict == source.VerdictComplete {
		listed.Verdict = source.VerdictPartUnreadable
		listed.Sentence = "a shared drive, to which a shortcut leads, is gone or not shared with the connection's account any more; everything else was read: " +
			"share it again, or remove the shortcut"
	}
	return listed
}
