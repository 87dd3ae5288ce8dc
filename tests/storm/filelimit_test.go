package storm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/local"
)

// largestFileMB is the size that no file of Postgres may exceed while its room is taken. Those of its log have exactly that size,
// so that the log can always be written.
const largestFileMB = 1

// fileLimit takes room from Postgres by a limit on the size of the files of all its processes, as their own user may: it needs no
// mount. Tables that are larger can neither grow nor be written back.
type fileLimit struct {
	postgres *local.Postgres
	owner    *syscall.Credential
}

// newFileLimit makes a table larger than the limit to which every change of a page adds: the events. A page of it takes
// few of them, so that it grows with nearly every one. Nil where a process's files can't be limited.
func newFileLimit(ctx context.Context, postgres *local.Postgres, databaseURL string) (room, error) {
	f := &fileLimit{postgres: postgres}
	if err := f.findOwner(); err != nil {
		return nil, err
	}
	if f.empty() != nil {
		return nil, nil //nolint:nilnil // this system can't
	}
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, step := range []string{
		`ALTER TABLE sync_events SET (fillfactor = 10, autovacuum_enabled = false)`,
		`INSERT INTO sync_events (kind, data) SELECT 'ballast', jsonb_build_object('ballast', repeat('x', 700)) FROM generate_series(1, 300)`,
		`DELETE FROM sync_events WHERE kind = 'ballast'`,
	} {
		if _, err := conn.Exec(ctx, step); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// findOwner finds who runs Postgres: root's is run by another user, whose processes root may not limit everywhere.
func (f *fileLimit) findOwner() error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid, err := ownerOf(f.postgres.DataDir())
	f.owner = &syscall.Credential{Uid: uid, Gid: gid}
	return err
}

func (f *fileLimit) fill() error { return f.limit(strconv.Itoa(largestFileMB << 20)) }

func (f *fileLimit) empty() error { return f.limit("unlimited") }

// limitEach limits processes. One that has ended meanwhile needs none.
const limitEach = `size=$1; shift; for pid; do prlimit --pid "$pid" --fsize="$size:" || test ! -e "/proc/$pid" || exit 1; done`

// limit begins with the server, from which all sessions to come have it.
func (f *fileLimit) limit(size string) error {
	server := strconv.Itoa(f.postgres.Pid())
	if err := f.limitAll(size, server); err != nil {
		return err
	}
	sessions, err := os.ReadFile(filepath.Join("/proc", server, "task", server, "children"))
	if err != nil {
		return err
	}
	return f.limitAll(size, strings.Fields(string(sessions))...)
}

func (f *fileLimit) limitAll(size string, pids ...string) error {
	limit := exec.Command("sh", append([]string{"-c", limitEach, "limit", size}, pids...)...)
	limit.SysProcAttr = &syscall.SysProcAttr{Credential: f.owner}
	said, err := limit.CombinedOutput()
	if err != nil {
		return fmt.Errorf("limit files to %s: %w: %s", size, err, said)
	}
	return nil
}

func TestRoomIsTakenByALimitOnFiles(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "loresync-storm-") //nolint:usetesting // processes of other users can't enter TempDir's parent
	require.NoError(t, err)
	require.NoError(t, openDir(dir))
	t.Cleanup(func() { assert.NoError(t, local.RemoveDataDir(context.Background(), dir)) })
	w := &world{t: t, dir: dir, limited: true}
	w.startPostgres()
	if w.room == nil {
		t.Skip("this system can't limit the files of another process")
	}
	before, err := pgx.Connect(t.Context(), w.databaseURL)
	require.NoError(t, err)
	defer func() { _ = before.Close(context.Background()) }()
	pid := w.postgres.Pid()
	fill := func(conn *pgx.Conn) error {
		_, err := conn.Exec(t.Context(), `INSERT INTO sync_events (kind, data) SELECT 'storm', jsonb_build_object('n', n) FROM generate_series(1, 50) n`)
		return err
	}
	for range 2 {
		require.NoError(t, fill(before))
		require.NoError(t, w.room.fill())
		require.ErrorContains(t, fill(before), "File too large", "a session from before")
		after, err := pgx.Connect(t.Context(), w.databaseURL)
		require.NoError(t, err, "who only reads is let in")
		require.ErrorContains(t, fill(after), "File too large", "a new session")
		require.NoError(t, after.Close(t.Context()))
		require.NoError(t, w.room.empty())
	}
	require.NoError(t, fill(before))
	assert.Equal(t, pid, w.postgres.Pid())
	_, err = before.Exec(t.Context(), `CHECKPOINT`)
	require.NoError(t, err, "what could not be written back is written now")
	assert.FileExists(t, filepath.Join(w.postgres.DataDir(), "postmaster.pid"))
}
