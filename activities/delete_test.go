package activities

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"github.com/loresync/loresync/internal/knowledge"
)

var accepted = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

const (
	pageSync     = "folder/hr/page/p1/sync"
	pageDelete   = "folder/hr/page/p1/delete"
	folderDelete = "folder/hr/delete"
)

// fakeTemporal has workflows that end, or don't, when they are cancelled; each prefix query gives what list says, as a server
// that ignores case or lags would.
type fakeTemporal struct {
	mu         sync.Mutex
	runs       map[string]*fakeRun
	listed     []string
	prefixes   []string
	times      []time.Time
	cancelled  []string
	terminated []string
	err        error
}

type fakeRun struct {
	started time.Time
	closed  bool
	// stubborn runs don't end when they are cancelled.
	stubborn bool
	// replaced is when the run that follows a cancelled one started.
	replaced time.Time
}

func (f *fakeTemporal) Describe(_ context.Context, workflowID string) (Execution, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	run, exists := f.runs[workflowID]
	if f.err != nil || !exists {
		return Execution{}, false, f.err
	}
	return Execution{WorkflowID: workflowID, StartedAt: run.started, Running: !run.closed}, true, nil
}

func (f *fakeTemporal) ListRunning(_ context.Context, prefix string) ([]Execution, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.prefixes, f.times = append(f.prefixes, prefix), append(f.times, time.Now())
	found := make([]Execution, 0, len(f.listed))
	for _, workflowID := range f.listed {
		found = append(found, Execution{WorkflowID: workflowID, Running: true})
	}
	return found, nil
}

func (f *fakeTemporal) Cancel(_ context.Context, workflowID string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cancelled = append(f.cancelled, workflowID)
	switch run := f.runs[workflowID]; {
	case !run.replaced.IsZero():
		run.started = run.replaced
	case !run.stubborn:
		run.closed = true
	}
	return nil
}

func (f *fakeTemporal) Terminate(_ context.Context, workflowID, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.terminated = append(f.terminated, workflowID)
	f.runs[workflowID].closed = true
	return nil
}

// fakeFlights is the in-flight table below one delete.
type fakeFlights struct {
	DeleteStore
	flights []knowledge.Flight
	slots   int
	err     error
}

func (f *fakeFlights) FlightsBelow(context.Context, int64) ([]knowledge.Flight, error) {
	return f.flights, f.err
}

func (f *fakeFlights) DropAttempt(_ context.Context, h knowledge.Holder) (bool, error) {
	for i, flight := range f.flights {
		if flight.PageID == h.Page && flight.Token == h.Token {
			f.flights = append(f.flights[:i:i], f.flights[i+1:]...)
			return true, nil
		}
	}
	return false, nil
}

func (f *fakeFlights) TakeListSlot(context.Context) (time.Duration, error) {
	f.slots++
	return 0, nil
}

const shortLadder = 300 * time.Millisecond

// cancelSyncs runs the activity and gives its result with the time it took.
func cancelSyncs(t *testing.T, store DeleteStore, temporal Executions, in DeleteStepInput) (CancelSyncsResult, time.Duration, error) {
	t.Helper()
	suite := testsuite.WorkflowTestSuite{}
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestActivityEnvironment()
	acts := &DeleteActivities{Store: store, Executions: temporal, Timeouts: Timeouts{Ladder: shortLadder}.WithDefaults()}
	env.RegisterActivity(acts)
	begun := time.Now()
	value, err := env.ExecuteActivity(acts.CancelSyncs, in)
	took := time.Since(begun)
	var result CancelSyncsResult
	if err == nil {
		require.NoError(t, value.Get(&result))
	}
	return result, took, err
}

func deleteOfPage() DeleteStepInput {
	return DeleteStepInput{DeleteInput: DeleteInput{FolderID: "hr", PageID: "p1", WorkflowID: pageDelete}, DeleteID: 9, AcceptedAt: accepted}
}

func deleteOfFolder() DeleteStepInput {
	return DeleteStepInput{DeleteInput: DeleteInput{FolderID: "hr", WorkflowID: folderDelete}, DeleteID: 9, AcceptedAt: accepted}
}

func before() *fakeRun { return &fakeRun{started: accepted.Add(-time.Minute)} }

