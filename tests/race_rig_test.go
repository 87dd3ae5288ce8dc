package tests

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/worker"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/content/summary"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/pause"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/sourcetest"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
	"github.com/loresync/loresync/internal/workers"
	"github.com/loresync/loresync/workflows"
)

// course is a rig whose worker a test can stop at named points of its way to Postgres and Temporal.
type course struct {
	*rig
	gate   *sourcetest.Gate
	points *points
}

// newCourse gives a rig with one worker, which points and gate can hold, and one page a.md that is live.
func newCourse(t *testing.T, options ...rigOption) *course {
	t.Helper()
	c := &course{points: newPoints()}
	options = append([]rigOption{patiently, withoutWorker, throughSource(func(s source.Source) source.Source {
		c.gate = sourcetest.NewGate(s)
		return c.gate.Source()
	})}, options...)
	c.rig = newRig(t, options...)
	c.stoppableWorker()
	c.put("a.md", "# A\n\nfirst\n")
	c.synced()
	return c
}

var raceTimeouts = activities.Timeouts{Ladder: 3 * time.Second, Abandoned: 2 * time.Second, AskAgain: time.Second}

// stoppableWorker starts a worker like any other, but for the points on its way.
func (c *course) stoppableWorker() {
	c.t.Helper()
	st, door, timeouts := stoppableStore{c.store, c.points}, stoppableDoor{c.Control, c.points}, raceTimeouts.WithDefaults()
	models := activities.Models{Embedder: c.embedder, Summarizer: summary.Extractive{}}
	reconcile := &activities.ReconcileActivities{Store: st, Sources: c.sources, Timeouts: timeouts}
	acts := workflows.Activities{
		Page:      &activities.PageActivities{Store: st, Sources: c.sources, Models: models},
		Folder:    &activities.FolderActivities{Store: st, Sources: c.sources, Starter: door, Runs: door, Timeouts: timeouts},
		Reconcile: reconcile,
		Delete:    &activities.DeleteActivities{Store: st, Executions: door, Timeouts: timeouts},
		Batch:     &activities.BatchActivities{Store: st, Starter: door},
		Upkeep:    &activities.UpkeepActivities{Store: st, Sources: c.sources, Starter: door, Executions: door, Timeouts: timeouts},
		Webhook:   &activities.WebhookActivities{Store: st, Asker: c.Control, Reconcile: reconcile},
	}
	for _, queue := range []string{workflows.QueueKnowledge, workflows.QueueVendor, workflows.QueueVendorInteractive, workflows.QueueModel} {
		w := worker.New(c.temporal, queue, workers.QueueOptions(queue))
		workflows.RegisterActivities(w, acts)
		if queue == workflows.QueueKnowledge {
			for _, wf := range workflows.All() {
				w.RegisterWorkflow(wf)
			}
		}
		require.NoError(c.t, w.Start())
		c.t.Cleanup(w.Stop)
	}
	c.t.Cleanup(func() { c.points.openAll(); c.gate.Open() })
}

// request asks for a page as a folder sync does: without control's own look at whether it would be refused.
func (c *course) request(page string) {
	c.t.Helper()
	require.NoError(c.t, c.RequestPageSync(c.t.Context(), folderID, page, knowledge.LaneIncremental))
}

// stopAt asks for a page and returns when its sync stands at a point.
func (c *course) stopAt(point, page string) {
	c.t.Helper()
	before := c.points.arrived(point)
	c.points.hold(point, 1)
	c.request(page)
	c.points.await(c.t, point, before+1)
}

// lock runs a locking statement in a transaction of its own, which release ends.
func (r *rig) lock(query string, args ...any) (release func()) {
	r.t.Helper()
	conn, err := pgx.Connect(r.t.Context(), r.url)
	require.NoError(r.t, err)
	_, err = conn.Exec(r.t.Context(), "BEGIN")
	require.NoError(r.t, err)
	_, err = conn.Exec(r.t.Context(), query, args...)
	require.NoError(r.t, err)
	end := sync.OnceFunc(func() { _ = conn.Close(context.Background()) })
	r.t.Cleanup(end)
	return end
}

