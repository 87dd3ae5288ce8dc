package approaches_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/bench/internal/approaches"
	"github.com/loresync/loresync/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const patience = time.Minute

var page = approaches.Page{Folder: "f", ID: "p"}

// newPool gives connections to a database with the table of the designs.
func newPool(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), testenv.EmptyDatabase(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	require.NoError(t, approaches.Create(t.Context(), pool))
	require.NoError(t, approaches.Create(t.Context(), pool), "again")
	return pool
}

// newPoolOn gives other connections to the database of a pool.
func newPoolOn(t *testing.T, pool *pgxpool.Pool) *pgxpool.Pool {
	t.Helper()
	other, err := pgxpool.NewWithConfig(t.Context(), pool.Config())
	require.NoError(t, err)
	t.Cleanup(other.Close)
	return other
}

func gone(t *testing.T, work *approaches.Work) {
	t.Helper()
	left, err := work.Left(t.Context(), page)
	require.NoError(t, err)
	assert.Zero(t, left, "what is left of the page")
}

func awaitBegun(t *testing.T, work *approaches.Work, n int) {
	t.Helper()
	testenv.Eventually(t, patience, func() bool { return work.Begun(page) == n }, "the page is read")
}

func TestWork(t *testing.T) {
	t.Parallel()
	work := approaches.NewWork(newPool(t))
	live := func() int64 {
		n, err := work.Live(t.Context(), []string{page.Folder})
		require.NoError(t, err)
		return n
	}

	require.NoError(t, work.Sync(t.Context(), page, nil))
	assert.EqualValues(t, 1, live())

	// A sync that is under way at the delete publishes nothing and gives the page back.
	work.SetTakes(time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- work.Sync(ctx, page, nil) }()
	awaitBegun(t, work, 2)
	require.NoError(t, work.Remove(t.Context(), page))
	left, err := work.Left(t.Context(), page)
	require.NoError(t, err)
	assert.EqualValues(t, 1, left, "in flight")
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	gone(t, work)

	require.NoError(t, work.Sync(t.Context(), page, nil))
	assert.Equal(t, 2, work.Total(), "a page that is gone is not read")
	assert.Zero(t, live())
}
