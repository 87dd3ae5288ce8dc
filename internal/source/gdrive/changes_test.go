package gdrive_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
	"github.com/loresync/loresync/internal/source/sourcetest"
)

func TestChanges_cost_the_same_however_many_files_there_are(t *testing.T) {
	t.Parallel()
	for what, shared := range map[string]int{"My Drive": 2, "a shared drive": 3} {
		for _, n := range []int{1, 120} {
			t.Run(fmt.Sprintf("%s with %d files", what, n), func(t *testing.T) {
				t.Parallel()
				s := newOffice(t, drivetest.Options{})
				if shared == 3 {
					drive, err := s.AddDrive("Company")
					require.NoError(t, err)
					s.root = s.at(drive)
				}
				ids := s.docs(s.folder(s.root.Ref, "Folder"), n)
				all := s.list(s.root)
				s.ResetLog()
				out := s.changes(s.root, all)
				assert.Empty(t, out.entries)
				assert.Empty(t, out.removed)
				assert.Equal(t, source.VerdictComplete, out.listed.Verdict)
				assert.Equal(t, shared, s.Count(), "the root, and each log: %v", s.Counts())

				s.did(s.EditDoc(ids[0], "edited"))
				s.ResetLog()
				out = s.changes(s.root, all)
				assert.Equal(t, ids[:1], out.ids())
				assert.LessOrEqual(t, s.Count(), shared+1, "the page's folder is asked for: %v", s.Counts())
			})
		}
	}
}

func TestChanges_tells_what_is_below_the_root_and_what_left_it(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{RepeatChanges: true})
	folder, outside := s.folder(s.root.Ref, "Folder"), s.folder("", "Outside")
	ids := s.docs(folder, 7)
	foreign := s.doc(outside, "Foreign", "x")
	all := s.list(s.root)
	edited, renamed, trashed, deleted, movedOut, lost, touched := ids[0], ids[1], ids[2], ids[3], ids[4], ids[5], ids[6]
	s.did(s.EditDoc(edited, "once"))
	s.did(s.EditDoc(edited, "twice"))
	s.did(s.Rename(renamed, "Another name"))
	s.did(s.Trash(trashed))
	s.did(s.Delete(deleted))
	s.did(s.Move(movedOut, outside))
	s.did(s.LoseAccess(lost, s.ServiceAccount()))
	s.did(s.Touch(touched))
	s.did(s.EditDoc(foreign, "nobody's business"))
	came := s.doc(outside, "Came in", "x")
	s.did(s.Move(came, folder))
	made := s.doc(s.root.Ref, "Made", "x")
	brief := s.doc(folder, "Brief", "x")
	s.did(s.Delete(brief))
	out := s.changes(s.root, all)
	assert.ElementsMatch(t, []string{edited, renamed, touched, came, made}, out.ids())
	assert.ElementsMatch(t, []string{trashed, deleted, movedOut, lost}, out.removed)
	assert.Equal(t, "Folder/Another name", out.entry(t, renamed).Path)
	assert.NotEqual(t, all.entry(t, edited).Version, out.entry(t, edited).Version)
	assert.Equal(t, source.VerdictComplete, out.listed.Verdict)
	now := s.list(s.root)
	for _, e := range out.entries {
		assert.Equal(t, now.entry(t, e.SourceID), e, "a change says what a listing says")
	}
	for _, id := range out.removed {
		assert.Contains(t, []source.Presence{source.PresenceGone, source.PresenceTrashed, source.PresenceMoved}, s.presence(id), id)
	}
	out2, err := s.tryChanges(s.src, s.root, seen{entries: now.entries, listed: out.listed})
	require.NoError(t, err)
	assert.Empty(t, out2.entries, "the new checkpoint is behind all that was told")
	s.did(s.Restore(trashed))
	s.did(s.RegainAccess(lost, s.ServiceAccount()))
	out2, err = s.tryChanges(s.src, s.root, seen{entries: now.entries, listed: out.listed})
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{trashed, lost}, out2.ids(), "what comes back is told")
}

