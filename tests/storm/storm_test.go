package storm

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/pause"
	"github.com/loresync/loresync/tests/storm/order"
)

// The flags of `make storm`. Without them the storm is short, with one seed.
var (
	// The default kills, stops, cuts off, slows and holds processes and takes both servers down within the 60 steps of a short storm.
	seedFlag  = flag.Uint64("seed", 1619, "the seed that decides the steps")
	sqlFlag   = flag.String("sql", "", "a file of SQL that is run after the migrations: a way to see what is found when a rule is broken on purpose")
	opsFlag   = flag.Int("ops", 0, "the number of steps; 0 means 60 in a short run, else 500")
	limitFlag = flag.Bool("limit", false, "take room from Postgres by a limit on its files, even where a small disk can be mounted")
	// What a process does by its own clock shows on one that is an hour off: no timeout of a storm is as long.
	clockFlag = flag.Duration("clock", time.Hour, "by how much the clock of worker-2 is fast, and that of entry-2 slow")
)

const (
	shortOps, longOps = 60, 500
	// patience is how long a storm may take to come to rest. Comparing takes its time on a busy machine, which says nothing.
	patience, comparing = 3 * time.Minute, 15 * time.Minute
)

// storm is one storm under way.
type storm struct {
	*world
	generator *generator
	ledger    *ledger
	checker   *checker
	found     *violations

	// under counts what steps started and time ends: stopped processes, held connections, a full disk.
	under sync.WaitGroup
	// server lets one server be down at a time, root one root away.
	server, root sync.Mutex
	// tidied is when the janitor was asked last, at rest.
	tidied time.Time
	// number is the last step that was carried out.
	number int
	mu     sync.Mutex
	counts map[string]int
}

func TestStorm(t *testing.T) {
	t.Parallel()
	ops := *opsFlag
	if ops == 0 {
		ops = longOps
		if testing.Short() {
			ops = shortOps
		}
	}
	s := newStorm(t, *seedFlag, ops)
	begun := time.Now()
	for range ops {
		s.carryOut(s.generator.next())
	}
	blown := time.Since(begun)
	s.rest()
	s.checker.stop()
	s.compare()
	t.Logf("seed %d: %d steps in %s, at rest after another %s; %s", *seedFlag, ops, blown.Round(time.Second),
		(time.Since(begun) - blown).Round(time.Second), s.summary())
	s.report(*seedFlag, ops)
}

func newStorm(t *testing.T, seed uint64, ops int) *storm {
	t.Helper()
	s := &storm{generator: newGenerator(seed, ops <= shortOps), ledger: newLedger(), found: &violations{}, counts: map[string]int{}}
	s.world = newWorld(t)
	if !testing.Short() {
		// Programs whose clock can be wrong are compiled with a standard library of their own, which takes minutes.
		s.clocks = map[string]time.Duration{"worker-2": *clockFlag, "entry-2": -*clockFlag}
	}
	s.breakOnPurpose()
	for _, furnished := range s.generator.furnish() {
		require.NoError(t, s.disk.carryOut(furnished))
	}
	s.checker = newChecker(s)
	s.ledger.learn = s.checker.learn
	s.startProcesses(s)
	require.NoError(t, s.control.EnsureSchedules(t.Context()))
	for _, folder := range folders {
		spec := control.FolderSpec{ID: folder, Source: "files", Root: s.disk.root(folder)}
		_, err := s.control.AddFolder(t.Context(), spec, control.Actor{Name: "storm", Trigger: "cli"})
		require.NoError(t, err)
	}
	s.checker.start()
	return s
}

// breakOnPurpose changes the database's functions as the flag says.
func (s *storm) breakOnPurpose() {
	s.t.Helper()
	if *sqlFlag == "" {
		return
	}
	text, err := os.ReadFile(*sqlFlag)
	require.NoError(s.t, err)
	conn, err := pgx.Connect(s.t.Context(), s.databaseURL)
	require.NoError(s.t, err)
	defer func() { _ = conn.Close(s.t.Context()) }()
	_, err = conn.Exec(s.t.Context(), string(text))
	require.NoError(s.t, err)
}

// carryOut does one step, beside all that goes on, and waits for the time that the generator gave it.
func (s *storm) carryOut(next step) {
	s.t.Helper()
	s.t.Logf("%s %s", time.Now().Format("15:04:05.000"), next)
	s.mu.Lock()
	s.number = next.n
	s.counts[next.do]++
	s.mu.Unlock()
	switch next.do {
	case doEdit, doCreate, doMove, doMoveEdit, doTrash, doLock, doLockDir, doUnlock:
		s.onDisk(func() error { return s.disk.carryOut(next) })
	case doRootAway:
		s.rootAway(next)
	case doCancel, doTerminate, doSchedule:
		s.fromOutside(next)
	case doKill, doStop, doCut, doPartition, doSlow:
		s.breakProcess(next)
	case doRestartPG, doKillPG, doRestartTmp, doKillTmp:
		s.breakServer(next)
	case doFillDisk:
		s.fillDisk(next)
	default:
		s.ask(next)
	}
	require.NoError(s.t, pause.For(s.t.Context(), next.pause))
}

// ask sends an order to an entry point; when that one is dead at the moment, to the other.
func (s *storm) ask(next step) {
	o := order.Order{N: next.n, Do: next.do, Folder: next.folder, Page: next.page, Subtree: next.subtree, Now: next.now}
	if o.Do == order.AddFolder {
		o.Root = s.disk.root(next.folder)
	}
	s.ledger.send(o)
	if s.children[next.victim].send(o) != nil && s.children[1-next.victim].send(o) != nil {
		s.ledger.withdraw(o.N)
	}
}

// aside does something beside the steps, and rest waits for it.
func (s *storm) aside(what string, act func(context.Context) error) {
	s.under.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(s.t.Context()), patience)
		defer cancel()
		if err := act(ctx); err != nil {
			s.t.Errorf("%s: %v", what, err)
		}
	})
}

// summary counts what was done, and what came of it.
func (s *storm) summary() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	done := make([]string, 0, len(s.counts))
	for _, what := range slices.Sorted(maps.Keys(s.counts)) {
		done = append(done, fmt.Sprintf("%s %d", what, s.counts[what]))
	}
	return fmt.Sprintf("%d looks\ndone: %s\nanswers: %s", s.checker.looks.Load(), strings.Join(done, ", "), s.ledger.summary())
}

// report fails the test with everything that was found, and with how to see it again.
func (s *storm) report(seed uint64, ops int) {
	s.t.Helper()
	all := s.found.list()
	for _, v := range all {
		s.t.Errorf("%s", v)
	}
	if s.t.Failed() {
		s.t.Errorf("%d violations. The same steps again (their timing differs): make storm SEED=%d OPS=%d", len(all), seed, ops)
	}
}

// eventually waits for a condition of the end of a storm, and notes a violation when it doesn't come.
func (s *storm) eventually(ctx context.Context, within time.Duration, what string, left func() (string, error)) {
	s.t.Helper()
	var said string
	for deadline := time.Now().Add(within); ; {
		words, err := left()
		if err == nil && words == "" {
			return
		}
		said = words
		if err != nil {
			said = err.Error()
		}
		if time.Now().After(deadline) {
			break
		}
		require.NoError(s.t, pause.For(ctx, 100*time.Millisecond))
	}
	s.violate(ctx, violation{Rule: what, Detail: fmt.Sprintf("not within %s: %s", within, said)})
}
