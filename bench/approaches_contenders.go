package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"golang.org/x/sync/errgroup"

	"github.com/loresync/loresync/bench/internal/approaches"
	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/workers"
	"github.com/loresync/loresync/workflows"
)

// contender is a design with all that the bench asks of it.
type contender struct {
	// name is for people, slug for folders and task queues.
	name, slug string
	design     approaches.Design
	work       watched
	// pages gives n new pages of a folder.
	pages func(ctx context.Context, folder string, n int) ([]approaches.Page, error)
	// settled tells whether all that was asked below some folders is done, given the reads that there were and the requests.
	settled func(ctx context.Context, folders string, runs, asked int) (bool, error)
	// history is that of all workflows of some pages.
	history func(ctx context.Context, pages []approaches.Page) (history, error)
	// start starts the workers; nil where there are none.
	start func() (stop func(), err error)
	// locks is nil for all designs but the first.
	locks *approaches.Locks
}

// watched is the work of a design, as the bench sees it.
type watched interface {
	// SetTakes says how long the reads that begin from now on take.
	SetTakes(takes time.Duration)
	// Begun and Total count the reads of a page, and of all pages.
	Begun(p approaches.Page) int
	Total() int
	// Left counts what a delete of the page should have ended.
	Left(ctx context.Context, p approaches.Page) (int64, error)
	// Live counts the pages that readers see.
	Live(ctx context.Context, folders []string) (int64, error)
}

// folder is what the names of a load's folders begin with.
func (c *contender) folder(load string) string { return "approach-" + c.slug + "-" + load }

// contenders are all designs.
type contenders struct {
	locks, thriftyLocks, queue, thriftyQueue, named, loresync *contender
}

func (c contenders) list() []*contender {
	return []*contender{c.locks, c.thriftyLocks, c.queue, c.thriftyQueue, c.named, c.loresync}
}

const (
	// lockConns are the connections that hold and await locks: each request takes one.
	lockConns = 64
	workConns = 20
)

// withContenders runs something while all designs are ready. Their workers run in this process.
func (l *lab) withContenders(ctx context.Context, do func(contenders) error) error {
	pool, err := l.pool(ctx, workConns)
	if err != nil {
		return err
	}
	defer pool.Close()
	waiting, err := l.pool(ctx, lockConns)
	if err != nil {
		return err
	}
	defer waiting.Close()
	if err := approaches.Create(ctx, pool); err != nil {
		return err
	}
	all := contenders{
		locks: l.locks(pool, waiting, false), thriftyLocks: l.locks(pool, waiting, true),
		queue: l.queue(pool, false), thriftyQueue: l.queue(pool, true), named: l.named(pool), loresync: l.product(),
	}
	return withStarted(all.list(), func() error { return do(all) })
}

// withStarted runs something while the workers of all designs run.
func withStarted(left []*contender, do func() error) error {
	if len(left) == 0 {
		return do()
	}
	first, rest := left[0], left[1:]
	if first.start == nil {
		return withStarted(rest, do)
	}
	stop, err := first.start()
	if err != nil {
		return fmt.Errorf("start the worker of %s: %w", first.name, err)
	}
	defer stop()
	return withStarted(rest, do)
}

// pool gives connections of their own to the designs, so that those that wait for locks don't starve those that work.
func (l *lab) pool(ctx context.Context, conns int32) (*pgxpool.Pool, error) {
	settings, err := pgxpool.ParseConfig(l.postgres.URL(database) + "&application_name=bench-approaches")
	if err != nil {
		return nil, fmt.Errorf("read the address of the database: %w", err)
	}
	settings.MaxConns = conns
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	return pool, nil
}

func queueOf(slug string) string { return "bench-approach-" + slug }

// variant names a design or its thrifty form.
func variant(name, slug string, thrifty bool) (longName, longSlug string) {
	if thrifty {
		return name + ", thrifty", slug + "-thrifty"
	}
	return name, slug
}

func (l *lab) locks(pool, waiting *pgxpool.Pool, thrifty bool) *contender {
	work := approaches.NewWork(pool)
	locks := &approaches.Locks{Work: work, Pool: waiting, Space: 1, Timeout: approaches.DefaultLockTimeout, Thrifty: thrifty}
	if thrifty {
		locks.Space = 2
	}
	c := &contender{design: locks, locks: locks, work: work, pages: namePages}
	c.name, c.slug = variant("database locks", "locks", thrifty)
	c.settled = func(context.Context, string, int, int) (bool, error) { return true, nil } // whoever asked was answered when it was done
	c.history = func(context.Context, []approaches.Page) (history, error) { return history{}, nil }
	return c
}