func TestChanges_a_folder_takes_its_fifty_files_along(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		away, back func(s *office, id string) error
	}{
		"moved out": {
			func(s *office, id string) error { return s.Move(id, "") }, func(s *office, id string) error { return s.Move(id, s.root.Ref) },
		},
		"trashed": {
			func(s *office, id string) error { return s.Trash(id) }, func(s *office, id string) error { return s.Restore(id) },
		},
		"not shared any more": {
			func(s *office, id string) error { return s.LoseAccess(id, s.ServiceAccount()) },
			func(s *office, id string) error { return s.RegainAccess(id, s.ServiceAccount()) },
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newOffice(t, drivetest.Options{})
			folder := s.folder(s.root.Ref, "Folder")
			below := s.folder(folder, "Below")
			files := append(s.docs(folder, 25), s.docs(below, 25)...)
			kept := s.doc(s.root.Ref, "Kept", "x")
			before := s.list(s.root)
			s.did(c.away(s, folder))
			s.ResetLog()
			out := s.changes(s.root, before)
			assert.Empty(t, out.entries)
			assert.ElementsMatch(t, append(files, folder, below), out.removed)
			assert.Less(t, s.Count(), 10, "%v", s.Counts())

			s.ResetLog()
			for _, id := range out.removed {
				assert.NotEqual(t, source.PresenceAlive, s.presence(id))
				assert.NotEqual(t, source.PresenceUnknown, s.presence(id))
			}
			assert.Equal(t, source.PresenceAlive, s.presence(kept))
			assert.LessOrEqual(t, s.Count(), 2*len(out.removed)+10, "fifty files don't cost fifty climbs: %v", s.Counts())

			// The store still knows what it removed: it may be restored.
			s.did(c.back(s, folder))
			back := s.changes(s.root, seen{entries: before.entries, listed: out.listed})
			assert.ElementsMatch(t, append(files, folder, below), back.ids())
			assert.Empty(t, back.removed)
			assert.Equal(t, s.list(s.root).entry(t, files[30]), back.entry(t, files[30]))
		})
	}
}

func TestChanges_what_moved_elsewhere_before_its_folder_went_stays(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	folder := s.folder(s.root.Ref, "Folder")
	inner := s.folder(folder, "Inner")
	saved, lost := s.doc(inner, "Saved", "x"), s.doc(folder, "Lost", "x")
	before := s.list(s.root)
	s.did(s.Move(inner, s.root.Ref))
	s.did(s.Trash(folder))
	out := s.changes(s.root, before)
	assert.ElementsMatch(t, []string{inner, saved}, out.ids())
	assert.ElementsMatch(t, []string{folder, lost}, out.removed)
	assert.Equal(t, "Inner/Saved", out.entry(t, saved).Path)
}

func TestChanges_a_renamed_folder_has_its_pages_told_with_their_new_paths_and_old_versions(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	folder := s.folder(s.root.Ref, "Old")
	page := s.doc(s.folder(folder, "Inner"), "Page", "x")
	before := s.list(s.root)
	s.did(s.Rename(folder, "New"))
	out := s.changes(s.root, before)
	assert.Equal(t, "New/Inner/Page", out.entry(t, page).Path)
	assert.Equal(t, before.entry(t, page).Version, out.entry(t, page).Version, "so that nothing is read again")
	require.Len(t, out.entries, 3)
	assert.Equal(t, folder, out.entries[0].SourceID, "parents first")
}

func TestChanges_of_shortcuts_are_those_of_what_they_stand_for(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	links := s.folder(s.root.Ref, "Links")
	file, folder := s.doc("", "File", "x"), s.folder("", "Folder")
	below := s.doc(folder, "Below", "x")
	own := s.doc(s.root.Ref, "Own", "x")
	empty := s.list(s.root)
	toFile, toFolder := s.shortcut(links, "Link", file), s.shortcut(links, "Link", folder)
	s.shortcut(links, "Link", own)
	dead := s.shortcut(links, "Dead", "1nobody-has-this-id-anywhere")
	out := s.changes(s.root, empty)
	assert.ElementsMatch(t, []string{file, folder, below, dead}, out.ids())
	assert.NotNil(t, out.entry(t, dead).Skip)
	assert.Equal(t, "Links/Folder/Below", out.entry(t, below).Path)
	full := s.list(s.root)
	for _, e := range out.entries {
		assert.Equal(t, full.entry(t, e.SourceID), e)
	}

	s.did(s.EditDoc(file, "edited"))
	s.did(s.EditDoc(below, "edited"))
	out = s.changes(s.root, full)
	assert.ElementsMatch(t, []string{file, below}, out.ids(), "an edit of a target is one of the tree")
	assert.Empty(t, out.removed)

	s.did(s.Trash(toFile))
	s.did(s.Trash(toFolder))
	out = s.changes(s.root, full)
	assert.Contains(t, out.removed, file)
	assert.Contains(t, out.removed, folder)
	assert.Contains(t, out.removed, below)
	assert.Empty(t, out.ids())
	fresh := s.source()
	for _, id := range []string{file, folder, below} {
		presence, err := fresh.Presence(t.Context(), s.root, id)
		require.NoError(t, err)
		assert.Equal(t, source.PresenceMoved, presence)
	}
}