func TestRule5CancelSyncsOfAPage(t *testing.T) {
	t.Parallel()

	t.Run("ends at once when nothing runs, after one list of its own prefix", func(t *testing.T) {
		t.Parallel()
		temporal, flights := &fakeTemporal{}, &fakeFlights{}
		result, took, err := cancelSyncs(t, flights, temporal, deleteOfPage())
		require.NoError(t, err)
		assert.Zero(t, result)
		assert.Equal(t, []string{"folder/hr/page/p1/"}, temporal.prefixes)
		assert.Zero(t, flights.slots, "a page's one list is within the budget of Visibility")
		assert.Less(t, took, listRound)
	})

	t.Run("finds the sync by its exact ID when the list lags", func(t *testing.T) {
		t.Parallel()
		temporal := &fakeTemporal{runs: map[string]*fakeRun{pageSync: before()}}
		result, _, err := cancelSyncs(t, &fakeFlights{}, temporal, deleteOfPage())
		require.NoError(t, err)
		assert.Equal(t, CancelSyncsResult{Cancelled: 1}, result)
		assert.Equal(t, []string{pageSync}, temporal.cancelled)
	})

	t.Run("finds other work by the list, of whatever kind", func(t *testing.T) {
		t.Parallel()
		other := "folder/hr/page/p1/rerender"
		temporal := &fakeTemporal{runs: map[string]*fakeRun{other: before()}, listed: []string{other, other}}
		result, _, err := cancelSyncs(t, &fakeFlights{}, temporal, deleteOfPage())
		require.NoError(t, err)
		assert.Equal(t, CancelSyncsResult{Cancelled: 1}, result, "each once")
	})

	t.Run("terminates what has not ended when the ladder's time is over", func(t *testing.T) {
		t.Parallel()
		run := before()
		run.stubborn = true
		temporal := &fakeTemporal{runs: map[string]*fakeRun{pageSync: run}}
		result, took, err := cancelSyncs(t, &fakeFlights{}, temporal, deleteOfPage())
		require.NoError(t, err)
		assert.Equal(t, CancelSyncsResult{Cancelled: 1, Terminated: 1}, result)
		assert.Equal(t, []string{pageSync}, temporal.cancelled, "the cancel is sent once")
		assert.Equal(t, []string{pageSync}, temporal.terminated)
		assert.GreaterOrEqual(t, took, shortLadder)
	})

	t.Run("leaves a run that started a second after the accept, since its Begin is refused", func(t *testing.T) {
		t.Parallel()
		temporal := &fakeTemporal{runs: map[string]*fakeRun{pageSync: {started: accepted.Add(startGrace + time.Millisecond)}}, listed: []string{pageSync}}
		result, _, err := cancelSyncs(t, &fakeFlights{}, temporal, deleteOfPage())
		require.NoError(t, err)
		assert.Zero(t, result)
		assert.Empty(t, temporal.cancelled)
	})

	t.Run("takes one that started within that second, since clocks differ", func(t *testing.T) {
		t.Parallel()
		temporal := &fakeTemporal{runs: map[string]*fakeRun{pageSync: {started: accepted.Add(startGrace)}}}
		result, _, err := cancelSyncs(t, &fakeFlights{}, temporal, deleteOfPage())
		require.NoError(t, err)
		assert.Equal(t, 1, result.Cancelled)
	})

	t.Run("doesn't wait for the run that follows the cancelled one", func(t *testing.T) {
		t.Parallel()
		run := before()
		run.replaced = accepted.Add(time.Minute)
		temporal := &fakeTemporal{runs: map[string]*fakeRun{pageSync: run}}
		result, took, err := cancelSyncs(t, &fakeFlights{}, temporal, deleteOfPage())
		require.NoError(t, err)
		assert.Equal(t, CancelSyncsResult{Cancelled: 1}, result)
		assert.Less(t, took, shortLadder)
	})

	t.Run("leaves alone what a server that ignores case lists, deletes, and itself", func(t *testing.T) {
		t.Parallel()
		strangers := []string{
			"folder/hr/page/P1/sync", "FOLDER/hr/page/p1/sync", "folder/hr/page/p10/sync", pageDelete, "",
		}
		temporal := &fakeTemporal{runs: map[string]*fakeRun{}, listed: strangers}
		for _, workflowID := range strangers {
			temporal.runs[workflowID] = before()
		}
		result, _, err := cancelSyncs(t, &fakeFlights{}, temporal, deleteOfPage())
		require.NoError(t, err)
		assert.Zero(t, result)
		assert.Empty(t, temporal.cancelled)
	})
}