// quiet waits until no statement that calls a function of the schema is under way.
func (r *rig) quiet(function string) {
	r.t.Helper()
	testenv.Eventually(r.t, patience, func() bool {
		return r.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' AND strpos(query, $1 || '(') > 0
			AND pid <> pg_backend_pid()`, function) == 0
	}, "no "+function+" is under way")
}

// blockPublish asks for a page that has changed, and returns when the publish of its sync waits for the page's row. Postgres alone
// holds it up, so it works with a worker that is a process.
func (r *rig) blockPublish(page string) (release func()) {
	r.t.Helper()
	staging := r.lock(`LOCK TABLE chunks IN SHARE MODE`)
	require.NoError(r.t, r.RequestPageSync(r.t.Context(), folderID, page, knowledge.LaneIncremental))
	r.awaitBlocked("stage_revision", 1)
	release = r.lock(lockPage, page)
	staging()
	r.awaitBlocked("publish_staged", 1)
	return release
}

const lockPage = `SELECT 1 FROM pages WHERE page_id = $1 FOR NO KEY UPDATE`

// awaitBlocked waits until n statements that call one of the schema's functions wait for a lock.
func (r *rig) awaitBlocked(function string, n int) {
	r.t.Helper()
	testenv.Eventually(r.t, patience, func() bool {
		return r.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND strpos(query, $1 || '(') > 0`,
			function) >= n
	}, fmt.Sprintf("%d of %s wait for a lock", n, function))
}

