// Package out is how the command line speaks: one JSON document for programs, aligned and coloured text for people, and
// messages beside the answer. What comes from a source is hostile, so no control character of it reaches a terminal.
package out

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/loresync/loresync/internal/document"
)

// Terminals says which of the three streams a person sits at, and how wide the screen is.
type Terminals struct {
	In, Out, Err bool
	// Width is in character cells; zero means that lines are as long as they are.
	Width int
}

// Printer writes a command's answer to one stream and what is said about it to the other.
type Printer struct {
	// JSON asks for one JSON document on the answer's stream.
	JSON bool
	// Terminals decides about colours, truncation and redrawing.
	Terminals Terminals

	now      func() time.Time
	answer   *stickyWriter
	messages io.Writer
}

// New gives a Printer; now is the clock that relative times are told by.
func New(answer, messages io.Writer, terminals Terminals, now func() time.Time) *Printer {
	return &Printer{Terminals: terminals, now: now, answer: &stickyWriter{to: answer}, messages: messages}
}

// Document prints v as the one JSON document of a command: times in UTC, empty lists as [], and whatever could steer a terminal
// escaped.
func (p *Printer) Document(v any) error {
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(document.Normal(v)); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	if _, err := p.answer.Write(escaped(encoded.Bytes())); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// escaped spells as JSON escapes what the encoder leaves as it is and could steer a terminal. Such characters stand in strings only.
func escaped(encoded []byte) []byte {
	steers := func(r rune) bool { return !harmless(r) }
	if bytes.IndexFunc(encoded, steers) < 0 {
		return encoded
	}
	safe := make([]byte, 0, len(encoded))
	for _, r := range string(encoded) {
		if steers(r) {
			safe = fmt.Appendf(safe, `\u%04x`, r)
		} else {
			safe = utf8.AppendRune(safe, r)
		}
	}
	return safe
}

// Line prints one line of the answer.
func (p *Printer) Line(format string, args ...any) {
	fmt.Fprintf(p.answer, format+"\n", args...)
}

// Raw prints a text of the answer as it is, but for what could steer a terminal: what is piped mostly ends on one. Documents for
// programs keep it.
func (p *Printer) Raw(content string) {
	content = CleanText(content)
	if !strings.HasSuffix(content, "\n") {
		content += "\n"
	}
	fmt.Fprint(p.answer, content)
}

// Say prints a message beside the answer.
func (p *Printer) Say(format string, args ...any) {
	fmt.Fprintf(p.messages, "%s\n", CleanText(fmt.Sprintf(format, args...)))
}

// Hint says what to do next. Programs that read JSON need none.
func (p *Printer) Hint(format string, args ...any) {
	if p.JSON {
		return
	}
	line := CleanText(fmt.Sprintf(format, args...))
	if p.Terminals.Err {
		line = text.Colors{text.Faint}.Sprint(line)
	}
	fmt.Fprintln(p.messages, line)
}

// Warn prints a warning beside the answer.
func (p *Printer) Warn(sentence string) {
	word := "warning:"
	if p.Terminals.Err {
		word = text.Colors{text.FgYellow}.Sprint(word)
	}
	fmt.Fprintf(p.messages, "%s %s\n", word, Clean(sentence))
}

// Fail prints why a command failed, as one line.
func (p *Printer) Fail(sentence string) {
	word := "error:"
	if p.Terminals.Err {
		word = text.Colors{text.FgRed, text.Bold}.Sprint(word)
	}
	fmt.Fprintf(p.messages, "%s %s\n", word, Clean(sentence))
}

// Messages is the stream beside the answer, for prompts and progress.
func (p *Printer) Messages() io.Writer { return p.messages }

// Answer is the stream of the answer, for what is printed by others (completion scripts, help).
func (p *Printer) Answer() io.Writer { return p.answer }

// Now is the time by the printer's clock.
func (p *Printer) Now() time.Time { return p.now() }

// Err tells whether the answer could not be written: a full disk must not look like success.
func (p *Printer) Err() error {
	if p.answer.err != nil {
		return fmt.Errorf("write the answer: %w", p.answer.err)
	}
	return nil
}

// Paint colours a text of the answer if a person looks at it.
func (p *Printer) Paint(content string, colors ...text.Color) string {
	if !p.Terminals.Out || content == "" {
		return content
	}
	return text.Colors(colors).Sprint(content)
}

// Faint is Paint for what matters less.
func (p *Printer) Faint(content string) string { return p.Paint(content, text.Faint) }

// Strong is Paint for what matters more.
func (p *Printer) Strong(content string) string { return p.Paint(content, text.Bold) }

// stickyWriter remembers the first error, so that it can be asked for once at the end.
type stickyWriter struct {
	to  io.Writer
	err error
}

// Write passes on until the first error.
func (w *stickyWriter) Write(content []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.to.Write(content)
	w.err = err
	return n, err
}
