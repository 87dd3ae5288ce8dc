package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/bench/internal/approaches"
)

func TestPercentile(t *testing.T) {
	t.Parallel()
	assert.Zero(t, percentile(nil, 50))
	list := make([]time.Duration, 0, 50)
	for i := range 50 {
		list = append(list, time.Duration(50-i))
	}
	for share, want := range map[int]time.Duration{0: 1, 50: 25, 95: 48, 100: 50} {
		assert.Equal(t, want, percentile(list, share), share)
	}
	assert.EqualValues(t, 7, percentile([]time.Duration{7}, 95))
}

// someComparison has figures of a design that waits, of one that doesn't, and of one without a flood.
func someComparison() *comparison {
	second := time.Second
	return &comparison{
		when: time.Date(2026, time.December, 1, 13, 0, 0, 0, time.UTC), crowd: 50, pages: 2000, floors: []float64{30, 50},
		names: []string{"a queue per page", "a queue per page, thrifty", "loresync"},
		crowds: map[string]crowdFigures{
			"a queue per page":          {took: 101 * second, runs: 50, history: history{events: 512, bytes: 60_000}, load: 0.5},
			"a queue per page, thrifty": {took: 4 * second, runs: 2},
			"loresync":                  {took: 800 * time.Millisecond, runs: 1, history: history{events: 31, bytes: 4_000}},
		},
		rests: map[string]restFigures{
			"a queue per page":          {takes: 5 * second, took: []time.Duration{5 * second, 5 * second}},
			"a queue per page, thrifty": {takes: 5 * second, took: []time.Duration{5 * second}},
			"loresync":                  {takes: time.Minute, took: []time.Duration{second, 2 * second, 3 * second}},
		},
		floods: map[string]floodFigures{
			"a queue per page": {pages: 2000, runs: 6000, history: history{events: 60_000}, usage: usage{wall: 100 * second}},
			"loresync":         {pages: 2000, runs: 2100, timeouts: 1, usage: usage{wall: 80 * second}},
		},
	}
}

func TestComparison(t *testing.T) {
	t.Parallel()
	c := someComparison()
	chartFile := filepath.Join(t.TempDir(), chartName)
	section, err := c.section(chartFile)
	require.NoError(t, err)
	crowd, rest, flood, lines := section.Tables[0], section.Tables[1], section.Tables[2], section.Tables[3]
	assert.Equal(t, []string{"a queue per page", "101.000 s", "50.50", "50", "512", "60 kB", "0", "0", "0.5"}, crowd.Rows[0])
	assert.Equal(t, []string{"a queue per page", "5 s", "2", "5.000 s", "5.000 s", "5.000 s", "the end of the sync, however long", "0.0"}, rest.Rows[0])
	assert.Equal(t, []string{"loresync", "60 s", "3", "2.000 s", "3.000 s", "3.000 s", "the cancel to arrive", "0.0"}, rest.Rows[2])
	assert.Len(t, flood.Rows, 2, "the design without a flood is left out")
	assert.Equal(t, []string{"loresync", "25.0", "0.62", "2,100", "100", "1, 0", "0.0", "0 B", "0.0"}, flood.Rows[1])
	assert.Len(t, lines.Rows, 3)
	for _, table := range section.Tables {
		for _, row := range table.Rows {
			assert.Len(t, row, len(table.Head))
		}
	}
	assert.True(t, section.Rows[0].Met)
	assert.Contains(t, section.Images[0].Alt, "loresync 0.8 s")
	svg, err := os.ReadFile(chartFile)
	require.NoError(t, err)
	assert.Contains(t, string(svg), "loresync")

	again := c.crowds[loresync]
	again.runs = 3
	c.crowds[loresync] = again
	section, err = c.section("")
	require.NoError(t, err)
	assert.False(t, section.Rows[0].Met)
	assert.Empty(t, section.Images, "without a file there is no picture to refer to")
}

func TestChartStandsBesideTheFigures(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "bench/approaches.svg", options{out: "bench/README.md"}.chartFile())
	assert.Empty(t, options{}.chartFile())
}

func TestFoldersOf(t *testing.T) {
	t.Parallel()
	pages := []approaches.Page{{Folder: "a", ID: "1"}, {Folder: "b", ID: "1"}, {Folder: "a", ID: "2"}}
	assert.Equal(t, []string{"a", "b"}, foldersOf(pages))
	assert.Equal(t, []approaches.Entry{0, 1, 2, 0}, slices.Collect(func(yield func(approaches.Entry) bool) {
		for i := range 4 {
			yield(entryOf(i))
		}
	}))
}
