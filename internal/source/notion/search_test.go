package notion_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

func TestSearchThatIsCappedIsMetFromBothEnds(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		pages   int
		verdict source.Verdict
		seen    int
	}{
		"below the cap":                {40, source.VerdictComplete, 40},
		"exactly at the cap":           {50, source.VerdictComplete, 50},
		"where the ends meet":          {90, source.VerdictComplete, 90},
		"where they just don't meet":   {100, source.VerdictCapped, 100},
		"where something lies between": {130, source.VerdictCapped, 100},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t, notiontest.ServerOptions{ResultCap: 50})
			s.many(c.pages)
			entries, listed := s.list(s.root)
			assert.Len(t, entries, c.seen)
			assert.Equal(t, c.verdict, listed.Verdict)
			assert.Equal(t, c.verdict != source.VerdictComplete, listed.Sentence != "", "a verdict that isn't complete says why")
		})
	}
}

func TestChangesBeyondTheCapAreAnIncompleteVerdict(t *testing.T) {
	t.Parallel()
	s := newSpace(t, notiontest.ServerOptions{ResultCap: 50})
	s.many(80)
	changed, _, listed := s.changes("2026-11-30T09:00:00Z")
	assert.Len(t, changed, 50)
	assert.Equal(t, source.VerdictCapped, listed.Verdict)
}

func TestStrangeResultsMakeTheVerdictIncompleteAndSpoilNothingElse(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		result  any
		verdict source.Verdict
	}{
		"null":                  {nil, source.VerdictPartUnreadable},
		"a number":              {7, source.VerdictPartUnreadable},
		"a user":                {notiontest.Object{"object": "user", "id": "u"}, source.VerdictPartUnreadable},
		"an object without id":  {notiontest.Object{"object": "page"}, source.VerdictPartUnreadable},
		"a kind of the future":  {notiontest.Object{"object": "hologram", "id": "h"}, source.VerdictPartUnreadable},
		"an unreadable time":    {notiontest.Object{"object": "page", "id": "odd", "last_edited_time": "", "parent": nil}, source.VerdictComplete},
		"properties of a shape": {notiontest.Object{"object": "page", "id": "odd", "properties": []any{1}, "parent": 7}, source.VerdictComplete},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := plainSpace(t)
			ids := s.many(3)
			s.server.Fail(notiontest.OfKind(notiontest.KindSearch), 0, notiontest.Rewrite(func(body notiontest.Object) {
				if results, _ := body["results"].([]any); len(results) > 0 {
					body["results"] = append([]any{c.result}, results...)
				}
			}))
			entries, listed := s.list(s.root)
			assert.Subset(t, idsOf(entries), ids)
			assert.Equal(t, c.verdict, listed.Verdict)
			changed, _, listed := s.changes("2026-11-30T09:00:00Z")
			assert.Subset(t, idsOf(changed), ids, "it ends no incremental listing either")
			assert.Equal(t, c.verdict, listed.Verdict)
		})
	}
}

func TestUnknownPropertiesAndNullResultsSpoilNoPage(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	db := s.database("", "Tasks")
	row := s.row(db.Source, "Row", nil, paragraph("text"))
	s.server.Fail(notiontest.OfKind(notiontest.KindPage, notiontest.KindSearch), 0, notiontest.UnknownProperty("Future", "hologram"))
	s.server.Fail(notiontest.OfKind(notiontest.KindQuery, notiontest.KindChildren), 0, notiontest.NullResult())
	entries, listed := s.list(s.root)
	assert.Equal(t, source.VerdictComplete, listed.Verdict)
	assert.Contains(t, idsOf(entries), row)
	page := s.fetch(row)
	assert.Contains(t, page.Markdown, "text")
	assert.Contains(t, page.Markdown, "Future")
	assert.Positive(t, reportOf(t, page).Unreadable)
	rows := s.fetch(db.ID)
	assert.Equal(t, []string{row}, idsOf(rows.Children))
	assert.Positive(t, reportOf(t, rows).Unreadable)
}

func TestPlainTextIsNotTakenForTheEndOfASearch(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	s.many(3)
	s.server.Fail(notiontest.OfKind(notiontest.KindSearch), 0, saying(http.StatusOK, "application/json", `{"object":"error","status":500}`))
	_, _, err := s.tryList(s.root)
	assert.Equal(t, source.ClassUnavailable, failureOf(t, err).Class, "an error in the clothes of a success lists nothing")
}