func TestFaultR030_A_refused_token_asks_for_a_full_listing(t *testing.T) {
	t.Parallel()
	for _, status := range []int{http.StatusBadRequest, http.StatusGone} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			s := newOffice(t, drivetest.Options{})
			ids := s.docs(s.root.Ref, 2)
			before := s.list(s.root)
			s.did(s.Delete(ids[0]))
			made := s.doc(s.root.Ref, "Made", "x")
			s.ForgetChanges(status)
			_, err := s.tryChanges(s.src, s.root, before)
			assert.Equal(t, source.ClassCheckpointExpired, failureOf(t, err).Class)
			after := s.list(s.root)
			assert.ElementsMatch(t, []string{ids[1], made}, after.ids())
			assert.Empty(t, s.changes(s.root, after).ids(), "the new token is good")
		})
	}
	s := newOffice(t, drivetest.Options{})
	for _, said := range []string{"", "2026-12-01T00:00:00Z", "{}", `{"user":""}`, `{"user":"forged"}`, "[]"} {
		_, err := s.tryChanges(s.src, s.root, seen{listed: source.Listed{Checkpoint: said}})
		assert.Equal(t, source.ClassCheckpointExpired, failureOf(t, err).Class, "%q", said)
	}
}

func TestFaultR045_An_entry_without_a_file_is_a_removal(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	page := s.doc(s.root.Ref, "Page", "x")
	before := s.list(s.root)
	s.did(s.Delete(page))
	assert.Equal(t, []string{page}, s.changes(s.root, before).removed)
}

func TestFaultR088_All_pages_of_a_log_are_read_before_its_token_is_kept(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{PageCap: 30})
	before := s.list(s.root)
	ids := s.docs(s.root.Ref, 70)
	out := s.changes(s.root, before)
	assert.ElementsMatch(t, ids, out.ids())
	s.Break(drivetest.Fault{Match: drivetest.OfKind(drivetest.KindChanges), After: 1, Effects: []drivetest.Effect{drivetest.Unavailable()}})
	_, err := s.tryChanges(s.src, s.root, before)
	assert.Equal(t, source.ClassUnavailable, failureOf(t, err).Class, "half a log gives no checkpoint")
}

