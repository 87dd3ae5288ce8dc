package notiontest_test

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

func TestTimes(t *testing.T) {
	t.Parallel()

	t.Run("they are cut down to the minute, so that two edits in one look the same", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page := s.page("Page")
		path := "/v1/pages/" + page
		assert.Equal(t, "2026-07-04T09:08:00.000Z", s.get(path).body["created_time"])
		s.Clock().Advance(time.Second)
		require.NoError(t, s.Edit(page, paragraphs(1)...))
		assert.Equal(t, "2026-07-04T09:08:00.000Z", s.get(path).body["last_edited_time"])
		s.Clock().Advance(time.Minute)
		require.NoError(t, s.Edit(page, paragraphs(2)...))
		assert.Equal(t, "2026-07-04T09:09:00.000Z", s.get(path).body["last_edited_time"])
		assert.Equal(t, "2026-07-04T09:08:00.000Z", s.get(path).body["created_time"])
	})

	t.Run("databases have milliseconds since they are containers", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		db := s.database(s.page("Page"), "Database")
		s.Clock().Advance(time.Hour)
		require.NoError(t, s.Rename(db.ID, "Renamed"))
		got := s.get("/v1/databases/" + db.ID).body
		assert.Equal(t, "2026-07-04T09:08:57.778+00:00", got["created_time"])
		assert.Equal(t, got["created_time"], got["last_edited_time"])
		assert.Equal(t, "2026-07-04T10:08:00.000Z", s.get("/v1/data_sources/" + db.Source).body["last_edited_time"])
		assert.Equal(t, "2026-07-04T10:08:00.000Z", s.as(oldest, "GET", "/v1/databases/"+db.ID, nil).body["last_edited_time"])
	})

	t.Run("an edit inside a block is an edit of its page and not of the pages above", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page := s.page("Page")
		child := notiontest.Must(s.AddPage(page, "Child", notiontest.Toggle(notiontest.Text("toggle"))))
		toggle := s.get("/v1/blocks/" + child + "/children").ids()[0]
		s.Clock().Advance(time.Hour)
		_, err := s.Append(toggle, paragraphs(1)...)
		require.NoError(t, err)
		assert.Equal(t, "2026-07-04T10:08:00.000Z", s.get("/v1/pages/" + child).body["last_edited_time"])
		assert.Equal(t, "2026-07-04T09:08:00.000Z", s.get("/v1/pages/" + page).body["last_edited_time"])
	})

	t.Run("moving, unsharing and trashing a page aren't edits of it", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page, other := s.page("Page"), s.page("Other")
		s.Clock().Advance(time.Hour)
		require.NoError(t, s.Move(page, other))
		require.NoError(t, s.Trash(page))
		require.NoError(t, s.Restore(page))
		require.NoError(t, s.Unshare(page))
		require.NoError(t, s.Share(page))
		assert.Equal(t, "2026-07-04T09:08:00.000Z", s.get("/v1/pages/" + page).body["last_edited_time"])
	})
}

