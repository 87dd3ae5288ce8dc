// Package screen is what `dev` shows to the person who started it: a line for each thing that is done, a moving line for what
// takes long, and an aligned summary. On a terminal it has colours and redraws; elsewhere it is plain lines.
package screen

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/term"
)

// eraseLine returns to the line's start and erases it.
const eraseLine = "\r\x1b[K"

// Screen may be used from several goroutines.
type Screen struct {
	to       io.Writer
	terminal bool
	width    int

	mu     sync.Mutex
	moving []*Stage
	drawn  bool
}

// New gives a screen on a file, which may be a terminal.
func New(file *os.File) *Screen {
	s := &Screen{to: file, terminal: term.IsTerminal(int(file.Fd())), width: 80}
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		s.width = width
	}
	return s
}

// Line prints a line.
func (s *Screen) Line(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	fmt.Fprintln(s.to, line)
	s.draw()
}

// Trouble prints a line that somebody should read.
func (s *Screen) Trouble(line string) {
	s.Line(s.paint("! ", text.FgYellow) + line)
}

// Write prints what others have to say, line by line, indented below the stage that they are part of.
func (s *Screen) Write(content []byte) (int, error) {
	for line := range strings.Lines(string(content)) {
		s.Line("  " + s.Faint(strings.TrimRight(line, "\n")))
	}
	return len(content), nil
}

// Faint is for what matters less.
func (s *Screen) Faint(content string) string { return s.paint(content, text.Faint) }

// Strong is for what matters more.
func (s *Screen) Strong(content string) string { return s.paint(content, text.Bold) }

// paint colours where a person looks, unless NO_COLOR says otherwise.
func (s *Screen) paint(content string, colors ...text.Color) string {
	if !s.terminal || content == "" {
		return content
	}
	return text.Colors(colors).Sprint(content)
}

// erase takes the moving line away; the caller holds the lock.
func (s *Screen) erase() {
	if s.drawn {
		fmt.Fprint(s.to, eraseLine)
		s.drawn = false
	}
}

// draw shows the moving line of all stages that take long; the caller holds the lock.
func (s *Screen) draw() {
	if !s.terminal {
		return
	}
	var parts []string
	for _, stage := range s.moving {
		if line := stage.line(true); line != "" {
			parts = append(parts, line)
		}
	}
	if len(parts) == 0 {
		return
	}
	// The last column stays free: a terminal may wrap when it is filled.
	fmt.Fprint(s.to, eraseLine+text.Trim("  "+strings.Join(parts, " · "), s.width-1))
	s.drawn = true
}

// Row is one line of a summary.
type Row struct{ Name, Value string }

// Rows prints names and values, aligned; a row without a value is left out.
func (s *Screen) Rows(rows []Row) {
	width := 0
	for _, row := range rows {
		if row.Value != "" {
			width = max(width, text.StringWidthWithoutEscSequences(row.Name))
		}
	}
	for _, row := range rows {
		if row.Value != "" {
			s.Line("  " + s.Faint(text.Pad(row.Name, width+2, ' ')) + row.Value)
		}
	}
}

// Took is a duration as people say it.
func Took(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
