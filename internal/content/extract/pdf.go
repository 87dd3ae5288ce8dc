package extract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/loresync/loresync/internal/content/render"
)

const (
	// wasmPage is WebAssembly's unit of memory.
	wasmPage = 64 << 10
	// engineShare is the part of the memory bound that the engine may use for one file: it moves to a larger place when it
	// grows, so that for a moment it has twice that, beside the compiled engine and the file.
	engineShare = 4
	// openPatience bounds the making of a fresh engine, which takes milliseconds; parsing itself is bounded by the parent.
	openPatience = time.Minute
	// rawPerRune is how many characters are read for one of the result, at most: spaces and line ends are folded.
	rawPerRune = 2
)

// engine is the PDF engine, compiled. Each file gets a fresh instance of it, so no file sees what another left behind.
type engine struct{ pool pdfium.Pool }

// newEngine takes the engine from the cache, where there is one that can be used, or compiles it.
func newEngine(c charge) (*engine, error) {
	config := wazero.NewRuntimeConfig().
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithMemoryLimitPages(uint32(c.Memory / engineShare / wasmPage))
	if c.CacheDir != "" {
		if e, err := compile(c.CacheDir, config); err == nil {
			return e, nil
		}
	}
	return compile("", config)
}

// compile makes an engine that sees no file system.
func compile(cacheDir string, config wazero.RuntimeConfig) (*engine, error) {
	if cacheDir != "" {
		cache, err := wazero.NewCompilationCacheWithDir(cacheDir)
		if err != nil {
			return nil, fmt.Errorf("open the cache: %w", err)
		}
		config = config.WithCompilationCache(cache)
	}
	pool, err := webassembly.Init(webassembly.Config{
		Context: context.Background(), MaxIdle: 1, MaxTotal: 1,
		RuntimeConfig: config, FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard,
	})
	if err != nil {
		return nil, fmt.Errorf("compile: %w", err)
	}
	return &engine{pool: pool}, nil
}

// parse reads one PDF. What the engine can't make sense of is corrupt; it repairs more than it refuses.
func (e *engine) parse(o order) reply {
	if o.file.size == 0 {
		return reply{Reason: ReasonEmpty}
	}
	instance, err := e.pool.GetInstance(openPatience)
	if err != nil {
		return reply{Reason: ReasonMemory}
	}
	defer func() { _ = instance.Close() }() // a broken instance is thrown away anyway
	opened, err := instance.OpenDocument(&requests.OpenDocument{FileReader: o.file.reader(), FileReaderSize: o.file.size})
	if err != nil {
		return failure(err)
	}
	count, err := instance.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: opened.Document})
	if err != nil || count.PageCount <= 0 {
		return reply{Reason: ReasonCorrupt}
	}
	d := document{instance: instance, ref: opened.Document, job: o.job, pages: count.PageCount}
	return d.read()
}

// failure is the reply to a file that can't be opened.
func failure(err error) reply {
	switch {
	case gaveUp(err):
		return reply{Reason: ReasonMemory, Spent: true}
	case errors.Is(err, pdferrors.ErrPassword) || errors.Is(err, pdferrors.ErrSecurity):
		return reply{Reason: ReasonEncrypted}
	default:
		return reply{Reason: ReasonCorrupt}
	}
}

// gaveUp tells whether the engine stopped in the middle: that is what it does when it gets no more memory. It is of no use
// afterwards.
func gaveUp(err error) bool { return err != nil && strings.Contains(err.Error(), "wasm error") }

// document is one opened PDF.
type document struct {
	job

	instance pdfium.Pdfium
	ref      references.FPDF_DOCUMENT
	pages    int

	text strings.Builder
	// runes is the length of text; drawn counts what the pages show (texts, images, shapes), and broken the pages that
	// can't be read.
	runes, drawn, broken int
	// spent is set when the engine gave up.
	spent bool
}

func (d *document) read() reply {
	last := min(d.pages, d.MaxPages)
	enough := d.MaxRunes * rawPerRune
	for i := 0; i < last && d.runes < enough && !d.spent; i++ {
		page, err := d.page(i, enough-d.runes)
		if err != nil {
			d.spent = gaveUp(err)
			d.broken++
			continue
		}
		d.text.WriteString(page)
		d.text.WriteByte(pageBreak)
		d.runes += utf8.RuneCountInString(page)
	}
	r := d.reply(last < d.pages || d.runes >= enough || d.broken > 0)
	r.Pages, r.Spent = d.pages, d.spent
	return r
}

func (d *document) reply(truncated bool) reply {
	text := clean(d.text.String())
	if text == "" {
		return reply{Reason: d.emptiness()}
	}
	markdown, err := render.Text([]byte(text))
	if err != nil {
		return reply{Reason: ReasonCorrupt}
	}
	return replyOf(limited(markdown.Markdown, d.MaxRunes, truncated))
}

// emptiness says why there is no text.
func (d *document) emptiness() string {
	switch {
	case d.spent:
		return ReasonMemory
	case d.broken > 0 && d.broken == min(d.pages, d.MaxPages):
		return ReasonCorrupt
	case d.drawn > 0:
		return ReasonScanned
	default:
		return ReasonEmpty
	}
}

// page gives the text of one page, at most so many characters of it.
func (d *document) page(index, most int) (string, error) {
	loaded, err := d.instance.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: d.ref, Index: index})
	if err != nil {
		return "", err
	}
	defer func() { _, _ = d.instance.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page}) }()
	page := requests.Page{ByReference: &loaded.Page}
	if objects, err := d.instance.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page}); err == nil {
		d.drawn += objects.Count
	}
	text, err := d.instance.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return "", err
	}
	defer func() { _, _ = d.instance.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage}) }()
	chars, err := d.instance.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text.TextPage})
	if err != nil || chars.Count <= 0 {
		return "", err
	}
	got, err := d.instance.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: text.TextPage, Count: min(chars.Count, most)})
	if err != nil {
		return "", err
	}
	return got.Text, nil
}
