package gdrive_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

func TestFaultR028_A_shared_drive_that_is_gone_is_seen_although_no_log_tells(t *testing.T) {
	t.Parallel()
	for what, lose := range map[string]func(s *office, drive string) error{
		"deleted":             func(s *office, drive string) error { return s.Delete(drive) },
		"left by the account": func(s *office, drive string) error { return s.LoseAccess(drive, s.ServiceAccount()) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newOffice(t, drivetest.Options{})
			drive, err := s.AddDrive("Company")
			require.NoError(t, err)
			s.root = s.at(drive)
			ids := s.docs(drive, 3)
			before := s.list(s.root)
			s.did(lose(s, drive))
			out := s.changes(s.root, before)
			assert.Equal(t, source.VerdictRootMissing, out.listed.Verdict)
			assert.NotEmpty(t, out.listed.Sentence)
			assert.Empty(t, out.listed.Checkpoint, "the old one stays")
			assert.Empty(t, out.removed)
			assert.Equal(t, source.VerdictRootMissing, s.list(s.root).listed.Verdict)
			for _, id := range ids {
				assert.Equal(t, source.PresenceUnknown, s.presence(id), "without its root a page is not known to be gone")
			}
			assert.Equal(t, source.ClassNotFound, failureOf(t, s.src.Check(t.Context(), s.root)).Class)
		})
	}
}

func TestFaultR082_A_missing_shared_drive_costs_the_other_logs_nothing(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	drives := make([]string, 0, 3)
	for _, name := range []string{"One", "Two", "Three"} {
		drive, err := s.AddDrive(name)
		require.NoError(t, err)
		s.doc(drive, "Inside", "x")
		s.shortcut(s.root.Ref, "Link", drive)
		drives = append(drives, drive)
	}
	before := s.list(s.root)
	require.Len(t, s.src.Logs(before.listed.Checkpoint), 4)
	s.did(s.Delete(drives[0]))
	own := s.doc(s.root.Ref, "Own", "x")
	there := s.doc(drives[1], "There", "x")
	out := s.changes(s.root, before)
	assert.ElementsMatch(t, []string{own, there}, out.ids())
	assert.Equal(t, source.VerdictPartUnreadable, out.listed.Verdict)
	assert.NotEmpty(t, out.listed.Sentence)
	assert.Equal(t, s.src.Logs(before.listed.Checkpoint), s.src.Logs(out.listed.Checkpoint), "if it comes back, nothing is missed")

	// A full listing can't take the drive's token either.
	s.Fail(func(r drivetest.Request) bool {
		return r.Kind == drivetest.KindStartToken && r.Query.Get("driveId") == drives[2]
	}, 0,
		drivetest.Refuse(drivetest.NotFound))
	all := s.list(s.root)
	assert.Equal(t, source.VerdictPartUnreadable, all.listed.Verdict)
	assert.Contains(t, all.ids(), there)
	assert.Equal(t, []string{"user", drives[1]}, s.src.Logs(all.listed.Checkpoint))
}

func TestFaultR112_Folders_above_the_root_are_in_no_path(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	a := s.folder(s.root.Ref, "A")
	b := s.folder(a, "B")
	beside, page := s.doc(a, "Beside", "x"), s.doc(b, "Page", "x")
	for _, c := range []struct {
		root string
		ids  []string
		path string
	}{{b, []string{page}, "Page"}, {a, []string{b, beside, page}, "B/Page"}, {b, []string{page}, "Page"}} {
		all := s.list(s.at(c.root))
		assert.ElementsMatch(t, c.ids, all.ids())
		assert.Equal(t, c.path, all.entry(t, page).Path)
		for _, e := range all.entries {
			assert.NotContains(t, []string{s.root.Ref, c.root}, e.ParentSourceID, "the chain ends below the root")
		}
		read, err := s.src.Fetch(t.Context(), s.at(c.root), page)
		require.NoError(t, err)
		assert.Equal(t, all.entry(t, page), read.Entry)
		s.did(s.EditDoc(page, "edited"))
		assert.Equal(t, c.path, s.changes(s.at(c.root), all).entry(t, page).Path)
	}
	presence, err := s.src.Presence(t.Context(), s.at(b), beside)
	require.NoError(t, err)
	assert.Equal(t, source.PresenceMoved, presence, "narrowing removes what fell out")
	_, err = s.src.Fetch(t.Context(), s.at(b), beside)
	assert.Equal(t, source.ClassNotFound, failureOf(t, err).Class, "and what is outside isn't read")
}

func TestFaultR063_What_lies_in_the_trash_is_not_live(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	folder := s.folder(s.root.Ref, "Folder")
	page := s.doc(folder, "Page", "x")
	require.Contains(t, s.list(s.root).ids(), page)
	s.did(s.Trash(folder))
	assert.Empty(t, s.list(s.root).ids())
	assert.Equal(t, source.PresenceTrashed, s.presence(page))
	assert.Equal(t, source.ClassNotFound, s.refused(page).Class)
	s.did(s.Restore(folder))
	assert.Contains(t, s.list(s.root).ids(), page)
	assert.Equal(t, source.PresenceAlive, s.presence(page))
}
