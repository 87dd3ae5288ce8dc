package document_test

import (
	"encoding/json"
	"os"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/document"
)

// FuzzMarkdown feeds any bytes as block, object and comment: nothing may panic, the text must be storable, and the share that
// can be searched is a share.
func FuzzMarkdown(f *testing.F) {
	raw, err := os.ReadFile("testdata/every_block.json")
	require.NoError(f, err)
	var data struct {
		Page   json.RawMessage   `json:"page"`
		Blocks []json.RawMessage `json:"blocks"`
	}
	require.NoError(f, json.Unmarshal(raw, &data))
	f.Add([]byte(data.Page))
	for _, b := range data.Blocks {
		f.Add([]byte(b))
	}
	for _, seed := range []string{
		`null`, `{}`, `{"type":"table","table":{"cells":[[{}]]}}`, `{"type":"table_row","table_row":{"cells":[null,[null],7]}}`,
		`{"object":"page","properties":{"\u0000":{"type":"formula","formula":{"type":"formula"}}}}`,
		`{"object":"database","title":7,"data_sources":[{"id":"a"}],"properties":[]}`,
		`{"type":"numbered_list_item","numbered_list_item":{"list_start_index":-5,"list_format":"letters"}}`,
		`{"type":"paragraph","paragraph":{"rich_text":[{"plain_text":"\ud83d","annotations":{"bold":true},"href":"%zz"}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		inner := document.DecodeBlocks([]json.RawMessage{raw, nil})
		outer := document.DecodeBlocks([]json.RawMessage{raw, raw})
		outer[0].Children = inner
		doc := document.Document{Blocks: append(outer, nil)}
		if o, err := document.DecodeObject(raw); err == nil {
			doc.Object, doc.Schemas = o, []document.Object{o}
			for i := range doc.Object.Properties {
				// A property that is no object can't be completed, which is an error and no more.
				_ = doc.Object.Properties[i].Complete([]json.RawMessage{raw})
			}
		}
		if c, err := document.DecodeComment(raw); err == nil {
			doc.Comments = []document.Comment{c, c}
		}
		markdown, report := document.Markdown(doc)
		assert.True(t, utf8.ValidString(markdown))
		assert.NotContains(t, markdown, "\x00")
		assert.GreaterOrEqual(t, report.Searchable, 0.0)
		assert.LessOrEqual(t, report.Searchable, 1.0)
		assert.NotEmpty(t, report.String())
	})
}
