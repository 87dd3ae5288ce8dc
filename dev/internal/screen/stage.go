package screen

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	// quiet is how long a stage may take before it says what it does.
	quiet = 2 * time.Second
	// redraw is how often a terminal is redrawn, sayEvery how often a log gets a line.
	redraw   = 200 * time.Millisecond
	sayEvery = 10 * time.Second

	// worthTelling is how long a stage has to take for its line to say so.
	worthTelling = 50 * time.Millisecond

	nameCells = 10
	barCells  = 24
)

// Stage is something that is being done.
type Stage struct {
	screen *Screen
	name   string
	began  time.Time
	stop   chan struct{}
	ended  sync.WaitGroup

	// What follows is guarded by the screen's lock.
	doing       string
	done, total int64
}

// Begin begins a stage; doing says what takes long, should it take long.
func (s *Screen) Begin(name, doing string) *Stage {
	stage := &Stage{screen: s, name: name, doing: doing, began: time.Now(), stop: make(chan struct{})}
	s.mu.Lock()
	s.moving = append(s.moving, stage)
	s.mu.Unlock()
	stage.ended.Go(stage.move)
	return stage
}

// Doing says what the stage does now.
func (g *Stage) Doing(doing string) {
	g.screen.mu.Lock()
	defer g.screen.mu.Unlock()
	g.doing = doing
}

// Progress says how far the stage is; with a total there is a bar, and it is shown without waiting.
func (g *Stage) Progress(doing string, done, total int64) {
	g.screen.mu.Lock()
	defer g.screen.mu.Unlock()
	g.doing, g.done, g.total = doing, done, total
}

// Done ends the stage with a line that says what came of it and how long it took.
func (g *Stage) Done(result string) {
	took := g.end()
	line := g.screen.paint("✓ ", text.FgGreen) + text.Pad(g.name, nameCells, ' ') + "  " + result
	if took >= worthTelling {
		line += g.screen.Faint(" in " + Took(took))
	}
	g.screen.Line(line)
}

// Fail ends the stage without a word: whoever got the error says it.
func (g *Stage) Fail() { g.end() }

func (g *Stage) end() time.Duration {
	close(g.stop)
	g.ended.Wait()
	s := g.screen
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.moving = slices.DeleteFunc(s.moving, func(other *Stage) bool { return other == g })
	s.draw()
	return time.Since(g.began)
}

// move keeps the person who waits informed.
func (g *Stage) move() {
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	var said time.Time
	for {
		select {
		case <-g.stop:
			return
		case <-ticker.C:
		}
		s := g.screen
		s.mu.Lock()
		line := g.line(false)
		switch {
		case s.terminal:
			s.draw()
		case line != "" && time.Since(said) >= sayEvery:
			said = time.Now()
			fmt.Fprintln(s.to, "  "+line)
		}
		s.mu.Unlock()
	}
}

// line is what the stage does, once it takes long; the caller holds the lock.
func (g *Stage) line(bar bool) string {
	passed := time.Since(g.began)
	if passed < quiet && (g.total == 0 || !bar) {
		return ""
	}
	parts := []string{g.name + ": " + g.doing}
	if g.total > 0 {
		if bar {
			full := int(min(g.done, g.total) * barCells / g.total)
			parts = append(parts, strings.Repeat("█", full)+strings.Repeat("░", barCells-full))
		}
		parts = append(parts, fmt.Sprintf("%d of %d", g.done, g.total))
	}
	return strings.Join(append(parts, Took(passed.Round(time.Second/10))), "  ")
}