func TestRule5CancelSyncsOfAFolder(t *testing.T) {
	t.Parallel()

	t.Run("lists twice, a second apart, within the deployment's budget", func(t *testing.T) {
		t.Parallel()
		folderSync := "folder/hr/sync/u1"
		temporal := &fakeTemporal{
			runs:   map[string]*fakeRun{folderSync: before(), pageSync: before(), pageDelete: before(), folderDelete: before(), "folder/hr2/sync/u1": before()},
			listed: []string{folderSync, pageSync, pageDelete, folderDelete, "folder/HR/sync/u1", "folder/hr2/sync/u1"},
		}
		flights := &fakeFlights{}
		result, _, err := cancelSyncs(t, flights, temporal, deleteOfFolder())
		require.NoError(t, err)
		assert.Equal(t, CancelSyncsResult{Cancelled: 2}, result)
		assert.ElementsMatch(t, []string{folderSync, pageSync}, temporal.cancelled, "neither deletes nor strangers")
		require.Equal(t, []string{"folder/hr/", "folder/hr/"}, temporal.prefixes)
		assert.GreaterOrEqual(t, temporal.times[1].Sub(temporal.times[0]), listRound)
		assert.Equal(t, 2, flights.slots)
	})

	t.Run("so does a subtree, whose pages the in-flight table knows", func(t *testing.T) {
		t.Parallel()
		below := "folder/hr/page/p2/sync"
		temporal := &fakeTemporal{runs: map[string]*fakeRun{below: before()}}
		flights := &fakeFlights{flights: []knowledge.Flight{{FolderID: "hr", PageID: "p2", Token: "t2", WorkflowID: below}}}
		in := deleteOfPage()
		in.Subtree = true
		result, _, err := cancelSyncs(t, flights, temporal, in)
		require.NoError(t, err)
		assert.Equal(t, CancelSyncsResult{Cancelled: 1, Dropped: 1}, result)
		assert.Equal(t, []string{"folder/hr/page/p1/", "folder/hr/page/p1/"}, temporal.prefixes)
	})

	t.Run("drops the rows of runs that are closed or unknown", func(t *testing.T) {
		t.Parallel()
		temporal := &fakeTemporal{runs: map[string]*fakeRun{pageSync: {started: accepted.Add(-time.Hour), closed: true}}}
		flights := &fakeFlights{flights: []knowledge.Flight{
			{FolderID: "hr", PageID: "p1", Token: "t1", WorkflowID: pageSync},
			{FolderID: "hr", PageID: "p2", Token: "t2", WorkflowID: "folder/hr/page/p2/sync"},
		}}
		result, _, err := cancelSyncs(t, flights, temporal, deleteOfFolder())
		require.NoError(t, err)
		assert.Equal(t, CancelSyncsResult{Dropped: 2}, result)
		assert.Empty(t, flights.flights)
	})
}

func TestCancelSyncsGivesUpWithAnError(t *testing.T) {
	t.Parallel()
	away := errors.New("ask temporal: away")

	t.Run("when Temporal can't be asked", func(t *testing.T) {
		t.Parallel()
		_, _, err := cancelSyncs(t, &fakeFlights{}, &fakeTemporal{err: away}, deleteOfPage())
		assert.ErrorContains(t, err, away.Error())
	})

	t.Run("when Postgres can't be asked", func(t *testing.T) {
		t.Parallel()
		_, _, err := cancelSyncs(t, &fakeFlights{err: away}, &fakeTemporal{}, deleteOfFolder())
		assert.ErrorContains(t, err, away.Error())
	})

	t.Run("when the ids aren't ids", func(t *testing.T) {
		t.Parallel()
		in := deleteOfPage()
		in.PageID = strings.Repeat("/", 3)
		_, _, err := cancelSyncs(t, &fakeFlights{}, &fakeTemporal{}, in)
		assert.Error(t, err)
	})
}
