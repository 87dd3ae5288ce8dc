package notion_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

// many makes n pages at the top, each in a minute of its own, and gives their ids.
func (s *space) many(n int) []string {
	s.t.Helper()
	ids := make([]string, n)
	for i := range ids {
		s.clock.Advance(time.Minute)
		ids[i] = s.page("", fmt.Sprintf("Page %d", i))
	}
	return ids
}

func TestR002_EditInTheMinuteOfTheLastSyncIsSeen(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	s.clock.Set(time.Date(2026, 11, 30, 10, 3, 0, 0, time.UTC))
	ids := make([]string, 0, 5)
	for i := range 5 {
		ids = append(ids, s.page("", fmt.Sprintf("Page %d", i), paragraph("before")))
	}
	s.clock.Set(time.Date(2026, 11, 30, 10, 3, 20, 0, time.UTC))
	_, listed := s.list(s.root)
	before := s.fetch(ids[2])
	s.clock.Set(time.Date(2026, 11, 30, 10, 3, 50, 0, time.UTC))
	require.NoError(t, s.Edit(ids[2], paragraph("after!")))

	changed, _, _ := s.changes(listed.Checkpoint)
	assert.ElementsMatch(t, ids, idsOf(changed), "all that bear the checkpoint's minute are looked at again")
	after := s.fetch(ids[2])
	assert.Equal(t, before.Entry.Version, after.Entry.Version, "the time tells nothing")
	assert.NotEqual(t, before.Identity, after.Identity, "the content does")
	assert.Equal(t, time.Minute, s.src.Traits().EditGranularity, "so that a page read too early is read again later")
}

func TestR004_SignedLinksAreNoChangeAndAreKeptNowhere(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	file := s.AddFile("plan.png", "image/png", []byte("picture"))
	db := s.database("", "Tasks", notiontest.Column{Name: "Files", Type: "files"})
	row := s.row(db.Source, "Row", map[string]notiontest.Value{
		"Files": notiontest.FilesValue(notiontest.NamedFile{ID: file, Name: "plan.png"}),
	}, notiontest.Uploaded("image", file, notiontest.Text("A plan")), notiontest.Uploaded("pdf", file))
	require.NoError(t, s.SetIcon(row, notiontest.UploadedIcon(file)))
	require.NoError(t, s.SetCover(db.ID, notiontest.UploadedIcon(file)))
	for what, id := range map[string]string{"a row": row, "a database": db.ID} {
		t.Run(what, func(t *testing.T) {
			first := s.fetch(id)
			s.clock.Advance(20 * time.Minute)
			second := s.fetch(id)
			assert.Equal(t, string(first.Identity), string(second.Identity))
			assert.Equal(t, first.Fingerprint, second.Fingerprint)
			for part, text := range map[string]string{
				"Markdown": second.Markdown, "Identity": string(second.Identity), "Raw": string(second.Raw), "Fidelity": string(second.Fidelity),
			} {
				for _, secret := range []string{"X-Amz", "Signature", "Credential="} {
					assert.NotContains(t, text, secret, part)
				}
			}
			assert.Contains(t, string(second.Raw), "plan.png", "what is stable stays")
		})
	}
}

func TestR057_PageThatIsListedTwiceIsOneEntry(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	ids := s.many(250)
	s.server.Fail(notiontest.OfKind(notiontest.KindSearch), 2, notiontest.Duplicates())
	entries, listed := s.list(s.root)
	assert.ElementsMatch(t, ids, idsOf(entries))
	assert.Equal(t, source.VerdictComplete, listed.Verdict)
}

func TestR063_WhatLiesInTheTrashIsNotLive(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	kept := s.page("", "Kept")
	trashed := s.page("", "Trashed")
	below := s.page(trashed, "Below")
	_, before := s.list(s.root)
	require.NoError(t, s.Trash(trashed))
	entries, _ := s.list(s.root)
	assert.Equal(t, []string{kept}, idsOf(entries))
	for _, id := range []string{trashed, below} {
		assert.Equal(t, source.ClassNotFound, s.refused(id).Class)
		presence, err := s.src.Presence(t.Context(), s.root, id)
		require.NoError(t, err)
		assert.Equal(t, source.PresenceTrashed, presence)
	}
	t.Run("a search that shows the trash tells of it", func(t *testing.T) {
		heal := s.server.Fail(notiontest.OfKind(notiontest.KindSearch), 0, eachResult("in_trash", true))
		defer heal()
		_, removed, _ := s.changes(before.Checkpoint)
		assert.Equal(t, []string{kept}, removed)
	})
	require.NoError(t, s.Restore(trashed))
	entries, _ = s.list(s.root)
	assert.ElementsMatch(t, []string{kept, trashed, below}, idsOf(entries), "restoring brings it back")
}

func TestR069_EditDuringAListingIsNotLost(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	ids := s.many(250)
	for what, place := range map[string]int{"in the middle of the next part": 100, "at the border of the next part": 149} {
		t.Run(what, func(t *testing.T) {
			s.server.Fail(notiontest.OfKind(notiontest.KindSearch), 1, afterwards(func() {
				s.clock.Advance(time.Minute)
				assert.NoError(t, s.Edit(ids[place], paragraph("edited "+what)))
			}))
			entries, listed := s.list(s.root)
			assert.Len(t, entries, len(slices.Compact(slices.Sorted(slices.Values(idsOf(entries))))), "nothing comes twice")
			assert.GreaterOrEqual(t, len(entries), len(ids)-1)
			changed, removed, _ := s.changes(listed.Checkpoint)
			assert.Contains(t, append(idsOf(entries), idsOf(changed)...), ids[place])
			assert.Contains(t, idsOf(changed), ids[place], "the next incremental listing sees the edit")
			assert.Empty(t, removed)
		})
	}
}

