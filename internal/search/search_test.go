package search_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loresync/loresync/internal/content/embed"
	"github.com/loresync/loresync/internal/search"
	"github.com/loresync/loresync/internal/store"
)

var handbook = []page{
	{id: "leave", title: "Paid leave", path: "people/leave.md", heading: "Requests", texts: []string{
		"Employees apply for **annual leave** in the [portal](https://example.org/portal), two weeks ahead.",
		"Unused days expire in March.",
	}},
	{id: "kyuka", title: "有給休暇", path: "people/kyuka.md", heading: "申請", texts: []string{
		"有給休暇はポータルから二週間前までに申請します。上長の承認が必要です。",
	}},
	{id: "pay", title: "Payroll", path: "people/pay.md", texts: []string{"The wage is transferred on the 25th. Questions go to accounting."}},
	{id: "coffee", title: "Kitchen", path: "office/kitchen.md", texts: []string{"The espresso machine is cleaned on Fridays."}},
	{id: "deploy", title: "Releasing the service", path: "engineering/deploy.md", texts: []string{
		"Run the rollout from the main branch. Wait for the checks; a failed check stops the rollout.",
		"A page of this kind mentions leave once: leave the console open.",
	}},
}

func handbookBase(t *testing.T) *base {
	t.Helper()
	b := newBase(t)
	b.add(handbook...)
	return b
}

func TestSearch_finds_English_and_Japanese_pages_by_words_of_their_text(t *testing.T) {
	t.Parallel()
	b := handbookBase(t)
	for query, want := range map[string]string{
		"espresso":                         "coffee",
		"the espresso machines":            "coffee",
		"How do I apply for annual leave?": "leave",
		"有給休暇":                             "kyuka",
		"承認":                               "kyuka",
		"ポータルから申請":                         "kyuka",
		"二":                                "kyuka",
		"Ｅｓｐｒｅｓｓｏ":                         "coffee",
	} {
		found := b.find(nil, search.Query{Text: query})
		require.NotEmpty(t, found, query)
		assert.Equal(t, want, found[0], query)
	}
	assert.Empty(t, b.find(nil, search.Query{Text: "zeppelin"}))
}

func TestSearch_finds_pages_by_title_path_and_heading(t *testing.T) {
	t.Parallel()
	b := handbookBase(t)
	b.add(page{id: "empty", title: "Zeppelin", texts: nil})
	assert.Equal(t, []string{"coffee"}, b.find(nil, search.Query{Text: "kitchens"}))
	assert.Equal(t, []string{"deploy"}, b.find(nil, search.Query{Text: "engineering"}))
	assert.Equal(t, []string{"leave"}, b.find(nil, search.Query{Text: "requests"}))
	assert.Equal(t, []string{"leave", "deploy"}, b.find(nil, search.Query{Text: "leave"}))
	hits, err := b.searcher(nil).Search(t.Context(), search.Query{Text: "zeppelin"})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	assert.Equal(t, "In short: Zeppelin", hits[0].Snippet)
}

func TestSearch_finds_by_meaning_what_shares_no_word(t *testing.T) {
	t.Parallel()
	b := handbookBase(t)
	assert.Empty(t, b.find(nil, search.Query{Text: "holiday"}))
	assert.ElementsMatch(t, []string{"leave", "kyuka"}, b.find(concepts{}, search.Query{Text: "holiday"}))
	assert.Equal(t, []string{"pay"}, b.find(concepts{}, search.Query{Text: "salary"}))
}

func TestSearch_puts_first_what_both_words_and_meaning_find(t *testing.T) {
	t.Parallel()
	b := handbookBase(t)
	b.add(page{id: "trip", title: "Trips", texts: []string{"A vacation abroad."}})
	assert.Equal(t, "trip", b.find(concepts{}, search.Query{Text: "vacation"})[0])
}

