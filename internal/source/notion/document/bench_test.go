package document_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/document"
)

// largePage is the results of the lists of a page of 2,000 blocks: mostly text, with lists, headings and annotations.
func largePage(b *testing.B) []json.RawMessage {
	b.Helper()
	kinds := []string{"paragraph", "bulleted_list_item", "paragraph", "numbered_list_item", "heading_3", "quote", "to_do", "paragraph"}
	blocks := make([]json.RawMessage, 2000)
	for i := range blocks {
		kind := kinds[i%len(kinds)]
		sentence := fmt.Sprintf("Sentence %d tells in some words how the lamp is kept, cleaned and lit before the night. ", i)
		rich := []any{run(sentence + sentence)}
		if i%4 == 0 {
			rich = append(rich, run("Mind ", "bold"), linked("the stairs", "https://example.org/stairs"), run("; "+sentence))
		}
		blocks[i] = encode(b, object{
			"object": "block", "id": fmt.Sprintf("5f0c2d1e-0000-4000-8000-%012x", i), "type": kind, "has_children": false, "in_trash": false,
			"created_time": "2026-11-02T08:15:00.000Z", "last_edited_time": "2026-11-02T08:15:00.000Z",
			"created_by": object{"object": "user", "id": "u-1"}, "last_edited_by": object{"object": "user", "id": "u-1"},
			"parent": object{"type": "page_id", "page_id": "p"}, kind: object{"rich_text": rich, "color": "default"},
		})
	}
	return blocks
}

// BenchmarkMarkdown is decoding and rendering; BenchmarkPlainJSON decodes the same bytes into nothing in particular. The
// first should take at most three times as long as the second.
func BenchmarkMarkdown(b *testing.B) {
	raw := largePage(b)
	b.ReportAllocs()
	for b.Loop() {
		markdown, _ := document.Markdown(document.Document{Blocks: document.DecodeBlocks(raw)})
		require.NotEmpty(b, markdown)
	}
}

func BenchmarkPlainJSON(b *testing.B) {
	raw := largePage(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, block := range raw {
			var value any
			if json.Unmarshal(block, &value) != nil {
				b.Fatal("the payload of the benchmark is no JSON")
			}
		}
	}
}
