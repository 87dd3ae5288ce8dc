package notion_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

func TestRootsOfEveryKindListWhatIsBelowThem(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	page := s.page("", "Page")
	child, beside := s.page(page, "Child"), s.page("", "Beside")
	db := s.database(child, "Tasks")
	second, err := s.AddDataSource(db.ID, "Archive")
	require.NoError(t, err)
	row, other := s.row(db.Source, "Row", nil), s.row(second, "Other", nil)
	below := s.page(row, "Below the row")

	for what, c := range map[string]struct {
		ref string
		ids []string
		top string
	}{
		"a page":        {page, []string{page, child, db.ID, row, other, below}, page},
		"a database":    {db.ID, []string{db.ID, row, other, below}, db.ID},
		"a data source": {db.Source, []string{db.ID, row, below}, db.ID},
		"a row":         {row, []string{row, below}, row},
		"the workspace": {notion.Workspace, []string{page, child, beside, db.ID, row, other, below}, page},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			root := s.below(c.ref)
			entries, listed := s.list(root)
			assert.ElementsMatch(t, c.ids, idsOf(entries))
			assert.Equal(t, source.VerdictComplete, listed.Verdict)
			require.NoError(t, s.src.Check(t.Context(), root))
			assert.Empty(t, entryOf(t, entries, c.top).ParentSourceID, "the root hangs below nothing")
			read, err := s.src.Fetch(t.Context(), root, c.top)
			require.NoError(t, err)
			assert.Empty(t, read.Entry.ParentSourceID, "and reading it says the same")
			for _, entry := range entries {
				if entry.ParentSourceID != "" {
					assert.Contains(t, c.ids, entry.ParentSourceID, "every parent lies in the folder")
				}
			}
		})
	}
	t.Run("a data source shows its own columns and rows alone", func(t *testing.T) {
		t.Parallel()
		read, err := s.src.Fetch(t.Context(), s.below(db.Source), db.ID)
		require.NoError(t, err)
		assert.Equal(t, []string{row}, idsOf(read.Children))
		assert.NotContains(t, read.Markdown, "Archive")
		assert.Zero(t, reportOf(t, read).Unreadable)
	})
}

func TestRootThatSearchDoesNotKnowIsListedAllTheSame(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	page := s.page("", "Page")
	child := s.page(page, "Child")
	db := s.database("", "Tasks")
	second, err := s.AddDataSource(db.ID, "Archive")
	require.NoError(t, err)
	row := s.row(db.Source, "Row", nil)
	for _, id := range []string{page, db.ID, db.Source, second} {
		require.NoError(t, s.Hide(id))
	}
	for _, c := range []struct {
		ref, top, below string
	}{{page, page, child}, {db.ID, db.ID, row}, {db.Source, db.ID, row}} {
		entries, listed := s.list(s.below(c.ref))
		assert.ElementsMatch(t, []string{c.top, c.below}, idsOf(entries), "its pages are found by reading it")
		assert.Equal(t, source.VerdictComplete, listed.Verdict)
		top := entryOf(t, entries, c.top)
		assert.Empty(t, top.ParentSourceID)
		assert.False(t, top.ParentUnknown)
		assert.NotEmpty(t, top.Title)
	}
}

func TestRootThatSearchDoesNotKnowIsAChangeOnlyWhenItWasEdited(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	page := s.page("", "Page")
	require.NoError(t, s.Hide(page))
	s.root = s.below(page)
	_, listed := s.list(s.root)
	s.clock.Advance(time.Hour)
	s.page("", "Beside")
	_, _, later := s.changes(listed.Checkpoint)
	changed, _, _ := s.changes(later.Checkpoint)
	assert.Empty(t, changed)
	s.clock.Advance(time.Hour)
	require.NoError(t, s.Edit(page, paragraph("edited")))
	changed, _, _ = s.changes(later.Checkpoint)
	assert.Equal(t, []string{page}, idsOf(changed))
}