func TestQueryThatIsCappedIsSplitByTheTimeOfCreationAndLosesNoRow(t *testing.T) {
	t.Parallel()
	s := newSpace(t, notiontest.ServerOptions{ResultCap: 50})
	db := s.database("", "Tasks")
	rows := make([]string, 0, 230)
	for i := range 230 {
		if i%7 == 0 {
			s.clock.Advance(time.Minute)
		}
		rows = append(rows, s.row(db.Source, fmt.Sprintf("Row %d", i), nil))
	}
	page := s.fetch(db.ID)
	assert.ElementsMatch(t, rows, idsOf(page.Children))
	assert.Zero(t, reportOf(t, page).Truncated)
	assert.LessOrEqual(t, s.server.Count(notiontest.KindQuery), 8)
}

func TestMoreRowsInOneMinuteThanAQueryGivesAreSaidToBeMissing(t *testing.T) {
	t.Parallel()
	s := newSpace(t, notiontest.ServerOptions{ResultCap: 50})
	db := s.database("", "Tasks")
	for i := range 80 {
		s.row(db.Source, fmt.Sprintf("Row %d", i), nil)
	}
	s.clock.Advance(time.Minute)
	later := s.row(db.Source, "Later", nil)
	page := s.fetch(db.ID)
	assert.Len(t, page.Children, 51)
	assert.Contains(t, idsOf(page.Children), later, "what came after that minute is not lost with it")
	assert.Positive(t, reportOf(t, page).Truncated)
}

func TestRowsThatCannotBeReadOrLieInTheTrashDoNotEndASplitQuery(t *testing.T) {
	t.Parallel()
	s := newSpace(t, notiontest.ServerOptions{ResultCap: 50})
	db := s.database("", "Tasks")
	rows := make([]string, 0, 120)
	for i := range 120 {
		s.clock.Advance(time.Minute)
		rows = append(rows, s.row(db.Source, fmt.Sprintf("Row %d", i), nil))
	}
	// The whole second portion of rows is shown in the trash.
	s.server.Break(notiontest.Fault{
		Match: notiontest.OfKind(notiontest.KindQuery), After: 1, Times: 1, Effects: []notiontest.Effect{
			eachResult("in_trash", true),
		},
	})
	assert.Subset(t, idsOf(s.fetch(db.ID).Children), append(rows[:50:50], rows[100:]...))
}

func TestCappedQueryWhoseRowsHaveNoTimesEnds(t *testing.T) {
	t.Parallel()
	s := newSpace(t, notiontest.ServerOptions{ResultCap: 50})
	db := s.database("", "Tasks")
	for i := range 80 {
		s.row(db.Source, fmt.Sprintf("Row %d", i), nil)
	}
	s.server.Fail(notiontest.OfKind(notiontest.KindQuery), 0, eachResult("created_time", ""))
	page := s.fetch(db.ID)
	assert.Len(t, page.Children, 50)
	assert.Positive(t, reportOf(t, page).Truncated)
	assert.Equal(t, 1, s.server.Count(notiontest.KindQuery))
}

func TestWikiRowsThatAreDatabasesAreChildren(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	wiki := s.database("", "Wiki")
	inner := s.database(wiki.Source, "A database in the wiki")
	page := s.row(wiki.Source, "A page in the wiki", nil)
	row := s.row(inner.Source, "A row of the inner one", nil)

	children := s.fetch(wiki.ID).Children
	assert.ElementsMatch(t, []string{inner.ID, page}, idsOf(children))
	assert.Equal(t, wiki.ID, entryOf(t, children, inner.ID).ParentSourceID)
	read := s.fetch(inner.ID)
	assert.Equal(t, "A database in the wiki", read.Entry.Title)
	assert.Equal(t, wiki.ID, read.Entry.ParentSourceID)
	assert.Equal(t, []string{row}, idsOf(read.Children))

	root := s.below(wiki.ID)
	entries, _ := s.list(root)
	assert.ElementsMatch(t, []string{wiki.ID, inner.ID, page, row}, idsOf(entries))
	presence, err := s.src.Presence(t.Context(), root, row)
	require.NoError(t, err)
	assert.Equal(t, source.PresenceAlive, presence)
}

func TestDataSourceThatIsNotSharedIsNamedAndCostsTheOthersNothing(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	db := s.database("", "Tasks")
	secret, err := s.AddDataSource(db.ID, "Secret")
	require.NoError(t, err)
	row := s.row(db.Source, "Row", nil)
	s.row(secret, "Hidden", nil)
	require.NoError(t, s.Unshare(secret))
	s.server.Fail(notiontest.OfKind(notiontest.KindDatabase), 0, notiontest.Rewrite(func(body notiontest.Object) {
		sources, _ := body["data_sources"].([]any)
		body["data_sources"] = append([]any{notiontest.Object{"id": secret, "name": "Secret"}}, sources...)
	}))
	page := s.fetch(db.ID)
	assert.Equal(t, []string{row}, idsOf(page.Children))
	assert.Contains(t, string(page.Fidelity), "Secret")
}
