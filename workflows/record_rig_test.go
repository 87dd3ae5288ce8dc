package workflows_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/content/embed"
	"github.com/loresync/loresync/internal/content/model"
	"github.com/loresync/loresync/internal/content/summary"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/files"
	"github.com/loresync/loresync/internal/source/sourcetest"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
	"github.com/loresync/loresync/internal/workers"
	"github.com/loresync/loresync/workflows"
)

const (
	// release is the one that recordings are made for.
	release = "v0.1.0"
	// recordedWord is in the title and the text of each recorded page, and recordedDir in its path: no history may hold them.
	recordedWord = "xylophone"
	recordedDir  = "secretplace"
	recordTime   = time.Minute
)

var recorder = control.Actor{Name: "eve", Trigger: "cli"}

// recordRig is a whole loresync whose runs are recorded: real servers, real workers, and the files source behind a gate.
type recordRig struct {
	*control.Control
	t        *testing.T
	temporal client.Client
	root     string
	gate     *sourcetest.Gate
	src      source.Source
}

// seemingRemote makes the source look as if it answered over a network, so that pages are fetched by an activity of its own.
type seemingRemote struct{ source.Source }

func (s seemingRemote) Traits() source.Traits {
	traits := s.Source.Traits()
	traits.Remote = true
	return traits
}

// seemingModel is an embedder that looks remote, and may be down.
type seemingModel struct {
	embed.Lexical
	down bool
}

func (seemingModel) Remote() bool { return true }

func (m seemingModel) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	if m.down {
		return nil, &model.Error{Status: 503, Retryable: true, Err: model.ErrUnreachable}
	}
	return m.Lexical.Embed(ctx, texts)
}

func newRecordRig(t *testing.T, embedder embed.Embedder, remote bool) *recordRig {
	t.Helper()
	r := &recordRig{t: t, root: filepath.Join(t.TempDir(), recordedDir), gate: sourcetest.NewGate(files.New(files.Options{}))}
	require.NoError(t, os.Mkdir(r.root, 0o700))
	if r.src = r.gate.Source(); remote {
		r.src = seemingRemote{r.src}
	}
	st, err := store.Open(t.Context(), testenv.Database(t), store.Options{})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	namespace := testenv.Namespace(t)
	r.temporal = testenv.Client(t, namespace)
	quiet := slog.New(slog.DiscardHandler)
	r.Control = control.New(st, r.temporal, r, quiet, control.Options{Namespace: namespace})
	set, err := workers.Start(workers.Options{
		Store: st, Temporal: r.temporal, Control: r.Control, Sources: r, Log: quiet,
		Models:   activities.Models{Embedder: embedder, Summarizer: summary.Extractive{}},
		Timeouts: activities.Timeouts{Ladder: 3 * time.Second, Abandoned: 2 * time.Second, AskAgain: time.Second},
	})
	require.NoError(t, err)
	t.Cleanup(set.Stop)
	t.Cleanup(func() { r.gate.Open() })
	_, err = r.AddFolder(t.Context(), control.FolderSpec{ID: "hr", Source: "files", Root: r.root, Title: "HR"}, recorder)
	require.NoError(t, err)
	return r
}

func (r *recordRig) Source(context.Context, string, string) (source.Source, error) { return r.src, nil }

func (r *recordRig) put(path string) {
	r.t.Helper()
	full := filepath.Join(r.root, filepath.FromSlash(path))
	require.NoError(r.t, os.MkdirAll(filepath.Dir(full), 0o700))
	text := fmt.Sprintf("# %s %s\n\nThe %s of %s at %d.\n", recordedWord, path, recordedWord, path, time.Now().UnixNano())
	require.NoError(r.t, os.WriteFile(full, []byte(text), 0o600))
}

func (r *recordRig) fill(n int) []string {
	r.t.Helper()
	paths := make([]string, n)
	for i := range paths {
		paths[i] = fmt.Sprintf("dir%d/page%02d.md", i%3, i)
		r.put(paths[i])
	}
	return paths
}

