package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/loresync/loresync/bench/internal/corpus"
	"github.com/loresync/loresync/bench/internal/report"
	"github.com/loresync/loresync/internal/content/chunk"
)

const (
	folderEdit = "bench-edit"
	longPath   = "long.md"
	longChunks = 200
	// edits is how many paragraphs are edited, one by one, from the first to the last.
	edits         = 20
	maxEmbeddings = 3
	// perHeading is how many paragraphs stand below a heading.
	perHeading = 6
)

// measureEdit edits paragraphs of a long page one by one and counts what was embedded anew for each.
func measureEdit(ctx context.Context, l *lab) (report.Section, error) {
	page := newLongPage(l.corpus)
	if err := l.addFolder(ctx, folderEdit, 0); err != nil {
		return report.Section{}, err
	}
	var found edited
	if err := l.withWorker(ctx, func(*child) error { return l.edit(ctx, page, &found) }); err != nil {
		return report.Section{}, err
	}
	return report.Section{
		Note: fmt.Sprintf("A page of %d chunks; %d of its %d paragraphs, spread over it, are replaced one by one, with a sync after each.",
			found.chunks, edits, len(page.paragraphs)),
		Rows: []report.Row{
			{
				What: "new embeddings of an edit at most", Figure: strconv.FormatInt(found.most, 10), Target: "≤ " + strconv.Itoa(maxEmbeddings),
				Met: found.most <= maxEmbeddings,
			},
			{What: "new embeddings of an edit on average", Figure: fmt.Sprintf("%.1f", float64(found.sum)/edits)},
			{What: "a sync with one edit, median", Figure: seconds(found.time)},
		},
	}, nil
}

// edited is what the edits took.
type edited struct {
	chunks    int64
	most, sum int64
	time      time.Duration
}

const (
	embeddingsThere = `SELECT count(*) FROM embeddings`
	chunksOfFolder  = `SELECT count(*) FROM live_chunks WHERE folder_id = $1`
)

func (l *lab) edit(ctx context.Context, page *longPage, found *edited) error {
	if err := l.putLong(ctx, page, 0); err != nil {
		return err
	}
	var err error
	if found.chunks, err = l.number(ctx, chunksOfFolder, folderEdit); err != nil {
		return err
	}
	var times []time.Duration
	for i := range edits {
		page.paragraphs[i*(len(page.paragraphs)-1)/(edits-1)] = page.fresh[i]
		before, err := l.number(ctx, embeddingsThere)
		if err != nil {
			return err
		}
		begun := time.Now()
		if err := l.putLong(ctx, page, i+1); err != nil {
			return err
		}
		times = append(times, time.Since(begun))
		after, err := l.number(ctx, embeddingsThere)
		if err != nil {
			return err
		}
		found.most, found.sum = max(found.most, after-before), found.sum+after-before
	}
	found.time = median(times)
	return nil
}

// putLong writes the long page and syncs it.
func (l *lab) putLong(ctx context.Context, page *longPage, edit int) error {
	if err := corpus.Put(l.root(folderEdit), longPath, page.text(), edit); err != nil {
		return err
	}
	_, err := l.sync(ctx, folderEdit)
	return err
}

// longPage is a page whose paragraphs can be replaced by fresh ones.
type longPage struct {
	paragraphs, fresh []string
	headings          []string
}

func newLongPage(c *corpus.Corpus) *longPage {
	p := &longPage{fresh: c.Paragraphs("fresh", edits)}
	material := c.Paragraphs("long", longChunks*8)
	for n := longChunks; n <= len(material); n += 5 {
		p.paragraphs = material[:n]
		p.headings = headings(n)
		if len(chunk.Split(p.text(), chunk.Options{})) >= longChunks {
			break
		}
	}
	return p
}

func headings(paragraphs int) []string {
	list := make([]string, (paragraphs+perHeading-1)/perHeading)
	for i := range list {
		list[i] = fmt.Sprintf("## Section %d", i+1)
	}
	return list
}

func (p *longPage) text() string {
	var b strings.Builder
	b.WriteString("# A long page\n")
	for i, paragraph := range p.paragraphs {
		if i%perHeading == 0 {
			b.WriteString("\n" + p.headings[i/perHeading] + "\n")
		}
		b.WriteString("\n" + paragraph + "\n")
	}
	return b.String()
}