func TestSharing(t *testing.T) {
	t.Parallel()

	t.Run("what isn't shared is not found, in the same words as what is gone", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page := s.page("Page")
		child := notiontest.Must(s.AddPage(page, "Child"))
		grandchild := notiontest.Must(s.AddPage(child, "Grandchild"))
		require.NoError(t, s.Unshare(child))
		for _, id := range []string{child, grandchild} {
			got := s.get("/v1/pages/" + id)
			assert.Equal(t, 404, got.status)
			assert.Equal(t, "Could not find page with ID: "+id+". Make sure the relevant pages and databases are shared with "+
				`your integration "loresync".`, got.body["message"])
		}
		// An orphan: shared below a parent that isn't.
		require.NoError(t, s.Share(grandchild))
		orphan := s.get("/v1/pages/" + grandchild)
		assert.Equal(t, object{"type": "page_id", "page_id": child}, orphan.body["parent"])
		require.NoError(t, s.Delete(grandchild))
		assert.Equal(t, "object_not_found", s.get("/v1/pages/"+grandchild).code())
	})

	t.Run("a private workspace shows what it is told to", func(t *testing.T) {
		t.Parallel()
		w := notiontest.New(notiontest.Options{Private: true})
		s := notiontest.NewServer(w, notiontest.ServerOptions{})
		_, err := s.Start()
		require.NoError(t, err)
		defer func() { assert.NoError(t, s.Close()) }()
		both := stand{Workspace: w, Server: s, t: t}
		one, other := both.page("One"), both.page("Other")
		require.NoError(t, w.Share(one))
		assert.Equal(t, []string{one}, both.post("/v1/search", nil).ids())
		assert.Equal(t, 404, both.get("/v1/pages/"+other).status)
	})

	t.Run("a view of a database that lies elsewhere is a block and not a database", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page := s.page("Page")
		linked := notiontest.Must(s.AddLinkedDatabase(page, "Elsewhere"))
		block := s.get("/v1/blocks/" + page + "/children").results()[0]
		assert.Equal(t, "child_database", block["type"])
		assert.Equal(t, linked, block["id"])
		assert.Equal(t, "object_not_found", s.get("/v1/databases/"+linked).code())
		assert.Equal(t, []string{page}, s.post("/v1/search", nil).ids())
	})
}

func TestTrashAndMoves(t *testing.T) {
	t.Parallel()

	t.Run("a page in the trash can be read with all below it, and is in no list", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page := s.page("Page")
		child := notiontest.Must(s.AddPage(page, "Child"))
		grandchild := notiontest.Must(s.AddPage(child, "Grandchild"))
		require.NoError(t, s.Trash(child))
		for _, id := range []string{child, grandchild} {
			got := s.as(middle, "GET", "/v1/pages/"+id, nil)
			assert.Equal(t, true, got.body["in_trash"])
			assert.Equal(t, true, got.body["archived"])
		}
		assert.Empty(t, s.get("/v1/blocks/"+page+"/children").results())
		assert.Equal(t, false, s.get("/v1/blocks/" + page).body["has_children"])
		require.NoError(t, s.Restore(child))
		assert.Equal(t, []string{child}, s.get("/v1/blocks/"+page+"/children").ids())
		assert.Equal(t, false, s.get("/v1/pages/" + grandchild).body["in_trash"])
	})

	t.Run("a page keeps its id when it moves, also into a database", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page, other := s.page("Page"), s.page("Other")
		db := s.database(other, "Database")
		require.NoError(t, s.Move(page, other))
		assert.Equal(t, object{"type": "page_id", "page_id": other}, s.get("/v1/pages/" + page).body["parent"])
		require.NoError(t, s.Move(page, db.Source))
		want := object{"type": "data_source_id", "data_source_id": db.Source, "database_id": db.ID}
		assert.Equal(t, want, s.get("/v1/pages/" + page).body["parent"])
		old := object{"type": "database_id", "database_id": db.ID}
		assert.Equal(t, old, s.as(oldest, "GET", "/v1/pages/"+page, nil).body["parent"])
		require.NoError(t, s.Move(page, ""))
		assert.Equal(t, object{"type": "workspace", "workspace": true}, s.get("/v1/pages/" + page).body["parent"])
	})

	t.Run("what can't be done is an error", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page := s.page("Page", paragraphs(1)...)
		child := notiontest.Must(s.AddPage(page, "Child"))
		block := s.get("/v1/blocks/" + page + "/children").ids()[0]
		require.ErrorContains(t, s.Move(page, child), "lies below it")
		require.ErrorContains(t, s.Move(block, ""), "top of the workspace")
		require.ErrorContains(t, s.Rename(block, "x"), "is a block")
		require.ErrorContains(t, s.Trash("nonsense"), "is not an id")
		require.ErrorContains(t, s.Trash(s.Bot()), "nothing in the workspace")
		require.ErrorContains(t, s.SetProperty(page, "Number", notiontest.NumberValue(1)), "not a row")
		db := s.database(page, "Database", notiontest.Column{Name: "Number", Type: "number"})
		_, err := s.AddRow(db.Source, "Row", map[string]notiontest.Value{"Number": notiontest.CheckboxValue(true)})
		require.ErrorContains(t, err, "takes number, not checkbox")
		assert.Panics(t, func() { notiontest.Must(s.AddPage(s.Bot(), "Page")) })
	})
}

