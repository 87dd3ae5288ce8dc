package store_test

import (
	"bytes"
	"crypto/rand"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

func (d *desk) save(h knowledge.Holder, key string, part []byte) string {
	d.t.Helper()
	outcome, err := d.SaveProgress(d.t.Context(), h, key, part)
	require.NoError(d.t, err)
	return outcome
}

func (d *desk) load(key string) (string, bool) {
	d.t.Helper()
	part, found, err := d.LoadProgress(d.t.Context(), folder, "a", key)
	require.NoError(d.t, err)
	return string(part), found
}

func (d *desk) progress() int { return d.count(`SELECT count(*) FROM read_progress`) }

func TestRule3ReadProgressIsWrittenByTheHolderAndReadByTheNext(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first := d.inFlight("a")
	require.Equal(t, "saved", d.save(first, "one", []byte("1")))
	require.Equal(t, "saved", d.save(first, "one", []byte("1 again")))

	_, second := d.begin("a")
	assert.Equal(t, "fenced", d.save(first, "one", []byte("late")))
	assert.Equal(t, "fenced", d.save(first, "two", []byte("late")))
	part, found := d.load("one")
	assert.True(t, found)
	assert.Equal(t, "1 again", part)
	_, found = d.load("two")
	assert.False(t, found)

	_, err := d.DropAttempt(t.Context(), first)
	require.NoError(t, err)
	assert.Equal(t, 1, d.progress(), "the end of one that was overtaken drops nothing")
	assert.Equal(t, "saved", d.save(second, "two", []byte("2")))
}

func TestReadProgressGoesWithEveryOutcome(t *testing.T) {
	t.Parallel()
	for outcome, end := range map[string]func(*desk, knowledge.Holder){
		"published": func(d *desk, h knowledge.Holder) {
			staged := d.stage(h, "text")
			published, err := d.PublishStaged(d.t.Context(), h, *staged.RevisionID, nil)
			require.NoError(d.t, err)
			require.Equal(d.t, "published", published.Outcome)
		},
		"unchanged": func(d *desk, h knowledge.Holder) {
			_, err := d.PublishUnchanged(d.t.Context(), h, knowledge.Reading{})
			require.NoError(d.t, err)
		},
		"failed":    finish(knowledge.OutcomeFailed),
		"skipped":   finish(knowledge.OutcomeSkipped),
		"not found": finish(knowledge.OutcomeNotFound),
		"cancelled": finish(knowledge.OutcomeCancelled),
		"a delete": func(d *desk, h knowledge.Holder) {
			_, err := d.AcceptPageDelete(d.t.Context(), store.DeleteRequest{Folder: folder, Page: "a", Who: "eve", WorkflowID: "w", Undo: undo})
			require.NoError(d.t, err)
			assert.Equal(d.t, "cancel_requested", d.save(h, "more", []byte("x")), "nothing is kept after the accept")
			finish(knowledge.OutcomeCancelled)(d, h)
		},
	} {
		t.Run(outcome, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			h := d.inFlight("a")
			require.Equal(t, "saved", d.save(h, "one", []byte("1")))
			end(d, h)
			assert.Zero(t, d.progress())
		})
	}
}

func finish(outcome knowledge.Outcome) func(*desk, knowledge.Holder) {
	return func(d *desk, h knowledge.Holder) {
		_, err := d.FinishPageSync(d.t.Context(), h, outcome, "class", "sentence", "")
		require.NoError(d.t, err)
	}
}

func TestReadProgressGrowsOld(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	h := d.inFlight("a")
	d.save(h, "old", []byte("1"))
	d.save(h, "young", []byte("2"))
	d.exec(`UPDATE read_progress SET saved_at = now() - interval '31 minutes' WHERE value = (SELECT value FROM read_progress ORDER BY saved_at LIMIT 1)`)
	_, found := d.load("old")
	assert.False(t, found)
	_, found = d.load("young")
	assert.True(t, found)
	_, err := d.DropLeftovers(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, d.progress())
	d.exec(`DELETE FROM in_flight`)
	d.exec(`DELETE FROM pages`)
	assert.Zero(t, d.progress(), "the purge of the page takes the rest along")
}

func TestReadProgressIsCompressedAndBounded(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	h := d.inFlight("a")
	require.Equal(t, "saved", d.save(h, "words", bytes.Repeat([]byte("word "), 1<<20)))
	assert.Less(t, d.count(`SELECT octet_length(value) FROM read_progress`), 1<<16)

	noise := make([]byte, 15<<20)
	_, _ = rand.Read(noise)
	var mu sync.Mutex
	var group sync.WaitGroup
	outcomes := map[string]int{}
	for _, key := range []string{"1", "2", "3", "4", "5", "6"} {
		group.Go(func() {
			outcome, err := d.SaveProgress(t.Context(), h, key, noise)
			if err != nil {
				outcome = err.Error()
			}
			mu.Lock()
			defer mu.Unlock()
			outcomes[outcome]++
		})
	}
	group.Wait()
	assert.Equal(t, map[string]int{"saved": 4, "full": 2}, outcomes, "64 MiB, however many write at once")
}
