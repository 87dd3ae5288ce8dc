// Package extract takes the text out of attachments: PDFs, the documents, spreadsheets and presentations of Office and
// OpenDocument, texts, tables of comma-separated values and HTML pages.
//
// A file from outside may be large, damaged or made to do harm, and a worker has little memory. So whatever has to be
// parsed (all but plain text) is parsed in a child process with a memory bound of its own, one file at a time, and the child is
// killed when it takes too long. What only has to be cut and cleaned is done here. That a file gives no text is an
// ordinary answer with a reason; an error means that it should be tried again.
//
//	extract.go   the extractor, its settings and its answer
//	kind.go      what a file is, by media type and name
//	input.go     reading no more than is needed
//	plain.go     texts and Markdown
//	table.go     comma-separated values
//	child.go     the child process as its parent sees it
//	process.go   starting and ending it
//	wire.go      what the two say to each other
//	serve.go     the child
//	held.go      the file in the child's memory
//	pdf.go       the PDF engine, in the child
//	clean.go     PDF text as a reader would write it
//	charset.go   which encoding a text is in
//	script.go    how likely a text is to be Japanese, Chinese or Western
//	office.go    which office file it is, and what is wrong with it
//	archive.go   its parts, unpacked within bounds
//	walk.go      XML, element by element
//	page.go      blocks of text, lists and tables as HTML on the way to Markdown
//	inline.go    the text inside them
//	docx*.go     Word: document, paragraphs, tables, styles, lists
//	numeral.go   the numbers of Word's lists
//	pptx*.go     PowerPoint: slides and their text
//	xlsx*.go     Excel: sheets, texts, numbers
//	open*.go     OpenDocument: texts, sheets, slides
//	sheet.go     the sheets of both as Markdown tables
//
// For Excel's number formats there is excelize. For documents and presentations no Go library was found that keeps lists with
// their numbers, tables and footnotes and reads as a stream, so they are read here with archive/zip and encoding/xml.
package extract

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"
)

// The defaults of Options.
const (
	DefaultMaxBytes = 25 << 20
	DefaultMaxPages = 500
	DefaultMaxRunes = 1_000_000
	DefaultTimeout  = 60 * time.Second
	// DefaultMemory has room for compiling the PDF engine, which takes 300 MB resident for some seconds. Afterwards, or with
	// an engine from the cache, an ordinary file of 200 pages takes 80 MB.
	DefaultMemory = 512 << 20
	// DefaultIdle is long enough for the next attachment of the same crawl: a child at rest has 55 MB resident, and
	// starting the PDF engine anew costs 4 s of a core.
	DefaultIdle = 5 * time.Minute
)

// Options bound the work on one file. Zero values mean the defaults.
type Options struct {
	// MaxBytes is the largest file; a larger one gives no text.
	MaxBytes int64
	// MaxPages is how many pages of a PDF, or slides, are read; the rest is left out, and the result is truncated.
	MaxPages int
	// MaxRunes is the length of the longest text; the rest is left out, and the result is truncated.
	MaxRunes int
	// Timeout is how long parsing a file may take once all of it has been read. Then the child is killed.
	Timeout time.Duration
	// Memory bounds the child process, in bytes of data mapped. Below some 400 MB the PDF engine can't start.
	Memory int64
	// Idle is how long a child without work is kept for the next file.
	Idle time.Duration
	// CacheDir keeps the compiled PDF engine, so that later children start in a fraction of a second and never need the
	// memory that compiling takes. Nobody but this account may be able to write there, since it holds code. Empty, the default,
	// means that every child compiles anew.
	CacheDir string
}

// The reasons why a file isn't searchable. Each begins with a word for programs and goes on for people; those of files
// beyond a bound name the bound instead of these fixed words.
const (
	ReasonScanned   = "scanned: no text layer"
	ReasonEncrypted = "encrypted: a password is needed"
	ReasonCorrupt   = "corrupt: the file can't be read"
	ReasonEmpty     = "empty: there is no text in it"
	ReasonBinary    = "binary: the file is no text, or in an unknown encoding"
	ReasonMemory    = "too complex: reading it needs too much memory"
	ReasonUnpacked  = "too large: it unpacks to far more than is read"
	ReasonOutdated  = "outdated: save it as .docx, .xlsx or .pptx to have it read"
)