func TestIDs(t *testing.T) {
	t.Parallel()
	build := func(seed uint64) []string {
		w := notiontest.New(notiontest.Options{Seed: seed})
		page := notiontest.Must(w.AddPage("", "Page", paragraphs(2)...))
		db := notiontest.Must(w.AddDatabase(page, "Database"))
		return []string{w.ID(), w.Bot(), page, db.ID, db.Source, notiontest.Must(w.AddRow(db.Source, "Row", nil))}
	}
	first, again := build(1), build(1)
	assert.Equal(t, first, again)
	seen := map[string]bool{}
	for _, id := range append(build(1), build(2)...) {
		assert.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, id)
		assert.False(t, seen[id], "an id stands for one thing")
		seen[id] = true
	}
}

func TestClock(t *testing.T) {
	t.Parallel()
	standing := notiontest.NewClock(start())
	standing.Advance(time.Hour)
	assert.Equal(t, start().Add(time.Hour), standing.Now())
	standing.Set(start())
	assert.Equal(t, start(), standing.Now())
	running := notiontest.WallClock()
	assert.WithinDuration(t, time.Now(), running.Now(), time.Minute)
	running.Set(start())
	assert.WithinDuration(t, start(), running.Now(), time.Minute)
	running.Advance(time.Hour)
	assert.WithinDuration(t, start().Add(time.Hour), running.Now(), time.Minute)
}

func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	s := newStand(t, notiontest.ServerOptions{})
	root := s.page("Root")
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 10 {
				page, err := s.AddPage(root, strconv.Itoa(i*100+j), paragraphs(2)...)
				if err = errors.Join(err, s.Edit(page, paragraphs(1)...)); err != nil {
					t.Error(err)
				}
				got, err := trySend(s.request(newest, http.MethodPost, "/v1/search", object{"page_size": 3}))
				if err != nil || got.status != http.StatusOK {
					t.Error(got.status, err)
				}
			}
		})
	}
	group.Wait()
	assert.Len(t, s.get("/v1/blocks/"+root+"/children").results(), 80)
}

func TestLooksAndPeople(t *testing.T) {
	t.Parallel()
	s := newStand(t, notiontest.ServerOptions{})
	page := s.page("Page", paragraphs(1)...)
	db := s.database(page, "Database")
	block := s.get("/v1/blocks/" + page + "/children").ids()[0]
	somebody := s.AddUser("Somebody", "somebody@example.org")
	require.NoError(t, s.As(somebody))
	require.Error(t, s.As(page))
	require.NoError(t, s.SetIcon(page, notiontest.Emoji("📗")))
	require.NoError(t, s.SetCover(page, object{"type": "external", "external": object{"url": "https://example.org/c.png"}}))
	require.NoError(t, s.Lock(page, true))
	require.NoError(t, s.SetDescription(db.Source, "What it holds"))
	require.NoError(t, s.SetBlock(block, notiontest.Quote(notiontest.Text("quoted"))))
	got := s.get("/v1/pages/" + page).body
	assert.Equal(t, object{"type": "emoji", "emoji": "📗"}, got["icon"])
	assert.NotNil(t, got["cover"])
	assert.Equal(t, true, got["is_locked"])
	assert.Equal(t, object{"object": "user", "id": somebody}, got["last_edited_by"])
	assert.NotEqual(t, got["created_by"], got["last_edited_by"])
	assert.Len(t, s.get("/v1/data_sources/" + db.Source).body["description"], 1)
	assert.Equal(t, "quote", s.get("/v1/blocks/" + block).body["type"])
	assert.Equal(t, []string{oldest, middle, newest}, notiontest.Versions())
	assert.Equal(t, []string{s.Token()}, s.AccessTokens())
}
