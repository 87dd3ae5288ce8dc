package tests

import (
	"bytes"
	"encoding/json"
	"net"
	"net/url"
	"os/exec"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/testenv"
)

// wire is the network between one process and one server. A cut wire is what a partition looks like from either end: connections
// stand, and nothing comes through, neither data nor an error.
type wire struct {
	address string
	behind  string

	mu      sync.Mutex
	changed chan struct{}
	cut     bool
	ended   bool
	// waiting is how many pieces of data stand before the cut.
	waiting int
}

func newWire(t testing.TB, behind string) *wire {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &wire{address: listener.Addr().String(), behind: behind, changed: make(chan struct{})}
	t.Cleanup(func() {
		_ = listener.Close()
		w.change(func() { w.ended = true })
	})
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			go w.connect(near)
		}
	}()
	return w
}

func (w *wire) connect(near net.Conn) {
	defer func() { _ = near.Close() }()
	if !w.pass() {
		return
	}
	far, err := (&net.Dialer{}).Dial("tcp", w.behind)
	if err != nil {
		return
	}
	go w.carry(far, near)
	w.carry(near, far)
}

// carry takes what comes from one end to the other, when the wire lets it.
func (w *wire) carry(to, from net.Conn) {
	defer func() { _ = to.Close() }()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if !w.pass() {
			return
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass waits while the wire is cut; false when the test is over.
func (w *wire) pass() bool {
	w.change(func() { w.waiting++ })
	defer w.change(func() { w.waiting-- })
	for {
		w.mu.Lock()
		cut, ended, changed := w.cut, w.ended, w.changed
		w.mu.Unlock()
		if ended || !cut {
			return !ended
		}
		<-changed
	}
}

func (w *wire) set(cut bool) { w.change(func() { w.cut = cut }) }

func (w *wire) change(alter func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	alter()
	close(w.changed)
	w.changed = make(chan struct{})
}

// stands is how much waits before the cut.
func (w *wire) stands() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.waiting
}

// wiredWorker starts a worker process whose ways to Postgres and Temporal the test can cut.
func (r *rig) wiredWorker() (postgres, temporal *wire) {
	r.t.Helper()
	address, err := url.Parse(r.url)
	require.NoError(r.t, err)
	postgres, temporal = newWire(r.t, address.Host), newWire(r.t, testenv.Temporal(r.t))
	address.Host = postgres.address
	r.startWorker("LORESYNC_DATABASE_URL="+address.String(), "TEMPORAL_ADDRESS="+temporal.address)
	testenv.Eventually(r.t, patience, func() bool {
		return r.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'loresync'`) > 1
	}, "the worker is there")
	return postgres, temporal
}

func TestRule12AWorkerIsPartitioned(t *testing.T) {
	t.Parallel()
	partitioned(t, wires{})
}

// network is what lies between processes and servers.
type network interface {
	// first starts the worker whose ways to the servers can be cut, second one that nothing happens to.
	first(r *rig) (postgres, temporal line)
	second(r *rig)
	// entry is what a person's command line is run by.
	entry(r *rig) []string
}

// line is a way that can be cut, without anybody being told.
type line interface {
	set(cut bool)
	// stands is how much waits before the cut.
	stands() int
}

// wires are a network on one machine.
type wires struct{}

func (wires) first(r *rig) (postgres, temporal line) { return r.wiredWorker() }

func (wires) second(r *rig) { r.workerProcess() }

func (wires) entry(*rig) []string { return nil }

// ask runs the command line and gives its answer.
func (r *rig) ask(by []string, args ...string) (answer control.Answer) {
	r.t.Helper()
	words := slices.Concat(by, []string{program(r.t, "starter")}, args, []string{"--json"})
	ask := exec.CommandContext(r.t.Context(), words[0], words[1:]...)
	ask.Env = r.environment()
	var complaint bytes.Buffer
	ask.Stderr = &complaint
	said, err := ask.Output()
	require.NoError(r.t, err, "%s%s", said, &complaint)
	require.NoError(r.t, json.Unmarshal(said, &answer))
	return answer
}

// partitioned cuts a worker off while it works, and heals it.
func partitioned(t *testing.T, through network) {
	t.Helper()
	const pages = 120

	t.Run("from Temporal, and the other one finishes without it", func(t *testing.T) {
		t.Parallel()
		if testing.Short() {
			t.Skip("what the first worker had in hand is given up after a minute; `make test-long` waits for it")
		}
		r := newRig(t, patiently, withoutWorker)
		_, temporal := through.first(r)
		r.fill(pages)
		running := r.ask(through.entry(r), "sync", "folder", folderID, "--full")
		testenv.Eventually(t, patience, func() bool { return r.live() > 10 }, "the first worker publishes")
		temporal.set(true)
		through.second(r)
		ended := r.wait(running, nil)
		assert.Equal(t, "completed", ended.Status, ended.Reason)
		assert.Equal(t, knowledge.Counts{Listed: pages, New: pages}, *ended.Counts)
		temporal.set(false)
		r.nothingDoubledOrLost(pages)
	})

	t.Run("from Postgres, and when it is back nothing is doubled or lost", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, patiently, withoutWorker)
		postgres, _ := through.first(r)
		r.fill(pages)
		running := r.ask(through.entry(r), "sync", "folder", folderID, "--full")
		testenv.Eventually(t, patience, func() bool { return r.live() > 10 }, "the first worker publishes")
		postgres.set(true)
		atCut := r.live()
		through.second(r)
		testenv.Eventually(t, patience, func() bool { return postgres.stands() > 0 && r.live() > atCut }, "one stands before the cut, and the other one works")
		postgres.set(false)
		ended := r.wait(running, nil)
		assert.Equal(t, "completed", ended.Status, ended.Reason)
		r.nothingDoubledOrLost(pages)
	})

	t.Run("from Postgres with a publish on its way, and the publish comes too late", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, patiently, withoutWorker)
		r.put("a.md", "# A\n\nfirst\n")
		postgres, _ := through.first(r)
		r.synced()
		page := r.page("a.md").PageID
		r.put("a.md", "# A\n\nsecond\n")
		staging := r.lock(`LOCK TABLE chunks IN SHARE MODE`)
		require.NoError(t, r.RequestPageSync(t.Context(), folderID, page, knowledge.LaneIncremental))
		r.awaitBlocked("stage_revision", 1)
		postgres.set(true)
		staging() // what it has staged is stored, and it doesn't hear of it
		r.quiet("stage_revision")
		deleted := r.ask(through.entry(r), "delete", "page", folderID, page)
		through.second(r)
		assert.Zero(t, r.live())
		postgres.set(false)
		assert.Equal(t, "completed", r.wait(deleted, nil).Status)
		r.closed(pageSyncOf(page))
		assert.Zero(t, r.live())
		assert.Equal(t, 1, r.count(`SELECT count(*) FROM revisions`))
		r.clean()
	})
}

func (r *rig) nothingDoubledOrLost(pages int) {
	r.t.Helper()
	assert.EqualValues(r.t, pages, r.synced().Unchanged, "a second sync has nothing to do")
	assert.Equal(r.t, pages, r.live())
	assert.Equal(r.t, pages, r.count(`SELECT count(DISTINCT source_id) FROM pages WHERE kind = 'document'`))
	assert.Equal(r.t, pages, r.count(`SELECT count(*) FROM revisions WHERE state = 'published'`))
	r.clean()
}