// Result is what became of one file.
type Result struct {
	// Text is Markdown in the form of render.Document: UTF-8 in NFC, \n as line break, empty if nothing can be searched.
	Text string
	// Pages is the number of pages of a PDF or of slides, also when only some were read; 0 for other kinds.
	Pages int
	// Searchable is true when Text holds what the file says.
	Searchable bool
	// Reason says why the file isn't searchable; empty if it is.
	Reason string
	// Truncated is true when Text lacks a part of the file because of MaxPages, MaxRunes or the bounds of sheets, or a page
	// that is damaged.
	Truncated bool
	// Note tells people what they should know of a text: that its encoding was guessed, or what was left out. Most have none.
	// It holds nothing of the text.
	Note string
}

// Extractor takes the text out of files. It is safe for concurrent use; files that need the child wait for each other, so
// one Extractor serves a whole process.
type Extractor struct {
	options Options
	// slot holds the one child; whoever has taken it out may use it.
	slot chan *child
}

// New makes an extractor. It starts nothing yet.
func New(options Options) *Extractor {
	orDefault(&options.MaxBytes, DefaultMaxBytes)
	orDefault(&options.MaxPages, DefaultMaxPages)
	orDefault(&options.MaxRunes, DefaultMaxRunes)
	orDefault(&options.Timeout, DefaultTimeout)
	orDefault(&options.Memory, DefaultMemory)
	orDefault(&options.Idle, DefaultIdle)
	e := &Extractor{options: options, slot: make(chan *child, 1)}
	e.slot <- newChild(options)
	return e
}

func orDefault[N int | int64 | time.Duration](setting *N, value N) {
	if *setting <= 0 {
		*setting = value
	}
}

// Extract reads a file and gives its text. mime is a media type, parameters included, as the source knows it; where it says
// nothing the name decides. A file that can't be searched is a Result with a Reason. It errs when the file can't be read to
// its end, when the context ends, and when the child can't be started: all of these may go better another time.
func (e *Extractor) Extract(ctx context.Context, mime, name string, r io.Reader) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("extract text: %w", err)
	}
	result, err := e.extract(ctx, kindOf(mime, name), r)
	if err != nil {
		return Result{}, fmt.Errorf("extract text: %w", err)
	}
	return result, nil
}

func (e *Extractor) extract(ctx context.Context, k kind, r io.Reader) (Result, error) {
	switch k.format {
	case formatText, formatMarkdown, formatTable:
		return e.plain(ctx, k, r)
	case formatPDF, formatHTML, formatOffice:
		return e.inChild(ctx, k, r)
	default:
		return unsearchable("unsupported: no text is taken from files of the kind " + k.media), nil
	}
}

// inChild has the one child parse a file, as soon as it is free.
func (e *Extractor) inChild(ctx context.Context, k kind, r io.Reader) (Result, error) {
	select {
	case <-ctx.Done():
		return Result{}, ctx.Err()
	case c := <-e.slot:
		defer e.release(c)
		return c.extract(ctx, k, r)
	}
}

// release puts the child back for the next file, and has it ended if none comes.
func (e *Extractor) release(c *child) {
	e.slot <- c
	time.AfterFunc(e.options.Idle, e.endIdle)
}

// endIdle ends a child that has had no work for a while. One that works now gets another look after its file.
func (e *Extractor) endIdle() {
	select {
	case c := <-e.slot:
		if time.Since(c.used) >= e.options.Idle {
			c.end()
		}
		e.slot <- c
	default:
	}
}

// Close ends the child, if there is one, once its file is done. The extractor stays usable.
func (e *Extractor) Close() {
	c := <-e.slot
	c.end()
	e.slot <- c
}

func unsearchable(reason string) Result { return Result{Reason: reason} }

// tooLarge is the result for a file beyond MaxBytes.
func tooLarge(limit int64) Result {
	return unsearchable("too large: files of more than " + humanize.IBytes(uint64(limit)) + " are not read")
}

// tooSlow is the result for a file that takes longer than Timeout.
func tooSlow(limit time.Duration) Result {
	return unsearchable("too slow: reading it takes longer than " + limit.String())
}
