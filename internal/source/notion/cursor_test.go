package notion_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

// lists are the places in which an answer comes in parts, each with something that needs more than one of them.
func lists() map[notiontest.Kind]func(*space) func() error {
	return map[notiontest.Kind]func(*space) func() error{
		notiontest.KindSearch: func(s *space) func() error {
			s.many(250)
			return func() error { _, _, err := s.tryList(s.root); return err }
		},
		notiontest.KindChildren: func(s *space) func() error {
			id := s.page("", "Page", paragraphs("p", 250)...)
			return func() error { _, err := s.src.Fetch(s.t.Context(), s.root, id); return err }
		},
		notiontest.KindQuery: func(s *space) func() error {
			db := s.database("", "Tasks")
			for i := range 250 {
				s.row(db.Source, fmt.Sprintf("Row %d", i), nil)
			}
			return func() error { _, err := s.src.Fetch(s.t.Context(), s.root, db.ID); return err }
		},
		notiontest.KindProperty: func(s *space) func() error {
			ids := s.targets(250)
			db := s.database("", "Tasks", notiontest.Column{Name: "Refs", Type: "relation"})
			row := s.row(db.Source, "Row", map[string]notiontest.Value{"Refs": notiontest.RelationValue(ids...)})
			return func() error { _, err := s.src.Fetch(s.t.Context(), s.root, row); return err }
		},
	}
}

func TestR119_ListsWithoutAGoodEndAreAnErrorAndNotALoop(t *testing.T) {
	t.Parallel()
	for kind, prepare := range lists() {
		for what, trick := range map[string]func(*space) notiontest.Effect{
			"null cursor":     func(*space) notiontest.Effect { return notiontest.NullCursor() },
			"repeated cursor": func(*space) notiontest.Effect { return notiontest.RepeatedCursor() },
			"endless empty pages": func(*space) notiontest.Effect {
				return notiontest.EmptyPage()
			},
			"foreign cursor": func(s *space) notiontest.Effect { return afterwards(s.server.ForgetCursors) },
		} {
			t.Run(fmt.Sprintf("%s in %s", what, kind), func(t *testing.T) {
				t.Parallel()
				s := plainSpace(t)
				ask := prepare(s)
				s.server.Fail(notiontest.OfKind(kind), 0, trick(s))
				failure := failureOf(t, ask())
				assert.Equal(t, source.ClassUnavailable, failure.Class, "it is read again: neither the page nor the connection is to blame")
				assert.LessOrEqual(t, s.server.Count(kind), 60)
				s.server.Heal()
				require.NoError(t, ask())
			})
		}
	}
}

func TestEmptyPageWithMoreBehindItLosesNothing(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	ids := s.many(120)
	id := s.page("", "Page", paragraphs("p", 120)...)
	s.server.Break(notiontest.Fault{After: 1, Times: 2, Effects: []notiontest.Effect{notiontest.EmptyPage()}})
	entries, listed := s.list(s.root)
	assert.ElementsMatch(t, append(ids, id), idsOf(entries))
	assert.Equal(t, source.VerdictComplete, listed.Verdict)
	s.server.Fail(notiontest.OfKind(notiontest.KindChildren), 2, notiontest.EmptyPage())
	assert.Contains(t, s.fetch(id).Markdown, "p 119\n")
}

func TestDuplicatesAcrossPartsCountOnce(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Page", paragraphs("p", 250)...)
	clean := s.fetch(id)
	s.server.Fail(notiontest.OfKind(notiontest.KindChildren), 2, notiontest.Duplicates())
	assert.Equal(t, clean.Markdown, s.fetch(id).Markdown)

	db := s.database("", "Tasks")
	for i := range 250 {
		s.row(db.Source, fmt.Sprintf("Row %d", i), nil)
	}
	s.server.Fail(notiontest.OfKind(notiontest.KindQuery), 2, notiontest.Duplicates())
	assert.Len(t, s.fetch(db.ID).Children, 250)
}
