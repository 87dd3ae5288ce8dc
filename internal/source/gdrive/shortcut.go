package gdrive

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/loresync/loresync/internal/source"
)

const (
	// targetsKept is how long the list of all shortcuts is believed.
	targetsKept = 10 * time.Second
	// maxTargetPages bounds it; beyond, nobody can say that no shortcut leads to a file.
	maxTargetPages = 20
)

func deadShortcut() *source.Skip {
	return &source.Skip{
		Class: skipShortcut, Sentence: "what the shortcut stands for was deleted or isn't shared with the connection's account: share it, or remove the shortcut",
	}
}

// follow lists what shortcuts stand for, once everything else was seen: a target that is in the tree by itself stays in its place.
// Folders come before files, so that a file is found in its folder if that is listed too.
func (w *sweep) follow(ctx context.Context) error {
	var files []placed
	for len(w.shortcuts) > 0 {
		pending := w.shortcuts
		w.shortcuts = nil
		slices.SortFunc(pending, func(a, b placed) int {
			return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.parent, b.parent), cmp.Compare(a.id, b.id))
		})
		for _, link := range pending {
			at, err := w.resolve(ctx, link)
			if err != nil {
				return err
			}
			if !at.isFolder() {
				files = append(files, at)
				continue
			}
			if err := w.enter(ctx, at); err != nil {
				return err
			}
		}
	}
	return w.finish(ctx, files)
}

// enter lists a folder that a shortcut stands for, and what is below it.
func (w *sweep) enter(ctx context.Context, at placed) error {
	if w.seen[at.id] {
		return nil
	}
	w.seen[at.id] = true
	w.phase++
	if err := w.take(ctx, at); err != nil {
		return err
	}
	return w.down(ctx, []placed{at})
}

// finish lists the files that shortcuts stand for, and the shortcuts that stand for nothing.
func (w *sweep) finish(ctx context.Context, files []placed) error {
	w.phase = lastPhase
	slices.SortStableFunc(files, func(a, b placed) int { return cmp.Compare(a.id, b.id) })
	for _, at := range files {
		// A shortcut was seen as such; it is listed only when it stands for nothing.
		if at.skip == nil && w.seen[at.id] {
			continue
		}
		w.seen[at.id] = true
		if err := w.take(ctx, at); err != nil {
			return err
		}
	}
	return nil
}

// resolve gives what a shortcut stands for, in its place, or the shortcut itself with the reason why it stands for nothing. What was
// seen already costs no request.
func (w *sweep) resolve(ctx context.Context, link placed) (placed, error) {
	if w.seen[link.target.id] {
		return placed{file: file{id: link.target.id, mime: link.target.mime}}, nil
	}
	if link.target.id == "" {
		link.skip = deadShortcut()
		return link, nil
	}
	f, err := w.s.client.get(ctx, link.target.id, w.getFields())
	if err == nil {
		f, err = w.s.client.named(ctx, f)
	}
	switch {
	case notFound(err), withheld(err), err == nil && (f.trashed || f.isShortcut()):
		link.skip = deadShortcut()
		return link, nil
	case err != nil:
		return placed{}, err
	}
	if err := w.watchDrive(ctx, f.drive); err != nil {
		return placed{}, err
	}
	return link.standingFor(f), nil
}

// targets remembers for a moment all shortcuts that an account sees, by what they stand for.
type targets struct {
	turn  turn
	known map[string]driveTargets
}

type driveTargets struct {
	by    map[string][]file
	whole bool
	at    time.Time
}

// to gives the shortcuts that stand for a file; whole is false when there may be more.
func (t *targets) to(ctx context.Context, c *client, driveID, id string, age time.Duration) (links []file, whole bool, err error) {
	if err := t.turn.take(ctx); err != nil {
		return nil, false, err
	}
	defer t.turn.give()
	seen, ok := t.known[driveID]
	if !ok || time.Since(seen.at) >= min(age, targetsKept) {
		if seen, err = c.shortcuts(ctx, driveID); err != nil {
			return nil, false, err
		}
		t.known[driveID] = seen
	}
	return seen.by[id], seen.whole, nil
}

// shortcuts lists all shortcuts that the account sees.
func (c *client) shortcuts(ctx context.Context, driveID string) (driveTargets, error) {
	seen := driveTargets{by: map[string][]file{}, whole: true, at: time.Now()}
	count := 0
	err := pages(func(token string) (string, error) {
		found, err := c.list(ctx, query{
			q: "mimeType = " + quoted(mimeShortcut) + " and trashed = false", drive: driveID, fields: fileFields, token: token, size: pageSize,
		})
		if err != nil {
			return "", err
		}
		for _, link := range found.files {
			seen.by[link.target.id] = append(seen.by[link.target.id], link)
		}
		count++
		seen.whole = seen.whole && !found.incomplete
		if count >= maxTargetPages && found.next != "" {
			seen.whole = false
			return "", nil
		}
		return found.next, nil
	})
	return seen, err
}

func newTargets() *targets { return &targets{turn: newTurn(), known: map[string]driveTargets{}} }
