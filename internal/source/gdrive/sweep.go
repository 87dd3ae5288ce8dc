package gdrive

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	"google.golang.org/api/googleapi"
)

// sweep goes down the folders of a root, level by level and within a level in the order of the ids, so that parents come before what
// they hold and any process meets the same files in the same order.
type sweep struct {
	s   *Source
	top placed
	// rich asks for all that a page's read needs, so that the first sync of a folder asks for no file twice.
	rich bool
	// seen are files that were met, and logs the tokens of the change logs that cover them.
	seen map[string]bool
	logs checkpoint
	// shortcuts were met and not followed yet.
	shortcuts []placed
	// phase counts the trees that are listed one after the other: the root's own, then those that shortcuts lead to.
	phase int
	// take gets each file and folder once.
	take func(ctx context.Context, at placed) error

	mu sync.Mutex
	// unread counts the parts that can't be seen, and capped is set when Drive didn't look everywhere.
	unread int
	capped bool
}

// lastPhase is behind all others.
const lastPhase = 1 << 30

// sweep goes down from a root. logs are the tokens that were taken before.
func (s *Source) sweep(top placed, logs checkpoint, rich bool) *sweep {
	return &sweep{s: s, top: top, rich: rich, seen: map[string]bool{top.id: true}, logs: logs}
}

// down lists what is in some folders and all below.
func (w *sweep) down(ctx context.Context, level []placed) error {
	for len(level) > 0 {
		found, err := w.level(ctx, level)
		if err != nil {
			return err
		}
		level = nil
		for _, at := range found {
			if w.seen[at.id] {
				continue
			}
			w.seen[at.id] = true
			if at.isShortcut() {
				w.shortcuts = append(w.shortcuts, at)
				continue
			}
			if err := w.take(ctx, at); err != nil {
				return err
			}
			if at.isFolder() {
				w.s.folders.put(at.id, at.file, nil)
				level = append(level, at)
			}
		}
	}
	return nil
}

// level lists some folders, and gives what is in them in the order of the ids.
func (w *sweep) level(ctx context.Context, level []placed) ([]placed, error) {
	lists := make([][]placed, len(level))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(parallelLists)
	for i, folder := range level {
		group.Go(func() error {
			var err error
			lists[i], err = w.children(within, folder)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	found := slices.Concat(lists...)
	slices.SortStableFunc(found, func(a, b placed) int { return cmp.Compare(a.id, b.id) })
	return found, nil
}

// children lists one folder. One that vanished or can't be read costs the verdict, and nothing else.
func (w *sweep) children(ctx context.Context, folder placed) ([]placed, error) {
	ask := query{
		q: quoted(folder.id) + " in parents and trashed = false", drive: folder.drive, about: folder.id, fields: w.listFields(), size: pageSize,
	}
	if folder.id == SharedWithMe {
		ask.q = "sharedWithMe = true and trashed = false"
	}
	var found []placed
	err := pages(func(token string) (string, error) {
		ask.token = token
		answer, err := w.s.client.list(ctx, ask)
		if status, _ := refusedWith(err); token != "" && status == http.StatusBadRequest {
			return "", errBrokenList // the same list was good up to here
		}
		for _, f := range answer.files {
			if !f.trashed {
				found = append(found, folder.under(f))
			}
		}
		w.note(false, answer.incomplete)
		return answer.next, err
	})
	if notFound(err) || withheld(err) {
		w.s.folders.put(folder.id, file{}, err)
		w.note(true, false)
		return nil, nil
	}
	return found, err
}

func (w *sweep) note(unread, capped bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if unread {
		w.unread++
	}
	w.capped = w.capped || capped
}

func (w *sweep) listFields() string {
	if w.rich {
		return pageFields
	}
	return fileFields
}

func (w *sweep) getFields() googleapi.Field { return googleapi.Field(w.listFields()) }
