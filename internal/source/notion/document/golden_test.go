package document_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	nethtml "golang.org/x/net/html"

	"github.com/loresync/loresync/internal/source/notion/document"
)

// stored is a block of the test data: as Notion sends it, with its children below it.
type stored struct {
	raw      json.RawMessage
	Children []stored         `json:"loaded_children"`
	Missing  document.Missing `json:"loaded_missing"`
}

func (s *stored) UnmarshalJSON(raw []byte) error {
	type plain stored
	s.raw = append(json.RawMessage{}, raw...)
	return json.Unmarshal(raw, (*plain)(s))
}

func (s *stored) block(tb testing.TB) *document.Block {
	tb.Helper()
	b, err := document.DecodeBlock(s.raw)
	require.NoError(tb, err)
	b.Missing = s.Missing
	for i := range s.Children {
		b.Children = append(b.Children, s.Children[i].block(tb))
	}
	return &b
}

func load(tb testing.TB, name string, v any) {
	tb.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	require.NoError(tb, err)
	require.NoError(tb, json.Unmarshal(raw, v))
}

func links(id string) (title, url string, ok bool) {
	if strings.HasSuffix(id, "aaaaa") {
		return "Keeper's log", "https://kb.example.org/pages/log", true
	}
	return "", "", false
}

// everyBlock is a page that holds every type of block.
func everyBlock(tb testing.TB) document.Document {
	tb.Helper()
	var data struct {
		Page        json.RawMessage   `json:"page"`
		Blocks      []stored          `json:"blocks"`
		Comments    []json.RawMessage `json:"comments"`
		Attachments map[string]string `json:"attachments"`
	}
	load(tb, "every_block.json", &data)
	o, err := document.DecodeObject(data.Page)
	require.NoError(tb, err)
	doc := document.Document{Object: o, Attachments: data.Attachments, Links: links}
	for i := range data.Blocks {
		doc.Blocks = append(doc.Blocks, data.Blocks[i].block(tb))
	}
	for _, raw := range data.Comments {
		c, err := document.DecodeComment(raw)
		require.NoError(tb, err)
		doc.Comments = append(doc.Comments, c)
	}
	return doc
}

func golden(t *testing.T, name string, doc document.Document) string {
	t.Helper()
	markdown, report := document.Markdown(doc)
	g := goldie.New(t, goldie.WithFixtureDir("testdata"), goldie.WithNameSuffix(""))
	g.Assert(t, name+".md", []byte(markdown))
	g.AssertJson(t, name+".report.json", report)
	return markdown
}

func TestEveryBlock(t *testing.T) {
	t.Parallel()
	doc := everyBlock(t)
	assert.Equal(t, "Lighthouse handbook", doc.Object.Title)
	markdown := golden(t, "every_block", doc)

	for _, volatile := range []string{"X-Amz", "amazonaws", "SIG", "expiry", "09:15"} {
		assert.NotContains(t, markdown, volatile, "what differs at each read must not be in the Markdown")
	}
	counts := map[string]int{}
	walk(parse(t, markdown), func(n *nethtml.Node) {
		if n.Type == nethtml.ElementNode {
			counts[n.Data]++
		}
	})
	for element, want := range map[string]int{
		"h1": 1, "h2": 3, "h3": 2, "h4": 1, "table": 2, "blockquote": 4, "pre": 2, "input": 4, "img": 2, "hr": 1, "del": 1, "ol": 3,
	} {
		assert.Equal(t, want, counts[element], element)
	}
}

func TestDatabase(t *testing.T) {
	t.Parallel()
	var data struct {
		Database json.RawMessage   `json:"database"`
		Schemas  []json.RawMessage `json:"schemas"`
	}
	load(t, "database.json", &data)
	o, err := document.DecodeObject(data.Database)
	require.NoError(t, err)
	doc := document.Document{Object: o, Links: links}
	for _, raw := range data.Schemas {
		schema, err := document.DecodeObject(raw)
		require.NoError(t, err)
		doc.Schemas = append(doc.Schemas, schema)
	}
	golden(t, "database", doc)
}

func TestMarkdownIsTheSameForOtherSignatures(t *testing.T) {
	t.Parallel()
	first, _ := document.Markdown(everyBlock(t))
	var other document.Document
	raw, err := os.ReadFile("testdata/every_block.json")
	require.NoError(t, err)
	changed := strings.NewReplacer("Signature=", "Signature=9", "2026-11-02T09:15", "2027-01-01T00:00").Replace(string(raw))
	require.NotEqual(t, string(raw), changed)
	var data struct {
		Page   json.RawMessage `json:"page"`
		Blocks []stored        `json:"blocks"`
	}
	require.NoError(t, json.Unmarshal([]byte(changed), &data))
	other = everyBlock(t)
	for i := range data.Blocks {
		other.Blocks[i] = data.Blocks[i].block(t)
	}
	second, _ := document.Markdown(other)
	assert.Equal(t, first, second)
}

func TestReportForPeople(t *testing.T) {
	t.Parallel()
	_, report := document.Markdown(everyBlock(t))
	assert.Regexp(t, `^\d+ % of \d+ blocks searchable; can't be shown: 1 form, 1 hologram; \d+ unreadable; 1 cut short; 1 left out$`, report.String())
}