func TestR084_ListingThatFailsGivesNoCheckpoint(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	s.many(20)
	first, listed := s.list(s.root)
	require.Len(t, first, 20)
	yields := 0
	failed, err := s.src.Changes(t.Context(), s.root, "2026-11-30T09:00:00Z", func([]source.Entry, []string) error {
		yields++
		if yields == 2 {
			return errEnough
		}
		return nil
	})
	require.ErrorIs(t, err, errEnough)
	assert.Empty(t, failed.Checkpoint, "what was not taken is not covered")
	s.server.Fail(notiontest.OfKind(notiontest.KindSearch), 0, notiontest.BadGateway())
	failed, err = s.src.Changes(t.Context(), s.root, listed.Checkpoint, nil)
	require.Error(t, err)
	assert.Empty(t, failed.Checkpoint)
}

func TestR085_CheckpointCoversNothingThatCameDuringTheListing(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	s.many(150)
	s.clock.Advance(10 * time.Minute)
	var late string
	s.server.Fail(notiontest.OfKind(notiontest.KindSearch), 1, afterwards(func() { late = s.page("", "Late") }))
	entries, listed := s.list(s.root)
	require.NotContains(t, idsOf(entries), late)
	changed, _, _ := s.changes(listed.Checkpoint)
	assert.Contains(t, idsOf(changed), late)
}

func TestR085_ResumedListingKeepsTheCheckpointOfItsBeginning(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	ids := s.many(20)
	var taken []source.Entry
	var cursor string
	_, err := s.src.List(t.Context(), s.root, "", func(batch source.Batch) error {
		taken, cursor = append(taken, batch.Entries...), batch.Cursor
		return errEnough
	})
	require.ErrorIs(t, err, errEnough)
	edited := taken[0].SourceID
	s.clock.Advance(time.Hour)
	require.NoError(t, s.Edit(edited, paragraph("edited after its batch was taken")))
	s.clock.Advance(time.Hour)
	s.page("", "Newest")

	listed, err := s.src.List(t.Context(), s.root, cursor, func(batch source.Batch) error {
		taken = append(taken, batch.Entries...)
		return nil
	})
	require.NoError(t, err)
	assert.Subset(t, idsOf(taken), ids)
	changed, _, _ := s.changes(listed.Checkpoint)
	assert.Contains(t, idsOf(changed), edited)
}

func TestR086_FullListingGoesToItsEndWhateverItsTimes(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	ids := s.many(1175)
	entries, listed := s.list(s.root)
	assert.Len(t, entries, len(ids))
	assert.Equal(t, s.clock.Now().Format(time.RFC3339), listed.Checkpoint)
	assert.LessOrEqual(t, s.server.Count(), len(ids)/100+5)
	changed, _, again := s.changes("2026-11-30T09:00:00Z")
	assert.Len(t, changed, len(ids), "an incremental listing compares with the checkpoint that it began with")
	assert.Equal(t, listed.Checkpoint, again.Checkpoint)
}

func TestR095_WhatIsReadAgainWithinTheOverlapIsUnchanged(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	file := s.AddFile("a.png", "image/png", []byte("x"))
	for i := range 10 {
		s.page("", fmt.Sprintf("Page %d", i), notiontest.Uploaded("image", file), paragraph("same"))
	}
	first, listed := s.list(s.root)
	changed, removed, again := s.changes(listed.Checkpoint)
	assert.ElementsMatch(t, first, changed, "the versions are the same")
	assert.Empty(t, removed)
	assert.Equal(t, listed.Checkpoint, again.Checkpoint)
	id := first[0].SourceID
	before := s.fetch(id)
	assert.Equal(t, before.Identity, s.fetch(id).Identity)
}

func TestR108_DeletedPagesAreToldGoneByADirectRead(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	ids := s.many(3)
	require.NoError(t, s.Delete(ids[1]))
	entries, _ := s.list(s.root)
	assert.ElementsMatch(t, []string{ids[0], ids[2]}, idsOf(entries))
	presence, err := s.src.Presence(t.Context(), s.root, ids[1])
	require.NoError(t, err)
	assert.Equal(t, source.PresenceGone, presence)
	assert.Equal(t, source.ClassNotFound, s.refused(ids[1]).Class)
}

func TestR116_NoEmptyFilterSortOrCursorIsSent(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	db := s.database("", "Tasks")
	row := s.row(db.Source, "Row", nil)
	assert.Equal(t, []string{row}, idsOf(s.fetch(db.ID).Children))
	s.list(s.root)
	require.NoError(t, s.src.Check(context.Background(), s.root))
	requests := s.server.Requests(notiontest.KindSearch, notiontest.KindQuery)
	assert.Len(t, requests, 3)
	for _, request := range requests {
		assert.Equal(t, http.StatusOK, request.Status, "the stand-in refuses filter:{}, sorts:null and start_cursor:\"\"")
	}
}
