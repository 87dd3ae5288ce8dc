package extract

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"syscall"

	"github.com/loresync/loresync/internal/content/render"
)

// childVariable asks a program to be a child. Its value is a charge in JSON.
const childVariable = "LORESYNC_EXTRACT_CHILD"

// charge is what a child is told for its whole life.
type charge struct {
	// Memory is its bound in bytes.
	Memory   int64  `json:"memory"`
	CacheDir string `json:"cache_dir"`
}

// isChild tells whether this process was started to be a child. It isn't a setting: nobody but start sets the variable.
func isChild() bool {
	_, asked := os.LookupEnv(childVariable) //nolint:forbidigo // see above
	return asked
}

// ServeChildIfAsked makes this process the child of an Extractor, if that is what it was started for, and then doesn't
// return. Every program that uses an Extractor calls it first in its main, before it reads settings or flags.
func ServeChildIfAsked() {
	if !isChild() {
		return
	}
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// serve parses one file after another until its input ends.
func serve(in io.Reader, out io.Writer) error {
	value, _ := os.LookupEnv(childVariable) //nolint:forbidigo // see isChild
	var c charge
	if err := json.Unmarshal([]byte(value), &c); err != nil {
		return fmt.Errorf("read the charge: %w", err)
	}
	if err := boundMemory(c.Memory); err != nil {
		return err
	}
	if err := writeFrame(out, []byte(greeting)); err != nil {
		return fmt.Errorf("greet the parent: %w", err)
	}
	orders := make(chan order)
	go receiveAll(in, orders)
	s := server{charge: c}
	for o := range orders {
		if err := s.answer(o, out); err != nil {
			return err
		}
		// Between two files the process keeps no more than the compiled engine.
		debug.FreeOSMemory()
	}
	return nil
}

// boundMemory gives this process its bound. Beyond it the kernel refuses memory, and Go ends the process; Go's own soft limit
// makes it tidy up before that. What it had in memory when it ended badly is not written to a file.
func boundMemory(most int64) error {
	if most <= 0 {
		return fmt.Errorf("bound the memory: %d is no number of bytes", most)
	}
	debug.SetMemoryLimit(most / 4 * 3)
	return errors.Join(setLimit(syscall.RLIMIT_DATA, uint64(most)), setLimit(syscall.RLIMIT_CORE, 0))
}

// setLimit bounds a resource for good.
func setLimit(resource int, most uint64) error {
	if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
		return fmt.Errorf("bound the resources: %w", err)
	}
	return nil
}

// order is a job with its file.
type order struct {
	job

	file *held
}

// receiveAll hands on what the parent asks for. It goes on reading while a file is parsed, so that it sees the end of its
// input, which is the parent's, at once: then nobody waits for the answer any more.
func receiveAll(in io.Reader, orders chan<- order) {
	for {
		o, err := receive(in)
		if errors.Is(err, errForgotten) {
			continue
		}
		if err != nil {
			os.Exit(0)
		}
		orders <- o
	}
}

func receive(in io.Reader) (order, error) {
	var o order
	if err := readJSON(in, maxJob, &o.job); err != nil {
		return order{}, err
	}
	o.file = &held{}
	for {
		piece, err := readFrame(in, maxJob)
		if err != nil {
			return order{}, err
		}
		if len(piece) == 0 {
			return o, nil
		}
		_, _ = o.file.Write(piece) // never fails
	}
}

// server answers orders. The PDF engine is started with the first PDF, since it costs seconds and most of the memory.
type server struct {
	charge charge
	engine *engine
}

func (s *server) answer(o order, out io.Writer) error {
	o.Format = actual(o.Format, o.file)
	if err := s.prepare(o.Format); err != nil {
		return err
	}
	if err := writeFrame(out, nil); err != nil {
		return fmt.Errorf("tell the parent: %w", err)
	}
	r := s.parse(o)
	r.Peak = peakMemory()
	if err := writeJSON(out, r); err != nil {
		return fmt.Errorf("answer the parent: %w", err)
	}
	return nil
}

// prepare starts the engine if it is needed. No PDF is parsed before the process has lost the right to write files; the
// engine's cache is written until then.
func (s *server) prepare(f format) error {
	if f != formatPDF || s.engine != nil {
		return nil
	}
	var err error
	if s.engine, err = newEngine(s.charge); err != nil {
		return fmt.Errorf("start the PDF engine: %w", err)
	}
	// Compiling leaves five times as much garbage as the engine is large.
	debug.FreeOSMemory()
	return setLimit(syscall.RLIMIT_FSIZE, 0)
}

func (s *server) parse(o order) reply {
	switch o.Format {
	case formatPDF:
		return s.engine.parse(o)
	case formatOffice:
		return parseOffice(o)
	default:
		return parseHTML(o)
	}
}

func parseHTML(o order) reply {
	page := o.file.bytes()
	text, note, err := decode(page, false, htmlCharset(page, o.Charset))
	if err != nil {
		return reply{Reason: ReasonBinary}
	}
	document, err := render.HTML(text)
	if err != nil {
		return reply{Reason: ReasonCorrupt}
	}
	r := replyOf(limited(document.Markdown, o.MaxRunes, false))
	r.Note = note
	return r
}

func replyOf(r Result) reply {
	return reply{Text: r.Text, Pages: r.Pages, Searchable: r.Searchable, Reason: r.Reason, Truncated: r.Truncated}
}
