package document_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/document"
)

// fixtures are recorded answers of the real API, kept beside the checkout because they are other people's work.
const fixtures = "../../../../../shared/fixtures/notion"

// TestRecordedPayloads renders every recorded answer, as a whole and each object in it, and looks for every text that Notion
// sent: it must be in the Markdown, in the title, or its loss counted.
func TestRecordedPayloads(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(fixtures); err != nil {
		t.Skip("the recorded payloads are not beside this checkout, so they can't be rendered")
	}
	files, texts := 0, 0
	require.NoError(t, filepath.WalkDir(fixtures, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".json" {
			return err
		}
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		var value any
		if json.Unmarshal(bytes.TrimPrefix(raw, []byte("\uFEFF")), &value) == nil {
			files++
		}
		for _, o := range objectsIn(value) {
			texts += checkObject(t, path, o)
		}
		return nil
	}))
	assert.Greater(t, files, 100, "recorded payloads")
	assert.Greater(t, texts, 50, "texts in them")
}

// objectsIn finds the outermost blocks, pages, databases, data sources and comments in a value.
func objectsIn(value any) []object {
	switch v := value.(type) {
	case object:
		switch v["object"] {
		case "block", "page", "database", "data_source", "comment":
			return []object{v}
		}
		var found []object
		for _, member := range v {
			found = append(found, objectsIn(member)...)
		}
		return found
	case []any:
		var found []object
		for _, member := range v {
			found = append(found, objectsIn(member)...)
		}
		return found
	}
	return nil
}

// checkObject renders one object and returns how many texts it looked for.
func checkObject(t *testing.T, path string, o object) int {
	t.Helper()
	var doc document.Document
	title := ""
	switch o["object"] {
	case "block":
		doc.Blocks = document.DecodeBlocks([]json.RawMessage{encode(t, o)})
	case "comment":
		c, err := document.DecodeComment(encode(t, o))
		require.NoError(t, err, path)
		doc.Comments = []document.Comment{c}
	default:
		decoded, err := document.DecodeObject(encode(t, o))
		require.NoError(t, err, path)
		doc.Object, title = decoded, decoded.Title
	}
	markdown, report := document.Markdown(doc)
	seen := shown(t, markdown) + "\n" + fold(title)
	lost := report.Unreadable + report.Truncated + report.Skipped
	for _, n := range report.Unsupported {
		lost += n
	}
	texts := textsOf(o)
	for _, text := range texts {
		if !strings.Contains(seen, text) {
			assert.Positive(t, lost, "%s: %q is neither in the Markdown nor counted as lost:\n%s", path, text, markdown)
		}
	}
	return len(texts)
}

// textsOf are the texts of an object that a reader should see. Dates are written in a form of our own, and equations between
// signs.
func textsOf(value any) []string {
	var found []string
	switch v := value.(type) {
	case object:
		if plain, ok := v["plain_text"].(string); ok {
			if m, ok := v["mention"].(object); ok && m["type"] == "date" {
				date, ok := m["date"].(object)
				start, isText := date["start"].(string)
				if ok && isText {
					plain = start[:min(len(start), len("2006-01-02"))]
				}
			}
			if plain = fold(plain); plain != "" {
				found = append(found, plain)
			}
			return found
		}
		for _, member := range v {
			found = append(found, textsOf(member)...)
		}
	case []any:
		for _, member := range v {
			found = append(found, textsOf(member)...)
		}
	}
	return found
}
