package testenv_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/loresync/loresync/internal/testenv"
)

func TestMain(m *testing.M) {
	if os.Getenv(panicVariable) != "" {
		leaveServersBehind()
	}
	testenv.SetMigrate(migrate)
	testenv.Main(m)
}

// migrate leaves its session to be closed by and by, as pools do.
func migrate(ctx context.Context, url string) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { go pool.Close() }()
	_, err = pool.Exec(ctx, "CREATE TABLE words (word text PRIMARY KEY)")
	return err
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	return connection
}

func TestDatabase(t *testing.T) {
	t.Parallel()
	t.Run("is migrated and belongs to one test", func(t *testing.T) {
		t.Parallel()
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				_, err := connect(t, testenv.Database(t)).Exec(t.Context(), "INSERT INTO words VALUES ('mine')")
				assert.NoError(t, err)
			})
		}
		group.Wait()
	})
	t.Run("can be had without migrations", func(t *testing.T) {
		t.Parallel()
		_, err := connect(t, testenv.EmptyDatabase(t)).Exec(t.Context(), "CREATE TABLE words ()")
		require.NoError(t, err)
	})
	t.Run("is dropped after the test with sessions still open", func(t *testing.T) {
		t.Parallel()
		var session *pgx.Conn
		t.Run("a test", func(t *testing.T) { session = connect(t, testenv.Database(t)) })
		assert.Error(t, session.Ping(t.Context()))
	})
	t.Run("costs little once the template is made", func(t *testing.T) {
		testenv.Database(t)
		best := time.Hour
		for range 3 {
			started := time.Now()
			testenv.Database(t)
			best = min(best, time.Since(started))
		}
		t.Logf("a database takes %s", best)
		assert.Less(t, best, time.Second, "a tenth of it on an idle machine")
	})
}

func Greet(workflow.Context) (string, error) { return "hello", nil }

func TestNamespace(t *testing.T) {
	t.Parallel()
	started := time.Now()
	testenv.Temporal(t)
	t.Logf("a server takes %s", time.Since(started))
	for name := range strings.FieldsSeq("first second") {
		t.Run("runs workflows at once: "+name, func(t *testing.T) {
			t.Parallel()
			started := time.Now()
			c := testenv.Client(t, testenv.Namespace(t))
			t.Logf("a namespace takes %s", time.Since(started))
			w := worker.New(c, "greetings", worker.Options{})
			w.RegisterWorkflow(Greet)
			require.NoError(t, w.Start())
			t.Cleanup(w.Stop)
			run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "greeting", TaskQueue: "greetings"}, Greet)
			require.NoError(t, err)
			var answer string
			require.NoError(t, run.Get(t.Context(), &answer))
			assert.Equal(t, "hello", answer)
			t.Logf("with a workflow %s", time.Since(started))
		})
	}
}
