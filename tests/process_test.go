package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/testenv"
)

// programs builds a program of the project once per test run.
var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "loresync-programs-")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "../worker", "../starter")
	build.Stderr = os.Stderr
	return dir, build.Run()
})

func program(t testing.TB, name string) string {
	t.Helper()
	dir, err := programs()
	require.NoError(t, err)
	return filepath.Join(dir, name)
}

// environment is what another process needs to join the rig.
func (r *rig) environment() []string {
	return append(os.Environ(),
		"LORESYNC_DATABASE_URL="+r.url, "TEMPORAL_ADDRESS="+testenv.Temporal(r.t), "TEMPORAL_NAMESPACE="+r.name, "TEMPORAL_CONFIG_FILE="+os.DevNull,
		// A busy machine is not the subject: what a server that is down looks like has tests of its own.
		"LORESYNC_TEMPORAL_TIMEOUT=30s")
}

// workerProcess starts a worker as a process of its own. It is killed with the test, if it wasn't before.
func (r *rig) workerProcess() *exec.Cmd {
	r.t.Helper()
	return r.startWorker()
}

// startWorker is workerProcess with other settings than the rig's.
func (r *rig) startWorker(settings ...string) *exec.Cmd {
	r.t.Helper()
	return r.startProgram(exec.Command(program(r.t, "worker")), settings...)
}

// startProgram runs a worker, wherever it was built and whatever it is run by.
func (r *rig) startProgram(worker *exec.Cmd, settings ...string) *exec.Cmd {
	r.t.Helper()
	worker.Env = append(r.environment(), settings...)
	log := &processLog{}
	worker.Stderr = log
	require.NoError(r.t, worker.Start())
	r.t.Cleanup(func() {
		_ = worker.Process.Kill()
		_ = worker.Wait()
		if r.t.Failed() {
			r.t.Logf("worker %d:\n%s", worker.Process.Pid, log.all())
		}
	})
	return worker
}

// processLog is what a process has written so far.
type processLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write keeps some more.
func (l *processLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *processLog) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// says waits until a worker process has written some words.
func (r *rig) says(worker *exec.Cmd, words string) {
	r.t.Helper()
	log, kept := worker.Stderr.(*processLog)
	require.True(r.t, kept)
	testenv.Eventually(r.t, patience, func() bool { return strings.Contains(log.all(), words) }, "the worker says: "+words)
}

// starter runs the CLI in the rig and gives what it printed and its exit code.
func (r *rig) starter(ctx context.Context, args ...string) (stdout []byte, exit int, err error) {
	r.t.Helper()
	cmd := exec.CommandContext(ctx, program(r.t, "starter"), args...)
	cmd.Env = r.environment()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err = cmd.Run(); cmd.ProcessState == nil {
		return nil, -1, err
	}
	if errs.Len() > 0 {
		r.t.Logf("starter %v: %s", args, errs.String())
	}
	return out.Bytes(), cmd.ProcessState.ExitCode(), nil
}

func TestRule12AKilledWorkerLosesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, withoutWorker)
	first := r.workerProcess()
	r.fill(300)
	running, err := r.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
	require.NoError(t, err)
	testenv.Eventually(t, patience, func() bool { return r.live() > 30 }, "the first worker publishes")
	require.NoError(t, first.Process.Kill())
	atKill := r.live()
	r.workerProcess()
	ended := r.wait(running, nil)
	assert.Equal(t, "completed", ended.Status, ended.Reason)
	assert.Equal(t, knowledge.Counts{Listed: 300, New: 300}, *ended.Counts)
	assert.Equal(t, 300, r.live(), "none is missing")
	assert.Equal(t, 300, r.count(`SELECT count(DISTINCT source_id) FROM pages WHERE kind = 'document'`), "none is there twice")
	t.Logf("%d of 300 were live when the worker was killed", atKill)
	r.clean()
}