func TestSearch_prefers_the_chunk_with_more_of_the_words_and_with_neighbours(t *testing.T) {
	t.Parallel()
	b := newBase(t)
	b.add(
		page{id: "a", title: "A", texts: []string{"The green parrot sings, and far away in another garden a tree of some age stands."}},
		page{id: "b", title: "B", texts: []string{"A tree, they say, was planted in another garden, far away, where all was once green."}},
		page{id: "c", title: "C", texts: []string{"The parrot sings in another garden, far away, under some green tree of great old age."}},
		page{id: "d", title: "D", texts: []string{"First this.", "A parrot.", "A green parrot.", "A parrot once more."}},
	)
	assert.Equal(t, "c", b.find(nil, search.Query{Text: "green tree"})[0])
	hits, err := b.searcher(nil).Search(t.Context(), search.Query{Text: "green parrots"})
	require.NoError(t, err)
	assert.Equal(t, "d", hits[0].PageID)
	assert.Equal(t, "A green parrot.", hits[0].Snippet)
}

func TestSearch_gives_a_hit_with_all_that_a_reader_needs(t *testing.T) {
	t.Parallel()
	b := handbookBase(t)
	b.exec(`UPDATE pages SET source_edited_at = '2026-02-03T04:05:06Z' WHERE page_id = 'leave'`)
	answer, err := b.searcher(concepts{}).Answer(t.Context(), search.Query{Text: "annual leave", Limit: 1})
	require.NoError(t, err)
	assert.Empty(t, answer.Warning)
	require.Len(t, answer.Hits, 1)
	hit := answer.Hits[0]
	assert.Equal(t, "leave", hit.PageID)
	assert.Equal(t, "hr", hit.FolderID)
	assert.Equal(t, "Paid leave", hit.Title)
	assert.Equal(t, "https://example.org/leave", hit.URL)
	assert.Equal(t, []string{"Requests"}, hit.HeadingPath)
	assert.Equal(t, "Employees apply for annual leave in the portal, two weeks ahead.", hit.Snippet)
	assert.Positive(t, hit.Score)
	require.NotNil(t, hit.SyncedAt)
	require.NotNil(t, hit.VerifiedAt)
	document, err := json.Marshal(hit)
	require.NoError(t, err)
	for _, key := range []string{"page_id", "folder_id", "title", "url", "score", "snippet", "synced_at", "verified_at", "heading_path"} {
		assert.Contains(t, string(document), `"`+key+`":`)
	}
	assert.Contains(t, string(document), `"source_edited_at":"2026-02-03T04:05:06Z"`)
}

func TestSearch_with_the_built_in_model_finds_nothing_by_chance(t *testing.T) {
	t.Parallel()
	b := newBase(t)
	b.embedder = embed.Lexical{}
	b.add(handbook...)
	for i := range 200 {
		b.add(page{id: fmt.Sprintf("filler%d", i), title: "Filler", texts: []string{fmt.Sprintf("word%d stands here", i)}})
	}
	for i := range 40 {
		assert.Empty(t, b.find(embed.Lexical{}, search.Query{Text: fmt.Sprintf("nonsense%d", i)}))
	}
	assert.Equal(t, []string{"coffee"}, b.find(embed.Lexical{}, search.Query{Text: "espresso machine"}))
}

func TestSearch_stays_in_the_folder_that_was_asked_for(t *testing.T) {
	t.Parallel()
	b := handbookBase(t)
	b.folder("lab")
	b.add(page{folder: "lab", id: "leave", title: "Leave the lab", texts: []string{"Leave no espresso in the lab. A vacation is one."}})
	for _, text := range []string{"leave", "holiday", "espresso"} {
		hits, err := b.searcher(concepts{}).Search(t.Context(), search.Query{Text: text, Folder: "lab"})
		require.NoError(t, err)
		require.Len(t, hits, 1, text)
		assert.Equal(t, "lab", hits[0].FolderID)
	}
	assert.Len(t, b.find(nil, search.Query{Text: "espresso"}), 2)
}

func TestSearch_of_an_unknown_folder_is_not_found(t *testing.T) {
	t.Parallel()
	b := newBase(t)
	for _, folder := range []string{"nowhere", "Ünknown/../", "a\x00b", "\xff", "'; --"} {
		_, err := b.searcher(nil).Search(t.Context(), search.Query{Text: "leave", Folder: folder})
		require.ErrorIs(t, err, store.ErrNotFound, "%q", folder)
	}
}

