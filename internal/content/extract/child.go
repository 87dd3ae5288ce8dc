package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/loresync/loresync/internal/content/text"
)

const (
	// startPatience is how long a child may take to get ready: a few seconds for compiling the PDF engine, and a good many
	// times that on a machine that is busy.
	startPatience = 2 * time.Minute
	// maxEscape is the most that JSON makes of one byte of text.
	maxEscape = 6
	// maxNote is the longest note, in characters.
	maxNote = 1000
)

// child is the one process that parses for this one, as far as it is running. It is used by one goroutine at a time.
type child struct {
	options Options
	process *process
	// peak is the most memory that the current process has told of, in bytes.
	peak int64
	used time.Time
}

func newChild(options Options) *child { return &child{options: options} }

// extract sends a file to the process, starting it if need be. A process that didn't answer is gone afterwards.
func (c *child) extract(ctx context.Context, k kind, r io.Reader) (Result, error) {
	defer func() { c.used = time.Now() }()
	p, err := c.running(ctx)
	if err != nil {
		return Result{}, err
	}
	stop := context.AfterFunc(ctx, p.kill)
	defer stop()
	answer, err := c.ask(ctx, p, k, r)
	if err == nil {
		c.peak = answer.Peak
		if answer.Spent {
			c.end()
		}
		return resultOf(answer, c.options.MaxRunes), nil
	}
	if errors.Is(err, errTooLarge) {
		return tooLarge(c.options.MaxBytes), nil
	}
	if bad := (*readError)(nil); errors.As(err, &bad) {
		return Result{}, err
	}
	c.end()
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	return c.verdict(p, err)
}

// verdict says what a process that gave no answer says about its file.
func (c *child) verdict(p *process, err error) (Result, error) {
	switch {
	case !p.begun:
		// It never got as far as parsing: the file may be a good one.
		return Result{}, fmt.Errorf("start parsing in the child process: %w (%s)", err, p.how())
	case errors.Is(err, errTooSlow):
		return tooSlow(c.options.Timeout), nil
	case p.ranOutOfMemory():
		return unsearchable(ReasonMemory), nil
	case p.crashed():
		return unsearchable(ReasonCorrupt), nil
	default:
		// It was killed from outside.
		return Result{}, fmt.Errorf("talk to the child process: %w (%s)", err, p.how())
	}
}

var errTooSlow = errors.New("parsing takes too long")

// ask has one conversation with the process.
func (c *child) ask(ctx context.Context, p *process, k kind, r io.Reader) (reply, error) {
	p.begun = false
	if err := c.send(ctx, p, k, r); err != nil {
		return reply{}, err
	}
	if err := p.within(startPatience, func() error { return expectEmpty(p.out) }); err != nil {
		return reply{}, err
	}
	p.begun = true
	var answer reply
	limit := c.options.MaxRunes*maxEscape*2 + maxJob
	err := p.within(c.options.Timeout, func() error { return readJSON(p.out, limit, &answer) })
	if errors.Is(err, errPatience) {
		return reply{}, errTooSlow
	}
	return answer, err
}

// send hands over the job and its file. What stops short of the file's end because of the file is taken back, so that the
// process can go on with the next one.
func (c *child) send(ctx context.Context, p *process, k kind, r io.Reader) error {
	o := c.options
	order := job{Format: k.format, Charset: k.charset, MaxBytes: o.MaxBytes, MaxPages: o.MaxPages, MaxRunes: o.MaxRunes}
	if err := writeJSON(p.in, order); err != nil {
		return err
	}
	err := pump(ctx, r, o.MaxBytes, func(piece []byte) error { return writeFrame(p.in, piece) })
	if bad := (*readError)(nil); errors.Is(err, errTooLarge) || errors.As(err, &bad) {
		return errors.Join(err, writeLength(p.in, forget))
	}
	if err != nil {
		return err
	}
	return writeFrame(p.in, nil)
}

func expectEmpty(r io.Reader) error {
	_, err := readFrame(r, 0)
	return err
}

// running gives the process, starting one if there is none or the last one ended meanwhile.
func (c *child) running(ctx context.Context) (*process, error) {
	if c.process != nil && !c.process.ended() {
		return c.process, nil
	}
	c.end()
	p, err := start(ctx, charge{Memory: c.options.Memory, CacheDir: c.options.CacheDir})
	if err != nil {
		return nil, err
	}
	c.process = p
	return p, nil
}

// end ends the process, if there is one, and waits for it.
func (c *child) end() {
	if c.process == nil {
		return
	}
	c.process.kill()
	<-c.process.done
	c.process = nil
}

// resultOf takes over a reply. The bounds are looked at again, since the process may have been in the hands of a file.
func resultOf(answer reply, maxRunes int) Result {
	note := text.Ellipsize(text.Clean(answer.Note), maxNote)
	if !answer.Searchable {
		return Result{Pages: answer.Pages, Reason: answer.Reason, Note: note}
	}
	result := limited(text.Clean(answer.Text), maxRunes, answer.Truncated)
	result.Pages, result.Note = answer.Pages, note
	return result
}