func (r *recordRig) remove(paths ...string) {
	r.t.Helper()
	for _, path := range paths {
		require.NoError(r.t, os.Remove(filepath.Join(r.root, filepath.FromSlash(path))))
	}
}

// awaitRead waits until a held read of a page has begun.
func (r *recordRig) awaitRead(path string, n int) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), recordTime)
	defer cancel()
	require.NoError(r.t, r.gate.AwaitBegun(ctx, path, n))
}

// awaitActivity waits until a run has begun an activity.
func (r *recordRig) awaitActivity(answer control.Answer, name string) {
	r.t.Helper()
	testenv.Eventually(r.t, recordTime, func() bool {
		described, err := r.temporal.DescribeWorkflow(r.t.Context(), answer.WorkflowID, answer.RunID)
		require.NoError(r.t, err)
		for _, pending := range described.RawResponse.GetPendingActivities() {
			if pending.GetActivityType().GetName() == name {
				return true
			}
		}
		return false
	}, name+" is under way")
}

// accepted passes on the answer of a request that must not be refused.
func (r *recordRig) accepted(answer control.Answer, err error) control.Answer {
	r.t.Helper()
	require.NoError(r.t, err)
	return answer
}

// awaitEnd waits until a run has ended, however it ends.
func (r *recordRig) awaitEnd(answer control.Answer) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), recordTime)
	defer cancel()
	_ = r.temporal.GetWorkflow(ctx, answer.WorkflowID, answer.RunID).Get(ctx, nil)
	require.NoError(r.t, ctx.Err())
}

// record waits for a run, however it ends, and writes its history as a case of its workflow type.
func (r *recordRig) record(name string, answer control.Answer) {
	r.t.Helper()
	r.awaitEnd(answer)
	history := &historypb.History{}
	events := r.temporal.GetWorkflowHistory(r.t.Context(), answer.WorkflowID, answer.RunID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(r.t, err)
		history.Events = append(history.Events, event)
	}
	workflowType := history.GetEvents()[0].GetWorkflowExecutionStartedEventAttributes().GetWorkflowType().GetName()
	dir := filepath.Join(historiesDir, release, workflowType)
	require.NoError(r.t, os.MkdirAll(dir, 0o750))
	require.NoError(r.t, os.WriteFile(filepath.Join(dir, name+".json"), r.written(history), 0o600))
	r.t.Logf("%s/%s: %d events", workflowType, name, len(history.GetEvents()))
}

// written gives the history as JSON in one order, without what names the machine it was recorded on.
func (r *recordRig) written(history *historypb.History) []byte {
	r.t.Helper()
	raw, err := protojson.Marshal(history)
	require.NoError(r.t, err)
	var document any
	require.NoError(r.t, json.Unmarshal(raw, &document))
	anonymise(document)
	text, err := json.MarshalIndent(document, "", " ")
	require.NoError(r.t, err)
	return append(text, '\n')
}

func anonymise(value any) {
	switch v := value.(type) {
	case []any:
		for _, each := range v {
			anonymise(each)
		}
	case map[string]any:
		if v["kind"] == "TASK_QUEUE_KIND_STICKY" {
			v["name"] = "sticky"
		}
		for _, name := range []string{"identity", "workerIdentity", "lastWorkerIdentity", "workerVersion", "requestId"} {
			delete(v, name)
		}
		for _, each := range v {
			anonymise(each)
		}
	}
}

// direct starts a workflow that no request starts, under its usual ID.
func (r *recordRig) direct(workflowID string, wf, in any) control.Answer {
	r.t.Helper()
	run, err := r.temporal.ExecuteWorkflow(r.t.Context(), client.StartWorkflowOptions{ID: workflowID, TaskQueue: workflows.QueueKnowledge}, wf, in)
	require.NoError(r.t, err)
	return control.Answer{WorkflowID: run.GetID(), RunID: run.GetRunID()}
}