// blocksWithin tells whether a statement that calls one of the schema's functions comes to wait for a lock.
func (r *rig) blocksWithin(function string, patience time.Duration) bool {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	for pause.For(ctx, 20*time.Millisecond) == nil {
		if r.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND strpos(query, $1 || '(') > 0`,
			function) > 0 {
			return true
		}
	}
	return false
}

// points are places on a worker's way, by name. Whoever is held at one is like a worker that was stopped there: no cancel
// reaches it, and what it had in hand it does in earnest when it goes on.
type points struct {
	mu      sync.Mutex
	changed chan struct{}
	arrival map[string]int
	holding map[string]int
	opened  map[string]int
	answers map[string][]string
}

func newPoints() *points {
	return &points{
		changed: make(chan struct{}), arrival: map[string]int{}, holding: map[string]int{}, opened: map[string]int{}, answers: map[string][]string{},
	}
}

// hold stops the next n that arrive at a point.
func (p *points) hold(point string, n int) { p.change(func() { p.holding[point] = n }) }

// open lets those go on that are held at a point, and holds nobody there any more.
func (p *points) open(point string) {
	p.change(func() { p.holding[point] = 0; p.opened[point]++ })
}

func (p *points) openAll() {
	p.change(func() {
		clear(p.holding)
		for point := range p.arrival {
			p.opened[point]++
		}
	})
}

// arrived is how many have come to a point.
func (p *points) arrived(point string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.arrival[point]
}

// said gives what Postgres answered behind a point, in the order of the answers.
func (p *points) said(point string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string{}, p.answers[point]...)
}

// await waits until n have come to a point.
func (p *points) await(t testing.TB, point string, n int) {
	t.Helper()
	p.until(t, fmt.Sprintf("%d come to %s", n, point), func() bool { return p.arrival[point] >= n })
}

// awaitSaid waits until Postgres has answered n times behind a point, and gives the last answer.
func (p *points) awaitSaid(t testing.TB, point string, n int) string {
	t.Helper()
	p.until(t, fmt.Sprintf("%d answers behind %s", n, point), func() bool { return len(p.answers[point]) >= n })
	return p.said(point)[n-1]
}

func (p *points) until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, p.wait(ctx, holds), what)
}

// pass counts who arrives, and keeps it while it is held, whatever becomes of its context.
func (p *points) pass(ctx context.Context, point string) {
	stopped, turn := false, 0
	p.change(func() {
		p.arrival[point]++
		if p.holding[point] > 0 {
			p.holding[point]--
			stopped, turn = true, p.opened[point]
		}
	})
	if stopped {
		_ = p.wait(context.WithoutCancel(ctx), func() bool { return p.opened[point] > turn })
	}
}

func (p *points) note(point, answer string, err error) {
	if err == nil {
		p.change(func() { p.answers[point] = append(p.answers[point], answer) })
	}
}

func (p *points) change(alter func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	alter()
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *points) wait(ctx context.Context, holds func() bool) error {
	for {
		p.mu.Lock()
		done, changed := holds(), p.changed
		p.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// The points, named after what comes next: the store's function, or what a list of running workflows is used for.
const (
	pointBegin    = "begin"
	pointStage    = "stage"
	pointPublish  = "publish"
	pointFinish   = "finish"
	pointFlights  = "flights"
	pointSweep    = "sweep"
	pointPurge    = "purge"
	pointRegister = "register"
	pointAbsence  = "absence"
	pointRemove   = "remove"
	pointListed   = "listed"
)

// stoppableStore is the store with points before what races.
type stoppableStore struct {
	*store.Store
	points *points
}

func (s stoppableStore) BeginPageSync(
	ctx context.Context, folder, page, workflowID, firstRunID, runID string, lane knowledge.Lane,
) (knowledge.Begun, error) {
	s.points.pass(ctx, pointBegin)
	begun, err := s.Store.BeginPageSync(context.WithoutCancel(ctx), folder, page, workflowID, firstRunID, runID, lane)
	s.points.note(pointBegin, begun.Outcome, err)
	return begun, err
}

func (s stoppableStore) StageRevision(ctx context.Context, h knowledge.Holder, revision knowledge.StagedRevision) (knowledge.Staged, error) {
	s.points.pass(ctx, pointStage)
	staged, err := s.Store.StageRevision(context.WithoutCancel(ctx), h, revision)
	s.points.note(pointStage, staged.Outcome, err)
	return staged, err
}

func (s stoppableStore) PublishStaged(
	ctx context.Context, h knowledge.Holder, revisionID int64, modelsAfter *time.Duration,
) (knowledge.Published, error) {
	s.points.pass(ctx, pointPublish)
	published, err := s.Store.PublishStaged(context.WithoutCancel(ctx), h, revisionID, modelsAfter)
	s.points.note(pointPublish, published.Outcome, err)
	return published, err
}

func (s stoppableStore) FinishPageSync(
	ctx context.Context, h knowledge.Holder, outcome knowledge.Outcome, class, sentence, version string,
) (string, error) {
	s.points.pass(ctx, pointFinish)
	how, err := s.Store.FinishPageSync(ctx, h, outcome, class, sentence, version)
	s.points.note(pointFinish, how, err)
	return how, err
}

func (s stoppableStore) FlightsBelow(ctx context.Context, deleteID int64) ([]knowledge.Flight, error) {
	s.points.pass(ctx, pointFlights)
	return s.Store.FlightsBelow(ctx, deleteID)
}

func (s stoppableStore) SweepSubtree(ctx context.Context, deleteID int64, bound int) (int, error) {
	s.points.pass(ctx, pointSweep)
	return s.Store.SweepSubtree(ctx, deleteID, bound)
}

func (s stoppableStore) PurgeFolder(ctx context.Context, folder string, bound int) (int, error) {
	s.points.pass(ctx, pointPurge)
	return s.Store.PurgeFolder(ctx, folder, min(bound, 1))
}

func (s stoppableStore) RegisterEntries(ctx context.Context, listingID int64, bound int) (int, error) {
	s.points.pass(ctx, pointRegister)
	return s.Store.RegisterEntries(ctx, listingID, bound)
}

func (s stoppableStore) RecordAbsence(ctx context.Context, listingID int64, behind string, bound int) (knowledge.Absence, error) {
	s.points.pass(ctx, pointAbsence)
	absence, err := s.Store.RecordAbsence(ctx, listingID, behind, bound)
	s.points.note(pointAbsence, absence.Outcome, err)
	return absence, err
}

func (s stoppableStore) RemoveLostPages(ctx context.Context, folder string, pages []string, undo time.Duration) ([]string, error) {
	s.points.pass(ctx, pointRemove)
	return s.Store.RemoveLostPages(ctx, folder, pages, undo)
}

// stoppableDoor is control with a point behind each list of running workflows.
type stoppableDoor struct {
	*control.Control
	points *points
}

func (d stoppableDoor) ListRunning(ctx context.Context, prefix string) ([]activities.Execution, error) {
	found, err := d.Control.ListRunning(ctx, prefix)
	d.points.pass(ctx, pointListed)
	return found, err
}