func TestSearch_for_nothing_is_refused(t *testing.T) {
	t.Parallel()
	b := newBase(t)
	for _, text := range []string{"", " \t\n", "\u3000", "\x00"} {
		_, err := b.searcher(concepts{}).Search(t.Context(), search.Query{Text: text})
		require.ErrorIs(t, err, search.ErrEmptyQuery, "%q", text)
	}
}

// Rule 4, delete means gone: for readers from the accept on, whatever is still stored.
func TestSearch_never_finds_what_is_not_live(t *testing.T) {
	t.Parallel()
	hidden := map[string]func(b *base){
		"a_page_deleted_by_a_person": func(b *base) {
			b.exec(`UPDATE pages SET tombstoned_at = now(), tombstone_reason = 'person', purge_at = now() WHERE page_id = 'secret'`)
		},
		"a_page_that_the_source_lost": func(b *base) {
			b.exec(`UPDATE pages SET tombstoned_at = now(), tombstone_reason = 'source', purge_at = now() WHERE page_id = 'secret'`)
		},
		"a_page_of_a_deleted_folder": func(b *base) {
			b.exec(`UPDATE folders SET deleted_at = now(), purge_at = now() WHERE folder_id = 'vault'`)
		},
		"a_page_deep_below_a_subtree_that_is_being_deleted": func(b *base) {
			b.exec(`INSERT INTO exclusions (folder_id, source_id, page_id, who, subtree, sweeping)
				SELECT 'vault', 'top', 'top', 'p', yes, yes FROM (VALUES (true)) v (yes)`)
		},
		"a_text_that_was_replaced": func(b *base) {
			b.publish(page{folder: "vault", id: "secret", title: "Plain", texts: []string{"Nothing to see."}})
			b.exec(`UPDATE pages SET title = 'Plain', path = '' WHERE page_id = 'secret'`)
		},
	}
	for name, hide := range hidden {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBase(t)
			b.folder("vault")
			b.add(
				page{folder: "vault", id: "top", title: "Top", texts: []string{"The top."}},
				page{folder: "vault", id: "middle", title: "Middle", parent: "top", texts: []string{"The middle."}},
				page{folder: "vault", id: "secret", title: "Salary", parent: "middle", path: "salary.md", texts: []string{"The 給与 of the chairman."}},
			)
			for _, folder := range []string{"", "vault"} {
				require.Equal(t, []string{"secret"}, b.find(concepts{}, search.Query{Text: "salary wage 給与 chairman", Folder: folder}))
			}
			hide(b)
			for _, folder := range []string{"", "vault"} {
				assert.Empty(t, b.find(concepts{}, search.Query{Text: "salary wage 給与 chairman", Folder: folder}))
			}
		})
	}
}

func TestSearch_answers_by_words_with_a_warning_when_the_model_fails(t *testing.T) {
	t.Parallel()
	b := handbookBase(t)
	answer, err := b.searcher(concepts{broken: errModelDown}).Answer(t.Context(), search.Query{Text: "espresso"})
	require.NoError(t, err)
	require.Len(t, answer.Hits, 1)
	assert.Contains(t, answer.Warning, "concepts")
	assert.Contains(t, answer.Warning, "connection refused")
	answer, err = b.searcher(twisted{}).Answer(t.Context(), search.Query{Text: "espresso"})
	require.NoError(t, err)
	require.Len(t, answer.Hits, 1)
	assert.Contains(t, answer.Warning, "2 dimensions instead of 4")
}

// twisted gives vectors of the wrong length.
type twisted struct{ concepts }

func (twisted) Embed(context.Context, []string) ([][]float32, error) { return [][]float32{{1, 0}}, nil }

func TestSearch_without_a_database_says_so(t *testing.T) {
	t.Parallel()
	b := handbookBase(t)
	b.store.Close()
	_, err := b.searcher(concepts{}).Search(t.Context(), search.Query{Text: "espresso"})
	require.Error(t, err)
}

