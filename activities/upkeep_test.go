package activities

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"github.com/loresync/loresync/internal/knowledge"
)

// leftovers is what dead processes left, of which one step can't be read.
type leftovers struct {
	UpkeepStore
	flights []knowledge.Flight
	runs    []knowledge.Run
	closed  []knowledge.FinishedRun
	dropped []string
	broken  error
}

func (s *leftovers) UnfinishedDeletes(context.Context, time.Duration) ([]knowledge.OpenDelete, error) {
	return nil, s.broken
}

func (s *leftovers) HalfRestored(context.Context) ([]knowledge.OpenDelete, error) { return nil, nil }
func (s *leftovers) PurgePages(context.Context, int64, int) (int, error)          { return 0, nil }
func (s *leftovers) FoldersToPurge(context.Context) ([]string, error)             { return nil, nil }

func (s *leftovers) OldFlights(context.Context, time.Duration) ([]knowledge.Flight, error) {
	return s.flights, nil
}

func (s *leftovers) DropAttempt(_ context.Context, h knowledge.Holder) (bool, error) {
	s.dropped = append(s.dropped, h.Page)
	return true, nil
}

func (s *leftovers) RunningRuns(context.Context, time.Duration) ([]knowledge.Run, error) {
	return s.runs, nil
}

func (s *leftovers) FinishRun(_ context.Context, r knowledge.FinishedRun) error {
	s.closed = append(s.closed, r)
	return nil
}
func (s *leftovers) DropLeftovers(context.Context) (int64, error)             { return 3, nil }
func (s *leftovers) ApplyRetention(context.Context) (int64, error)            { return 4, nil }
func (s *leftovers) DropOrphanEmbeddings(context.Context, int) (int64, error) { return 5, nil }

func tidy(t *testing.T, store UpkeepStore, temporal Executions) (TidyResult, error) {
	t.Helper()
	suite := testsuite.WorkflowTestSuite{}
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestActivityEnvironment()
	acts := &UpkeepActivities{Store: store, Executions: temporal, Timeouts: Timeouts{}.WithDefaults()}
	env.RegisterActivity(acts)
	value, err := env.ExecuteActivity(acts.Tidy, TidyInput{})
	var result TidyResult
	if err == nil {
		require.NoError(t, value.Get(&result))
	}
	return result, err
}

func TestTidy(t *testing.T) {
	t.Parallel()
	left := func() *leftovers {
		return &leftovers{
			flights: []knowledge.Flight{
				{FolderID: "hr", PageID: "runs", WorkflowID: "folder/hr/page/runs/sync"},
				{FolderID: "hr", PageID: "ended", WorkflowID: "folder/hr/page/ended/sync"},
				{FolderID: "hr", PageID: "lost", WorkflowID: "folder/hr/page/lost/sync"},
				{FolderID: "hr", PageID: "other-run", WorkflowID: "folder/hr/page/other-run/sync", RunID: "an earlier run"},
			},
			runs: []knowledge.Run{{WorkflowID: "folder/hr/sync/u1"}, {WorkflowID: "folder/hr/sync/u2", Counts: knowledge.Counts{Listed: 2}}},
		}
	}
	temporal := func() *fakeTemporal {
		return &fakeTemporal{runs: map[string]*fakeRun{
			"folder/hr/page/runs/sync": {}, "folder/hr/page/ended/sync": {closed: true}, "folder/hr/page/other-run/sync": {},
			"folder/hr/sync/u1": {}, "folder/hr/sync/u2": {closed: true},
		}}
	}

	t.Run("drops what no running workflow holds and leaves the rest", func(t *testing.T) {
		t.Parallel()
		store := left()
		result, err := tidy(t, store, temporal())
		require.NoError(t, err)
		assert.Equal(t, TidyResult{AttemptsDropped: 3, RunsClosed: 1, RowsDropped: 12}, result)
		assert.Equal(t, []string{"ended", "lost", "other-run"}, store.dropped)
		require.Len(t, store.closed, 1)
		assert.Equal(t, "folder/hr/sync/u2", store.closed[0].WorkflowID)
		assert.Equal(t, knowledge.RunFailed, store.closed[0].Status)
		assert.EqualValues(t, 2, store.closed[0].Counts.Listed)
	})

	t.Run("goes on after a step that fails, and fails", func(t *testing.T) {
		t.Parallel()
		store := left()
		store.broken = errors.New("read unfinished deletes: away")
		_, err := tidy(t, store, temporal())
		require.ErrorContains(t, err, "away")
		assert.Len(t, store.dropped, 3)
		assert.Len(t, store.closed, 1)
	})
}