func TestRule1ManyProcessesAskForOnePage(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("a.md", "# A\n\ntext\n")
	r.synced()
	const callers, atOnce = 200, 8
	slots := make(chan struct{}, atOnce)
	var started, joined atomic.Int64
	var group sync.WaitGroup
	for range callers {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			out, exit, err := r.starter(t.Context(), "sync", "page", folderID, "a.md", "--json")
			var answer control.Answer
			if err == nil {
				err = json.Unmarshal(out, &answer)
			}
			if err != nil || exit != 0 {
				t.Errorf("sync a page: exit code %d, %v: %s", exit, err, out)
				return
			}
			if answer.Joined {
				joined.Add(1)
			} else {
				started.Add(1)
			}
		})
	}
	group.Wait()
	assert.EqualValues(t, callers, started.Load()+joined.Load())
	r.wait(r.SyncPage(t.Context(), folderID, "a.md", person))
	r.neverTwoAtOnce("folder/hr/page/"+r.page("a.md").PageID+"/sync", int(started.Load()))
	t.Logf("%d processes: %d started a run, %d joined one", callers, started.Load(), joined.Load())
	r.clean()
}

// neverTwoAtOnce demands that the runs of a Workflow ID followed one another.
func (r *rig) neverTwoAtOnce(workflowID string, atLeast int) {
	r.t.Helper()
	var runs []*workflowpb.WorkflowExecutionInfo
	testenv.Eventually(r.t, patience, func() bool {
		answer, err := r.temporal.ListWorkflow(r.t.Context(), &workflowservice.ListWorkflowExecutionsRequest{
			Namespace: r.name, Query: "WorkflowId = '" + workflowID + "' AND ExecutionStatus != 'Running'", PageSize: 1000,
		})
		runs = answer.GetExecutions()
		return err == nil && len(runs) >= atLeast
	}, "Visibility has caught up")
	slices.SortFunc(runs, func(a, b *workflowpb.WorkflowExecutionInfo) int {
		return a.GetStartTime().AsTime().Compare(b.GetStartTime().AsTime())
	})
	for i := 1; i < len(runs); i++ {
		require.False(r.t, runs[i].GetStartTime().AsTime().Before(runs[i-1].GetCloseTime().AsTime()), "two runs at once")
	}
}

func TestTheCommandLineTellsWhatHappened(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.put("x/a.md", "# A\n\nalpha text\n")
	for _, c := range []struct {
		args []string
		exit int
		want string
	}{
		{[]string{"sync", "folder", folderID, "--wait", "--json"}, 0, `"new": 1`},
		{[]string{"pages", folderID, "--json"}, 0, `"state": "live"`},
		{[]string{"search", "alpha", "--json"}, 0, `"title": "A"`},
		{[]string{"page", "show", folderID, "x/a.md", "--markdown"}, 0, "# A\n\nalpha text\n"},
		{[]string{"delete", "page", folderID, "x/a.md", "--wait", "--json"}, 0, `"purge_at"`},
		{[]string{"sync", "page", folderID, "x/a.md"}, 4, ""},
		{[]string{"search", "alpha", "--json"}, 0, "[]"},
		{[]string{"restore", "page", folderID, "x/a.md", "--wait", "--json"}, 0, `"restored"`},
		{[]string{"search", "alpha", "--json"}, 0, `"title": "A"`},
		{[]string{"why", "x/a.md", "--json"}, 0, `"live"`},
		{[]string{"folder", "pause", folderID, "--json"}, 0, `"paused"`},
		{[]string{"sync", "folder", folderID}, 4, ""},
		{[]string{"folder", "resume", folderID}, 0, ""},
		{[]string{"sync", "folder", "nobody"}, 3, ""},
		{[]string{"sync", "folder"}, 2, ""},
		{[]string{"sync", "folder", folderID, "--dry-run", "--wait", "--json"}, 0, `"unchanged": 1`},
		{[]string{"folder", "delete", folderID, "--wait", "--json"}, 0, `"status": "completed"`},
		{[]string{"folder", "add", folderID, "--source", "files", "--root", r.root}, 4, ""},
		{[]string{"deletes", "--json"}, 0, `"undo_seconds"`},
		{[]string{"folder", "restore", folderID, "--json"}, 0, `"restored"`},
		{[]string{"fsck", "--json"}, 0, "[]"},
		{[]string{"janitor", "--json"}, 0, ""},
		{[]string{"schedule", "set", "--cron", "0 3 * * *", "--timezone", "Asia/Tokyo", "--json"}, 0, `"Asia/Tokyo"`},
		{[]string{"schedule", "set", "--cron", "99 3 * * *"}, 2, ""},
		{[]string{"status", "--json"}, 0, `"folders"`},
	} {
		out, exit, err := r.starter(t.Context(), c.args...)
		require.NoError(t, err)
		require.Equal(t, c.exit, exit, "starter %v printed %s", c.args, out)
		require.Contains(t, string(out), c.want, "starter %v", c.args)
	}
}
