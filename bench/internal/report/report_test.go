package report_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/bench/internal/report"
)

func sample() *report.Report {
	return &report.Report{
		Facts: []report.Fact{{Name: "cores", Value: "2"}},
		Sections: []report.Section{
			{
				Title: "First sync", Note: "From nothing.",
				Rows: []report.Row{
					{What: "ratio", Figure: "0.60", Target: "≥ 0.50", Met: true},
					{What: "size", Figure: "6 MB", Target: "< 5 MB"},
					{What: "a|b", Figure: "1"},
				},
				Tables: []report.Table{{Head: []string{"process", "ms a page"}, Rows: [][]string{{"worker", "3"}}}},
				Images: []report.Image{{File: "first.svg", Alt: "Where the time goes"}},
			},
			{Title: "Memory", Missing: "skipped"},
		},
	}
}

const golden = `| machine |  |
| --- | --- |
| cores | 2 |

### The targets

| measure | figure | target | met |
| --- | --- | --- | --- |
| ratio | 0.60 | ≥ 0.50 | yes |
| size | 6 MB | < 5 MB | **no** |
| Memory | not measured |  |  |

### First sync

From nothing.

| measure | figure | target | met |
| --- | --- | --- | --- |
| ratio | 0.60 | ≥ 0.50 | yes |
| size | 6 MB | < 5 MB | **no** |
| a\|b | 1 |  |  |

| process | ms a page |
| --- | --- |
| worker | 3 |

![Where the time goes](first.svg)

### Memory

Not measured: skipped.
`

func TestReport(t *testing.T) {
	t.Parallel()
	total, missed := sample().Targets()
	assert.Equal(t, 2, total)
	assert.Equal(t, 1, missed)

	t.Run("goes between the markers, again and again, and leaves all else", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "README.md")
		require.NoError(t, os.WriteFile(path, []byte("Before.\n\n"+report.Begin+"\nold\n"+report.End+"\n\nAfter.\n"), 0o600))
		for range 2 {
			require.NoError(t, sample().WriteFile(path))
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, "Before.\n\n"+report.Begin+"\n\n"+golden+"\n"+report.End+"\n\nAfter.\n", string(text))
		}
	})
	t.Run("makes a file that isn't there", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "figures.md")
		require.NoError(t, sample().WriteFile(path))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Contains(t, string(text), golden)
	})
	t.Run("leaves a file without markers alone", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "README.md")
		require.NoError(t, os.WriteFile(path, []byte("A person's text.\n"), 0o600))
		require.Error(t, sample().WriteFile(path))
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, "A person's text.\n", string(text))
	})
}
