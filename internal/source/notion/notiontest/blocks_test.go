package notiontest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

// everyBlock reads a page that holds a block of every type, with all that is inside them.
func everyBlock(t *testing.T, s stand) []notiontest.Object {
	t.Helper()
	other := s.page("Other", notiontest.Synced(notiontest.Paragraph(notiontest.Text("Original"))))
	database := s.database(other, "Database")
	to := notiontest.References{
		Page: other, Database: database.ID, User: s.Bot(), Original: s.get("/v1/blocks/" + other + "/children").ids()[0],
		File: s.AddFile("picture.png", "image/png", []byte("not really a picture")),
	}
	page := s.page("Everything", notiontest.EveryBlock(to)...)
	return s.walk(page)
}

// walk reads the blocks below a page or block, depth first.
func (s stand) walk(id string) []notiontest.Object {
	s.t.Helper()
	var blocks []notiontest.Object
	for _, block := range s.get("/v1/blocks/" + id + "/children").results() {
		blocks = append(blocks, block)
		if block["has_children"] == true && block["type"] != "child_page" {
			child, _ := block["id"].(string)
			blocks = append(blocks, s.walk(child)...)
		}
	}
	return blocks
}

func TestBlocks(t *testing.T) {
	t.Parallel()

	t.Run("every type that Notion has is there, with what is inside it", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		types := map[any]int{}
		for _, block := range everyBlock(t, s) {
			typ, _ := block["type"].(string)
			require.Contains(t, block, typ)
			types[typ]++
		}
		for _, typ := range []string{
			"paragraph", "heading_1", "heading_2", "heading_3", "heading_4", "bulleted_list_item", "numbered_list_item", "quote",
			"to_do", "toggle", "template", "synced_block", "equation", "code", "callout", "divider", "breadcrumb",
			"table_of_contents", "tab", "column_list", "column", "link_to_page", "table", "table_row", "meeting_notes", "embed",
			"bookmark", "image", "video", "pdf", "file", "audio", "link_preview", "unsupported", "hologram",
		} {
			assert.Positive(t, types[typ], typ)
		}
	})

	t.Run("meeting notes have their old name in older versions", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page := s.page("Notes", notiontest.Of("meeting_notes", notiontest.Object{}))
		old := s.as(middle, "GET", "/v1/blocks/"+page+"/children", nil).results()[0]
		assert.Equal(t, "transcription", old["type"])
		assert.Contains(t, old, "transcription")
		assert.Equal(t, "meeting_notes", s.get("/v1/blocks/" + page + "/children").results()[0]["type"])
	})

	t.Run("a copy of a synced block has the children of the original, and none to be found when that isn't shared", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		home := s.page("Home", notiontest.Synced(notiontest.Paragraph(notiontest.Text("Synced"))))
		original := s.get("/v1/blocks/" + home + "/children").ids()[0]
		away := s.page("Away", notiontest.SyncedCopy(original))
		copied := s.get("/v1/blocks/" + away + "/children").results()[0]
		assert.Equal(t, true, copied["has_children"])
		id, _ := copied["id"].(string)
		children := s.get("/v1/blocks/" + id + "/children").results()
		require.Len(t, children, 1)
		assert.Equal(t, notiontest.Object{"type": "block_id", "block_id": original}, children[0]["parent"])
		require.NoError(t, s.Unshare(home))
		for _, block := range []string{id, original} {
			gone := s.get("/v1/blocks/" + block + "/children")
			assert.Equal(t, 404, gone.status)
			assert.Equal(t, "object_not_found", gone.code())
		}
	})

	t.Run("an edit keeps the ids of blocks that stay in their places, and child pages", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page := s.page("Page", paragraphs(3)...)
		child := notiontest.Must(s.AddPage(page, "Child"))
		before := s.get("/v1/blocks/" + page + "/children").ids()
		require.NoError(t, s.Edit(page, notiontest.Paragraph(notiontest.Text("new")), notiontest.Divider()))
		after := s.get("/v1/blocks/" + page + "/children").ids()
		require.Len(t, after, 3)
		assert.Equal(t, before[0], after[0])
		assert.NotContains(t, before, after[1])
		assert.Equal(t, child, after[2])
	})

	t.Run("a child page inside a block outlives the block", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page := s.page("Page", notiontest.Toggle(notiontest.Text("toggle")))
		toggle := s.get("/v1/blocks/" + page + "/children").ids()[0]
		child := notiontest.Must(s.AddPage(toggle, "Child"))
		assert.Equal(t, notiontest.Object{"type": "block_id", "block_id": toggle}, s.get("/v1/pages/" + child).body["parent"])
		require.NoError(t, s.Edit(page))
		assert.Equal(t, []string{child}, s.get("/v1/blocks/"+page+"/children").ids())
	})

	t.Run("a block without a type is an id and nothing else", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page := s.page("Page", notiontest.Block{})
		block := s.get("/v1/blocks/" + page + "/children").results()[0]
		assert.Len(t, block, 2)
		assert.Equal(t, "block", block["object"])
	})
}
