package tests

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
)

// teller is a source that says of some pages that they are gone, though they can be read, and does something in between when it
// is asked about one.
type teller struct {
	source.Source
	mu      sync.Mutex
	told    []string
	between map[string]func(context.Context) error
}

func (t *teller) tell(pages ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.told = pages
}

// whenAsked does something once, before it says that a page is gone.
func (t *teller) whenAsked(page string, do func(context.Context) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.between = map[string]func(context.Context) error{page: do}
}

func (t *teller) tells(page string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Contains(t.told, page)
}

func (t *teller) comesBetween(ctx context.Context, page string) error {
	t.mu.Lock()
	do := t.between[page]
	delete(t.between, page)
	t.mu.Unlock()
	if do == nil {
		return nil
	}
	return do(ctx)
}

func (t *teller) List(ctx context.Context, root source.Root, cursor string, yield func(source.Batch) error) (source.Listed, error) {
	return t.Source.List(ctx, root, cursor, func(batch source.Batch) error {
		batch.Entries = slices.DeleteFunc(batch.Entries, func(e source.Entry) bool {
			told := t.tells(e.SourceID)
			if told {
				batch.Gone = append(batch.Gone, e.SourceID)
			}
			return told
		})
		batch.Returned = len(batch.Entries)
		return yield(batch)
	})
}

func (t *teller) Presence(ctx context.Context, root source.Root, page string) (source.Presence, error) {
	if err := t.comesBetween(ctx, page); err != nil {
		return source.PresenceUnknown, err
	}
	if t.tells(page) {
		return source.PresenceGone, nil
	}
	return t.Source.Presence(ctx, root, page)
}

func TestRule7APageThatIsReadWhileItsRemovalIsDecidedStays(t *testing.T) {
	t.Parallel()
	var src *teller
	r := newRig(t, throughSource(func(s source.Source) source.Source { src = &teller{Source: s}; return src }))
	paths := r.fill(8)
	r.synced()
	read := func(ctx context.Context) error {
		answer, err := r.SyncPage(ctx, folderID, paths[0], person)
		if err == nil {
			_, err = r.Wait(ctx, answer, nil)
		}
		return err
	}
	state := func(path string) string { return string(r.page(path).State) }

	src.tell(paths[0], paths[1])
	src.whenAsked(paths[0], read)
	assert.EqualValues(t, 1, r.synced().Removed)
	assert.Equal(t, "live", state(paths[0]), "it was read after the source was asked")
	assert.Equal(t, "tombstoned", state(paths[1]))
	assert.EqualValues(t, 1, r.synced().Removed, "the next sync is told again, and nothing comes in between")
	assert.Equal(t, "tombstoned", state(paths[0]))

	src.tell()
	r.synced()
	require.Equal(t, 8, r.live(), "they are back")
	src.tell(paths[:7]...)
	assert.EqualValues(t, 7, r.synced().Held, "a person has to look at so many")
	holds, err := r.Holds(t.Context(), false)
	require.NoError(t, err)
	require.Len(t, holds, 1)
	src.whenAsked(paths[0], read)
	r.wait(r.ApproveHold(t.Context(), holds[0].HoldID, person))
	assert.Equal(t, "live", state(paths[0]), "not even an approval hides what was read since")
	assert.Equal(t, 2, r.live())
	r.clean()
}
