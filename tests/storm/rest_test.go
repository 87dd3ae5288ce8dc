package storm

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/pause"
)

var person = control.Actor{Name: "storm", Trigger: "cli"}

// rest heals everything and waits until nothing is under way; then each active folder is synced twice, holds are decided, and
// the janitor runs.
func (s *storm) rest() {
	s.t.Helper()
	s.heal()
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*patience)
	defer cancel()
	s.settle(ctx, "the storm's own work ends")
	s.tidy(ctx)
	for _, folder := range folders {
		if f, err := s.control.Folder(ctx, folder); err == nil && f.State == "paused" {
			_, err = s.control.ResumeFolder(ctx, folder, person)
			require.NoError(s.t, err)
		}
	}
	for range 2 {
		s.quietSync(ctx)
	}
	s.decideHolds(ctx)
	s.settle(ctx, "everything ends after the last syncs")
	s.ageEmbeddings(ctx)
	s.tidy(ctx)
	s.settle(ctx, "everything ends after the janitor")
}

// heal lets processes, connections, servers and files be well again.
func (s *storm) heal() {
	s.t.Helper()
	s.under.Wait()
	for _, c := range s.children {
		c.signal(syscall.SIGCONT)
		c.postgres.release()
		c.temporal.release()
	}
	if s.room != nil {
		require.NoError(s.t, s.room.empty())
	}
	for _, folder := range folders {
		require.NoError(s.t, s.disk.unlock(folder))
	}
}

// settle waits until all orders are answered, nothing is in flight, and no workflow runs.
func (s *storm) settle(ctx context.Context, what string) {
	s.t.Helper()
	s.eventually(ctx, patience, what, func() (string, error) {
		if n := s.ledger.waiting(); n > 0 {
			return fmt.Sprintf("%d orders without an answer", n), nil
		}
		running, err := s.running(ctx, "")
		if err != nil {
			return "", err
		}
		if len(running) > 0 {
			return "running: " + strings.Join(running, ", "), s.askJanitor(ctx)
		}
		return s.underWay(ctx)
	})
}

// askJanitor starts the janitor now and then, which its Schedule does every five minutes: what terminated workflows left behind is
// its to find, and a batch waits for a folder sync that was terminated until it has.
func (s *storm) askJanitor(ctx context.Context) error {
	if time.Since(s.tidied) < 5*time.Second {
		return nil
	}
	s.tidied = time.Now()
	_, err := s.control.Janitor(ctx, person)
	return err
}

// underWay tells what Postgres believes to be under way.
func (s *storm) underWay(ctx context.Context) (string, error) {
	var left []string
	for what, query := range map[string]string{
		"in flight":          `SELECT count(*) FROM in_flight`,
		"staged revisions":   `SELECT count(*) FROM revisions WHERE state = 'staged'`,
		"runs":               `SELECT count(*) FROM sync_runs WHERE status = 'running'`,
		"unfinished deletes": `SELECT count(*) FROM deletes WHERE finished_at IS NULL`,
		"open transactions": `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'loresync'
			AND state LIKE 'idle in transaction%'`,
	} {
		n := 0
		if err := s.checker.pool.QueryRow(ctx, query).Scan(&n); err != nil {
			return "", err
		}
		if n > 0 {
			left = append(left, fmt.Sprintf("%d %s", n, what))
		}
	}
	if len(left) > 0 {
		return strings.Join(left, ", "), s.askJanitor(ctx)
	}
	return "", nil
}

// tidy runs the janitor to its end.
func (s *storm) tidy(ctx context.Context) {
	s.t.Helper()
	answer, err := s.control.Janitor(ctx, person)
	require.NoError(s.t, err)
	_, err = s.control.Wait(ctx, answer, nil)
	require.NoError(s.t, err)
}

// quietSync syncs every active folder in full, one after the other, and demands that it completes.
func (s *storm) quietSync(ctx context.Context) {
	s.t.Helper()
	for _, folder := range s.active(ctx) {
		_, err := s.control.Retry(ctx, folder, "", person)
		require.NoError(s.t, err)
		s.settle(ctx, "the retries of a folder end")
		answer, err := s.control.SyncFolder(ctx, folder, knowledge.ModeFull, person)
		require.NoError(s.t, err)
		answer, err = s.control.Wait(ctx, answer, nil)
		require.NoError(s.t, err)
		if answer.Status != string(knowledge.RunCompleted) {
			s.violate(ctx, violation{
				Rule: "at rest: a quiet sync did not complete", Folder: folder,
				Detail: fmt.Sprintf("%s: %s, counts %+v", answer.Status, answer.Reason, answer.Counts),
			})
		}
	}
}

// active gives the folders that are synced at rest.
func (s *storm) active(ctx context.Context) []string {
	s.t.Helper()
	var found []string
	for _, folder := range folders {
		f, err := s.control.Folder(ctx, folder)
		switch {
		case err == nil && f.State == "active":
			found = append(found, folder)
		case err != nil:
			require.Equal(s.t, control.KindNotFound, control.KindOf(err), err)
		}
	}
	return found
}

// decideHolds approves one open hold, rejects the next, and leaves a third open.
func (s *storm) decideHolds(ctx context.Context) {
	s.t.Helper()
	holds, err := s.control.Holds(ctx, false)
	require.NoError(s.t, err)
	for i, hold := range holds {
		switch i {
		case 0:
			answer, err := s.control.ApproveHold(ctx, hold.HoldID, person)
			require.NoError(s.t, err)
			_, err = s.control.Wait(ctx, answer, nil)
			require.NoError(s.t, err)
		case 1:
			_, err := s.control.RejectHold(ctx, hold.HoldID, person)
			require.NoError(s.t, err)
		}
	}
}

// ageEmbeddings makes embeddings that nothing uses look a day old, which is when the janitor collects them.
func (s *storm) ageEmbeddings(ctx context.Context) {
	s.t.Helper()
	_, err := s.checker.pool.Exec(ctx, `UPDATE embeddings e SET created_at = created_at - interval '2 days'
		WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.model = e.model AND c.dimensions = e.dimensions AND c.text_hash = e.text_hash)`)
	require.NoError(s.t, err)
	require.NoError(s.t, pause.For(ctx, time.Millisecond))
}
