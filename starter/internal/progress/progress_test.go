package progress_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/starter/internal/out"
	"github.com/loresync/loresync/starter/internal/progress"
)

// shown is what a Bar writes while something takes so long.
func shown(t *testing.T, terminals out.Terminals, takes time.Duration) string {
	t.Helper()
	var written bytes.Buffer
	synctest.Test(t, func(*testing.T) {
		bar := progress.Start(&written, terminals, "hr")
		bar.Update(knowledge.RunProgress{Phase: "syncing", Listed: 100, Done: 25, Failed: 1, Total: 100})
		<-time.After(takes)
		bar.Stop()
	})
	return written.String()
}

func TestWhatIsOverQuicklyShowsNothing(t *testing.T) {
	t.Parallel()
	assert.Empty(t, shown(t, out.Terminals{Err: true, Width: 80}, 1900*time.Millisecond))
	assert.Empty(t, shown(t, out.Terminals{}, 4900*time.Millisecond))
}

func TestALogGetsALineEveryFiveSeconds(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "hr  25 of 100 pages  1 failed  5s\nhr  25 of 100 pages  1 failed  10s\n", shown(t, out.Terminals{}, 12*time.Second))
}

func TestATerminalIsRedrawnOnOneLineAndLeftClean(t *testing.T) {
	t.Parallel()
	written := shown(t, out.Terminals{Err: true, Width: 80}, 3*time.Second)
	assert.NotContains(t, written, "\n")
	assert.Contains(t, written, "hr  ███████░░░░░░░░░░░░░░░░░░░░░  25 of 100 pages  1 failed  2s")
	assert.True(t, strings.HasSuffix(written, "\r\x1b[K"))
	for line := range strings.SplitSeq(shown(t, out.Terminals{Err: true, Width: 30}, 3*time.Second), "\r\x1b[K") {
		assert.Less(t, out.Width(line), 30)
	}
}

func TestLinesSayWhatIsKnown(t *testing.T) {
	t.Parallel()
	for want, state := range map[string]knowledge.RunProgress{
		"x  waiting  3s":                     {},
		"x  listing  2,000 listed  3s":       {Phase: "listing", Listed: 2000},
		"x  reconciling  3s":                 {Phase: "reconciling"},
		"x  1 of 1 page  3s":                 {Phase: "syncing", Done: 1, Total: 1},
		"x  2 of 9 pages  5 listed  3s":      {Phase: "listing", Listed: 5, Done: 2, Total: 9},
		"x  12 of 9 pages  1,000 failed  3s": {Phase: "syncing", Done: 12, Total: 9, Failed: 1000},
	} {
		assert.Equal(t, want, progress.Line("x", state, 3*time.Second, false))
	}
	assert.NotPanics(t, func() { progress.Line("x", knowledge.RunProgress{Done: 12, Total: 9}, 0, true) })
}