func (l *lab) queue(pool *pgxpool.Pool, thrifty bool) *contender {
	work := approaches.NewWork(pool)
	c := &contender{work: work, pages: namePages, history: l.historyOfQueues}
	c.name, c.slug = variant("a queue per page", "queue", thrifty)
	c.design = &approaches.Queue{Work: work, Temporal: l.Temporal, TaskQueue: queueOf(c.slug), Thrifty: thrifty}
	c.settled = func(_ context.Context, _ string, runs, asked int) (bool, error) { return runs >= asked, nil }
	c.start = l.starter(c.slug, work)
	return c
}

func (l *lab) named(pool *pgxpool.Pool) *contender {
	work := approaches.NewWork(pool)
	c := &contender{name: "the naming rule, smallest form", slug: "named", work: work, pages: namePages, settled: l.noneRuns, history: l.historyOfNames}
	c.design = &approaches.Named{Work: work, Temporal: l.Temporal, TaskQueue: queueOf(c.slug)}
	c.start = l.starter(c.slug, work)
	return c
}

func (l *lab) starter(slug string, work *approaches.Work) func() (stop func(), err error) {
	return func() (func(), error) {
		return approaches.StartWorker(l.Temporal, queueOf(slug), work, workers.QueueOptions(workflows.QueueKnowledge))
	}
}

// namePages gives pages that need nothing but a name.
func namePages(_ context.Context, folder string, n int) ([]approaches.Page, error) {
	pages := make([]approaches.Page, n)
	for i := range pages {
		pages[i] = approaches.Page{Folder: folder, ID: fmt.Sprintf("page-%04d", i)}
	}
	return pages, nil
}

// noneRuns tells whether no workflow of the folders is open, as Visibility has it.
func (l *lab) noneRuns(ctx context.Context, folders string, _, _ int) (bool, error) {
	running, err := l.countWorkflows(ctx, fmt.Sprintf("WorkflowId STARTS_WITH '%s%s' AND ExecutionStatus = 'Running'", ids.Folders, folders))
	return running == 0, err
}

// historyOfQueues adds up the histories of the pages' queues, all runs of each.
func (l *lab) historyOfQueues(ctx context.Context, pages []approaches.Page) (history, error) {
	each := make([]history, len(pages))
	group, looking := errgroup.WithContext(ctx)
	group.SetLimit(floodStarters)
	for i, page := range pages {
		group.Go(func() error {
			id := approaches.QueueID(page)
			latest, err := l.Temporal.DescribeWorkflow(looking, id, "")
			if err != nil {
				return fmt.Errorf("look at a queue: %w", err)
			}
			each[i], err = l.historyOf(looking, id, latest.RawResponse.GetWorkflowExecutionInfo().GetFirstRunId())
			return err
		})
	}
	err := group.Wait()
	return sumOf(each), err
}

// historyOfNames adds up the histories of all workflows below the pages' names, syncs and deletes, once Visibility has them closed.
func (l *lab) historyOfNames(ctx context.Context, pages []approaches.Page) (history, error) {
	var prefixes []string
	if len(pages) == 1 {
		prefix, err := ids.PagePrefix(pages[0].Folder, pages[0].ID)
		if err != nil {
			return history{}, fmt.Errorf("name a page: %w", err)
		}
		prefixes = []string{prefix}
	} else {
		for _, folder := range foldersOf(pages) {
			prefixes = append(prefixes, ids.Folders+folder+"/")
		}
	}
	var all []history
	for _, prefix := range prefixes {
		var below history
		err := eventually(ctx, settleTick, func() (bool, error) {
			var closed bool
			var err error
			below, closed, err = l.historyBelow(ctx, prefix)
			return closed && below.runs > 0, err
		})
		if err != nil {
			return history{}, err
		}
		all = append(all, below)
	}
	return sumOf(all), nil
}

// historyBelow adds up the histories of the closed workflows below a prefix, and tells whether all are closed.
func (l *lab) historyBelow(ctx context.Context, prefix string) (sum history, closed bool, err error) {
	closed = true
	var token []byte
	for {
		found, err := l.Temporal.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query: fmt.Sprintf("WorkflowId STARTS_WITH '%s'", prefix), PageSize: 500, NextPageToken: token,
		})
		if err != nil {
			return sum, false, fmt.Errorf("list workflows: %w", err)
		}
		for _, info := range found.GetExecutions() {
			closed = closed && info.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING
			sum.add(info.GetHistoryLength(), info.GetHistorySizeBytes())
		}
		if token = found.GetNextPageToken(); len(token) == 0 {
			return sum, closed, nil
		}
	}
}

func sumOf(all []history) history {
	var sum history
	for _, h := range all {
		sum.runs, sum.events, sum.bytes = sum.runs+h.runs, sum.events+h.events, sum.bytes+h.bytes
		sum.mostEvents, sum.mostBytes = max(sum.mostEvents, h.mostEvents), max(sum.mostBytes, h.mostBytes)
	}
	return sum
}