func TestRootThatIsNotThereIsAVerdictAndRemovesNothing(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		lose     func(*space, string) error
		sentence string
	}{
		"deleted":      {func(s *space, id string) error { return s.Delete(id) }, "share it"},
		"unshared":     {func(s *space, id string) error { return s.Unshare(id) }, "share it"},
		"in the trash": {func(s *space, id string) error { return s.Trash(id) }, "trash"},
	} {
		for kind, add := range map[string]func(*space) string{
			"a page": func(s *space) string { return s.page("", "Page") }, "a database": func(s *space) string { return s.database("", "Tasks").ID },
			"a data source": func(s *space) string { return s.database("", "Tasks").Source },
		} {
			t.Run(kind+" "+what, func(t *testing.T) {
				t.Parallel()
				s := plainSpace(t)
				id := add(s)
				root := s.below(id)
				require.NoError(t, c.lose(s, id))
				entries, listed := s.list(root)
				assert.Empty(t, entries)
				assert.Equal(t, source.VerdictRootMissing, listed.Verdict)
				assert.Contains(t, listed.Sentence, c.sentence)
				assert.Empty(t, listed.Checkpoint)
				changed, err := s.src.Changes(t.Context(), root, "2026-11-30T09:00:00Z", func([]source.Entry, []string) error {
					t.Error("nothing is known of what is below")
					return nil
				})
				require.NoError(t, err)
				assert.Equal(t, source.VerdictRootMissing, changed.Verdict)
				assert.Equal(t, source.ClassNotFound, failureOf(t, s.src.Check(t.Context(), root)).Class)
			})
		}
	}
}

func TestRootBehindTroubleIsAnErrorAndNotAMissingRoot(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page")
	s.server.Fail(notiontest.About(id), 0, notiontest.BadGateway())
	_, _, err := s.tryList(s.below(id))
	assert.Equal(t, source.ClassUnavailable, failureOf(t, err).Class)
}

func TestCheckpointThatCannotBeReadAsksForEverything(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	_, err := s.src.Changes(t.Context(), s.root, "yesterday", nil)
	assert.Equal(t, source.ClassCheckpointExpired, failureOf(t, err).Class)
}

func TestResolveKnowsEveryFormOfAnAddress(t *testing.T) {
	t.Parallel()
	const bare, want = "0fed2096ebf44622b37d18527bdacda1", "0fed2096-ebf4-4622-b37d-18527bdacda1"
	src := notion.New(notion.Options{})
	for _, ref := range []string{
		bare, want, strings.ToUpper(bare), "  " + bare + "\n", "/" + bare,
		"https://www.notion.so/" + bare, "https://www.notion.so/acme/Some-Title-" + bare, "https://www.notion.so/Some-Title-" + bare + "?pvs=4",
		"https://notion.so/acme/" + bare + "?v=11111111111111111111111111111111", "https://www.notion.so/" + want,
		"https://acme.notion.site/Title-" + bare, "https://www.notion.so/Title-" + bare + "#22222222222222222222222222222222",
		"https://www.notion.so/acme/11111111111111111111111111111111?v=22222222222222222222222222222222&p=" + bare + "&pm=s",
		"https://app.notion.com/p/acme/Title-" + bare, "https://www.notion.so/" + bare + "/", "https://www.notion.so/%E4%B8%96%E7%95%8C-" + bare,
		"http://127.0.0.1:8080/" + bare, "https://www.notion.so/Caf%C3%A9-2026-" + bare, "HTTPS://WWW.NOTION.SO/" + bare,
	} {
		id, ok := src.Resolve(source.Root{}, ref)
		assert.True(t, ok, ref)
		assert.Equal(t, want, id, ref)
		canonical, err := src.Canonical(ref)
		require.NoError(t, err, ref)
		assert.Equal(t, want, canonical)
	}
	for _, ref := range []string{
		"", "workspace of ours", "https://example.org/" + bare, "https://notion.so.example.org/" + bare, "https://www.notion.so/", bare[:31], bare + "0",
		"https://www.notion.so/Title", "x" + bare[1:], "https://docs.google.com/document/d/" + bare,
	} {
		_, ok := src.Resolve(source.Root{}, ref)
		assert.False(t, ok, ref)
		_, err := src.Canonical(ref)
		require.Error(t, err, ref)
	}
	whole, err := src.Canonical(" Workspace ")
	require.NoError(t, err)
	assert.Equal(t, notion.Workspace, whole)
}