func TestChanges_hands_back_what_its_caller_says(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	before := s.list(s.root)
	s.docs(s.root.Ref, 9)
	_, err := s.src.Changes(t.Context(), s.root, before.listed.Checkpoint, func([]source.Entry, []string) error { return errYield })
	assert.Equal(t, errYield, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.src.Changes(ctx, s.root, before.listed.Checkpoint, func([]source.Entry, []string) error { return nil })
	require.ErrorIs(t, err, context.Canceled)
}

func TestChanges_of_shared_drives_themselves(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	linked, err := s.AddDrive("Linked")
	require.NoError(t, err)
	page := s.doc(linked, "Page", "x")
	s.shortcut(s.root.Ref, "Link", linked)
	before := s.list(s.root)
	s.did(s.Rename(linked, "Renamed"))
	out := s.changes(s.root, before)
	assert.Equal(t, "Linked/Page", before.entry(t, page).Path)
	assert.Equal(t, "Renamed/Page", out.entry(t, page).Path, "the drive's name is in the path")
	assert.Equal(t, s.list(s.root).entry(t, page), out.entry(t, page))

	lost := func(id string) drivetest.Effect {
		return drivetest.Rewrite(func(body drivetest.Object) {
			body["changes"] = []any{drivetest.Object{"changeType": "drive", "removed": true, "driveId": id, "time": "2026-12-01T09:00:00Z"}}
		})
	}
	s.Fail(drivetest.OfKind(drivetest.KindChanges), 1, lost(linked))
	out = s.changes(s.root, before)
	assert.Equal(t, source.VerdictPartUnreadable, out.listed.Verdict)
	assert.Empty(t, out.removed)

	s.root = s.at(linked)
	before = s.list(s.root)
	s.Fail(drivetest.OfKind(drivetest.KindChanges), 1, lost(linked))
	assert.Equal(t, source.VerdictRootMissing, s.changes(s.root, before).listed.Verdict)
	inDrive := func(r drivetest.Request) bool {
		return r.Kind == drivetest.KindChanges && r.Query.Get("driveId") == linked
	}
	for _, reason := range []drivetest.Reason{drivetest.Invalid, drivetest.NotFound} {
		s.Fail(inDrive, 1, drivetest.Refuse(reason))
		_, err = s.tryChanges(s.src, s.root, before)
		assert.Equal(t, source.ClassCheckpointExpired, failureOf(t, err).Class, "the drive is there, so it is the token: %s", reason)
	}
	s.Fail(drivetest.OfKind(drivetest.KindStartToken), 0, drivetest.Refuse(drivetest.NotFound))
	assert.Equal(t, source.VerdictRootMissing, s.list(s.root).listed.Verdict, "its log is gone already")
}

func TestChanges_a_page_that_moves_between_drives_is_there(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	linked, err := s.AddDrive("Linked")
	require.NoError(t, err)
	s.shortcut(s.root.Ref, "Link", linked)
	page := s.doc(s.root.Ref, "Page", "x")
	before := s.list(s.root)
	s.did(s.Move(page, linked))
	out := s.changes(s.root, before)
	assert.Equal(t, "Linked/Page", out.entry(t, page).Path)
	assert.NotContains(t, out.removed, page)
}

func TestChanges_end_what_a_first_listing_told(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	above, left := s.folder(s.root.Ref, "Above"), s.folder(s.root.Ref, "Left")
	renamed, trashed, below := s.doc(s.root.Ref, "Old name", "x"), s.doc(s.root.Ref, "Trashed", "x"), s.doc(above, "Below", "x")
	lost, same := s.doc(left, "Lost", "x"), s.doc(s.root.Ref, "Same", "x")
	var notes sourcetest.Notes
	s.root = notes.Noting(s.root)
	all := s.list(s.root)
	require.Equal(t, 5, notes.Len())
	s.did(s.Rename(renamed, "New name"))
	s.did(s.Rename(above, "Over"))
	s.did(s.Trash(trashed))
	s.did(s.Move(left, s.folder("", "Elsewhere")))
	s.changes(s.root, all)
	assert.Equal(t, 1, notes.Len())
	s.src = s.source() // another process, which remembers no folders
	assert.Equal(t, "New name", s.fetch(renamed).Entry.Title)
	assert.Equal(t, "Over/Below", s.fetch(below).Entry.Path)
	assert.Equal(t, source.ClassNotFound, s.refused(trashed).Class)
	assert.Equal(t, source.ClassNotFound, s.refused(lost).Class)
	s.ResetLog()
	s.fetch(same)
	assert.Zero(t, s.Count(drivetest.KindGet), "nothing was told of it")
}

func TestChanges_a_shortcut_goes_with_its_target(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	gone, hidden, twice := s.doc("", "Gone", "x"), s.doc("", "Hidden", "x"), s.doc("", "Twice", "x")
	links := []string{s.shortcut(s.root.Ref, "1", gone), s.shortcut(s.root.Ref, "2", hidden), s.shortcut(s.root.Ref, "3", twice)}
	s.shortcut(s.root.Ref, "4", twice)
	before := s.list(s.root)
	s.did(s.Delete(gone))
	for _, id := range links {
		s.did(s.Trash(id))
	}
	s.Fail(drivetest.About(hidden), 0, drivetest.Refuse(drivetest.InsufficientFile))
	out := s.changes(s.root, before)
	assert.Equal(t, []string{gone}, out.removed, "of what can't be seen nothing is said, and another shortcut keeps its target")
}
