// Package progress shows how far something has come while a command waits for it: a bar that is redrawn on a terminal, a line
// now and then elsewhere, and nothing at all for what is over quickly.
package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/starter/internal/out"
)

const (
	// What ends before this needs no progress.
	quiet = 2 * time.Second
	// How often a terminal is redrawn, and how often a log gets a line.
	redraw   = 250 * time.Millisecond
	logEvery = 5 * time.Second
	barCells = 28
	// Return to the line's start and erase it.
	eraseLine = "\r\x1b[K"
)

// Bar shows progress from Start to Stop. Its methods may be called from several goroutines.
type Bar struct {
	to       io.Writer
	terminal bool
	width    int
	what     string

	stop    chan struct{}
	stopped sync.WaitGroup

	mu    sync.Mutex
	state knowledge.RunProgress
}

// Start begins to show how long what is waited for takes, on to; width is the terminal's, zero without one.
func Start(to io.Writer, terminals out.Terminals, what string) *Bar {
	bar := &Bar{to: to, terminal: terminals.Err, width: terminals.Width, what: what, stop: make(chan struct{})}
	bar.stopped.Go(bar.show)
	return bar
}

// Update takes the newest state; it is shown at the next redraw.
func (b *Bar) Update(state knowledge.RunProgress) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.state = state
}

// Stop ends the showing and leaves the terminal's line empty. What follows is printed after it.
func (b *Bar) Stop() {
	close(b.stop)
	b.stopped.Wait()
}

func (b *Bar) show() {
	every := logEvery
	if b.terminal {
		every = redraw
	}
	began := time.Now()
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	drawn := false
	for {
		select {
		case <-b.stop:
			if drawn && b.terminal {
				fmt.Fprint(b.to, eraseLine)
			}
			return
		case <-ticker.C:
			if passed := time.Since(began); passed >= quiet {
				b.draw(passed)
				drawn = true
			}
		}
	}
}

func (b *Bar) draw(passed time.Duration) {
	b.mu.Lock()
	state := b.state
	b.mu.Unlock()
	line := Line(b.what, state, passed, b.terminal)
	if b.terminal {
		fmt.Fprint(b.to, eraseLine+out.Truncate(line, b.width-1))
		return
	}
	fmt.Fprintln(b.to, line)
}

// Line is one state as people read it, with a bar or without.
func Line(what string, state knowledge.RunProgress, passed time.Duration, bar bool) string {
	var parts []string
	if what != "" {
		parts = append(parts, out.Clean(what))
	}
	switch {
	case state.Total > 0:
		if bar {
			parts = append(parts, drawBar(state.Done, state.Total))
		}
		parts = append(parts, fmt.Sprintf("%s of %s", out.Number(state.Done), out.Plural(state.Total, "page")))
	case state.Phase != "":
		parts = append(parts, state.Phase)
	default:
		parts = append(parts, "waiting")
	}
	if state.Phase == "listing" && state.Listed > 0 {
		parts = append(parts, out.Number(state.Listed)+" listed")
	}
	if state.Failed > 0 {
		parts = append(parts, out.Number(state.Failed)+" failed")
	}
	return strings.Join(append(parts, out.Took(passed.Round(time.Second))), "  ")
}

func drawBar(done, total int64) string {
	done = min(max(done, 0), total)
	full := int(done * barCells / total)
	return strings.Repeat("█", full) + strings.Repeat("░", barCells-full)
}
