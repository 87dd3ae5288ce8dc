package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/bench/internal/report"
)

func TestUpdateFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "README.md")
	require.NoError(t, os.WriteFile(path, []byte("Before.\n\n"+report.Begin+"\n"+report.End+"\n\nAfter.\n"), 0o600))
	require.NoError(t, sample().WriteFile(path))
	read := func() string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}

	memory := report.Section{Title: "Memory", Note: "Alone.", Rows: []report.Row{{What: "peak", Figure: "60 MB", Target: "< 90 MB", Met: true}}}
	update := &report.Report{Sections: []report.Section{{Title: "First sync", Missing: "skipped"}, memory}}
	require.NoError(t, update.UpdateFile(path))
	want := sample()
	want.Sections[1] = memory
	other := filepath.Join(t.TempDir(), "whole.md")
	require.NoError(t, want.WriteFile(other))
	whole, err := os.ReadFile(other)
	require.NoError(t, err)
	assert.Contains(t, read(), strings.TrimSpace(string(whole)), "as if all had been measured at once")
	before := read()
	require.NoError(t, update.UpdateFile(path))
	assert.Equal(t, before, read(), "once more changes nothing")

	fresh := report.Section{Title: "New", Rows: []report.Row{{What: "share", Figure: "97 %", Target: "≥ 95 %", Met: true}}}
	require.NoError(t, (&report.Report{Sections: []report.Section{fresh}}).UpdateFile(path))
	want.Sections = append(want.Sections, fresh)
	require.NoError(t, want.WriteFile(other))
	whole, err = os.ReadFile(other)
	require.NoError(t, err)
	assert.Contains(t, read(), strings.TrimSpace(string(whole)), "a new one stands at the end")
	assert.True(t, strings.HasPrefix(read(), "Before.\n") && strings.HasSuffix(read(), "After.\n"))
}
