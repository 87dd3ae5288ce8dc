package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/bench/internal/approaches"
	"github.com/loresync/loresync/bench/internal/corpus"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/files"
	"github.com/loresync/loresync/internal/workers"
)

// product is loresync itself as one of the designs: its own workflows, activities and fence, over a source that takes its time.
type product struct {
	*lab
	source *slowSource
	// made counts the pages, so that each has a text of its own.
	made int
}

// product gives loresync as a contender.
func (l *lab) product() *contender {
	p := &product{lab: l, source: &slowSource{Source: files.New(files.Options{}), begun: map[approaches.Page]int{}}}
	return &contender{
		name: "loresync", slug: "loresync", design: p, work: p, pages: p.register, settled: l.noneRuns, history: l.historyOfNames, start: p.start,
	}
}

// start starts loresync's workers in this process, with the slow source in the place of all.
func (p *product) start() (stop func(), err error) {
	set, err := workers.Start(workers.Options{
		Store: p.Store, Temporal: p.Temporal, Control: p.Control, Sources: p, Log: slog.New(slog.DiscardHandler),
		Models: activities.Models{Embedder: p.Embedder, Summarizer: p.Summarizer},
	})
	if err != nil {
		return nil, err
	}
	return set.Stop, nil
}

// register makes a folder of generated pages and lets loresync know them, as its first listing would.
func (p *product) register(ctx context.Context, folder string, n int) ([]approaches.Page, error) {
	if err := p.addFolder(ctx, folder, 0); err != nil {
		return nil, err
	}
	pages := make([]approaches.Page, n)
	group, registering := errgroup.WithContext(ctx)
	group.SetLimit(floodStarters)
	for i := range pages {
		text := p.corpus.Page(p.made + i)
		group.Go(func() error {
			if err := corpus.Put(p.root(folder), text.Path, text.Text, 0); err != nil {
				return err
			}
			page, err := p.Control.ResolvePage(registering, folder, text.Path, true)
			pages[i] = approaches.Page{Folder: folder, ID: page.PageID}
			return err
		})
	}
	p.made += n
	return pages, group.Wait()
}

// Source gives every connection the slow source.
func (p *product) Source(context.Context, string, string) (source.Source, error) {
	return p.source, nil
}

// Sync asks as the entry point does: a folder sync or the schedule, a person, or a webhook.
func (p *product) Sync(ctx context.Context, from approaches.Entry, page approaches.Page) error {
	switch from {
	case approaches.EntrySchedule:
		return p.Control.RequestPageSync(ctx, page.Folder, page.ID, knowledge.LaneIncremental)
	case approaches.EntryWebhook:
		return p.Control.ReadPageAgain(ctx, page.Folder, page.ID, knowledge.LaneIncremental)
	default:
		_, err := p.Control.SyncPage(ctx, page.Folder, page.ID, person)
		return err
	}
}

// Delete deletes a page as a person does, and waits until nothing of it is in flight or staged.
func (p *product) Delete(ctx context.Context, page approaches.Page) error {
	answer, err := p.Control.DeletePage(ctx, page.Folder, page.ID, control.DeleteOptions{}, person)
	if err != nil {
		return err
	}
	_, err = p.Control.Wait(ctx, answer, nil)
	return err
}

// InLine is 0: nobody waits inside of Sync.
func (*product) InLine(context.Context) (int, error) { return 0, nil }

const leftOfPage = `SELECT (SELECT count(*) FROM live_pages WHERE folder_id = $1 AND page_id = $2)
	+ (SELECT count(*) FROM in_flight WHERE folder_id = $1 AND page_id = $2)
	+ (SELECT count(*) FROM revisions WHERE folder_id = $1 AND page_id = $2 AND state = 'staged')`

// Left counts what is visible, in flight or staged.
func (p *product) Left(ctx context.Context, page approaches.Page) (int64, error) {
	return p.number(ctx, leftOfPage, page.Folder, page.ID)
}

// Live counts the pages that readers see.
func (p *product) Live(ctx context.Context, folders []string) (int64, error) {
	return p.number(ctx, `SELECT count(*) FROM live_pages WHERE folder_id = ANY($1)`, folders)
}

// SetTakes, Begun and Total are the source's.
func (p *product) SetTakes(takes time.Duration) { p.source.setTakes(takes) }

// Begun counts the reads of a page.
func (p *product) Begun(page approaches.Page) int { begun, _ := p.source.count(page); return begun }

// Total counts all reads.
func (p *product) Total() int { _, total := p.source.count(approaches.Page{}); return total }

// slowSource is the files source behind a wait. While it takes its time it calls itself remote, as a vendor is.
type slowSource struct {
	source.Source

	mu    sync.Mutex
	takes time.Duration
	begun map[approaches.Page]int
	total int
}

// Traits are those of a vendor while there is a wait.
func (s *slowSource) Traits() source.Traits {
	traits := s.Source.Traits()
	s.mu.Lock()
	defer s.mu.Unlock()
	traits.Remote = s.takes > 0
	return traits
}

// Fetch counts, waits and reads.
func (s *slowSource) Fetch(ctx context.Context, root source.Root, sourceID string) (source.Page, error) {
	if err := pause(ctx, s.begin(approaches.Page{Folder: root.FolderID, ID: ids.PageIDForPath(sourceID, 0)})); err != nil {
		return source.Page{}, fmt.Errorf("wait for a slow source: %w", err)
	}
	return s.Source.Fetch(ctx, root, sourceID)
}

func (s *slowSource) begin(page approaches.Page) (takes time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun[page]++
	s.total++
	return s.takes
}

func (s *slowSource) setTakes(takes time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.takes = takes
}

func (s *slowSource) count(page approaches.Page) (begun, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun[page], s.total
}