func TestSearch_ends_with_its_context(t *testing.T) {
	t.Parallel()
	b := handbookBase(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := b.searcher(concepts{}).Search(ctx, search.Query{Text: "espresso"})
	require.ErrorIs(t, err, context.Canceled)
}

func TestSearch_gives_ten_hits_unless_asked_and_a_hundred_at_most(t *testing.T) {
	t.Parallel()
	b := newBase(t)
	for i := range 120 {
		b.add(page{id: "p" + strings.Repeat("x", i), title: "Coffee", texts: []string{"One and the same coffee."}})
	}
	for limit, want := range map[int]int{0: 10, -5: 10, 3: 3, 100: 100, 5000: 100} {
		found := b.find(concepts{}, search.Query{Text: "coffee", Limit: limit})
		assert.Len(t, found, want)
		assert.IsIncreasing(t, found, "equals are ordered by page id")
	}
}

func TestSearch_takes_any_string(t *testing.T) {
	t.Parallel()
	b := handbookBase(t)
	for _, text := range []string{
		`'`, `''`, `\`, `\'`, `'; DROP TABLE pages; --`, `a & b | !c <-> (d`, `leave:*`, `"leave`, "😀", "👩‍👩‍👧‍👦", "\xff\xfe", "a\x00b", "%", "$1", "?!",
		strings.Repeat("leave ", 10_000), strings.Repeat("長", 10_000), strings.Repeat("e\u0301", 5_000), strings.Repeat("x", 100_000),
	} {
		_, err := b.searcher(concepts{}).Search(t.Context(), search.Query{Text: text})
		require.NoError(t, err, "%.40q", text)
	}
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.OneOf(rapid.String(), hostile()).Draw(r, "text")
		hits, err := b.searcher(concepts{}).Search(t.Context(), search.Query{Text: text})
		if err != nil && !errors.Is(err, search.ErrEmptyQuery) {
			r.Fatalf("%q: %v", text, err)
		}
		for _, hit := range hits {
			if !utf8.ValidString(hit.Snippet) {
				r.Fatalf("%q", hit.Snippet)
			}
		}
	})
}

func hostile() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{
		"leave", "有給", "'", "\\", "\"", ":*", "&", "|", "!", "(", ")", "<->", " ", "\x00", "\xff", "😀", "\u200d", "\u0301", "%", "_", "$1", "--", "İ", "ﾊﾟ",
	})
	return rapid.Custom(func(r *rapid.T) string { return strings.Join(rapid.SliceOfN(part, 1, 12).Draw(r, "parts"), "") })
}

func TestSearch_gives_a_page_below_two_folders_once(t *testing.T) {
	t.Parallel()
	b := newBase(t)
	for _, id := range []string{"lab", "other"} {
		b.folder(id)
	}
	coffee := []string{"The espresso machine is cleaned on Fridays."}
	for i, folder := range []string{"hr", "lab", "other"} {
		b.add(page{folder: folder, id: fmt.Sprintf("kitchen%d", i), title: "Kitchen", path: "kitchen.md", texts: coffee})
	}
	// The same file below two roots; the third is another one of the same name.
	b.exec(`UPDATE pages SET url = 'file:///srv/kitchen.md' WHERE folder_id IN ('hr', 'lab')`)
	b.exec(`UPDATE pages SET url = 'file:///srv/other/kitchen.md', source_id = 'kitchen.md' WHERE folder_id = 'other'`)
	hits, err := b.searcher(concepts{}).Search(t.Context(), search.Query{Text: "espresso"})
	require.NoError(t, err)
	require.Len(t, hits, 2)
	assert.Equal(t, []string{"hr", "other"}, []string{hits[0].FolderID, hits[1].FolderID})
	assert.Equal(t, []string{"lab"}, hits[0].AlsoIn)
	assert.Empty(t, hits[1].AlsoIn)

	// Of a vendor the id counts: an address changes with the title.
	b.exec(`UPDATE folders SET source = 'notion', connection = 'notion'`)
	b.exec(`UPDATE pages SET source_id = 'same' WHERE folder_id IN ('lab', 'other')`)
	hits, err = b.searcher(concepts{}).Search(t.Context(), search.Query{Text: "espresso", Limit: 2})
	require.NoError(t, err)
	require.Len(t, hits, 2)
	assert.Equal(t, []string{"other"}, hits[1].AlsoIn)
	hits, err = b.searcher(concepts{}).Search(t.Context(), search.Query{Text: "espresso", Folder: "other"})
	require.NoError(t, err)
	require.Len(t, hits, 1)
	assert.Equal(t, "other", hits[0].FolderID)
}
