package workflows_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/loresync/loresync/internal/content/embed"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/testenv"
)

// recordWebhooks follows events about files, which the files source never sends itself: what follows is the same for all.
func recordWebhooks(t *testing.T) {
	r := newRecordRig(t, embed.Lexical{}, false)
	page := r.page("a.markdown")
	notice := func(event string, kind knowledge.NoticeKind, object string) control.Answer {
		return r.accepted(r.TakeNotice(t.Context(), "files", knowledge.Notice{EventID: event, Type: "page.test", Kind: kind, SourceID: object}))
	}
	r.record("page_asked_for", notice("e1", knowledge.NoticeChanged, page.SourceID))
	r.record("folder_asked_for", notice("e2", knowledge.NoticeChanged, "unknown"))

	reads := r.gate.Begun(page.SourceID)
	r.gate.Hold(page.SourceID)
	r.accepted(r.SyncPage(t.Context(), "hr", page.SourceID, recorder))
	r.awaitRead(page.SourceID, reads+1)
	r.remove(page.SourceID)
	removed := notice("e3", knowledge.NoticeGone, page.SourceID)
	r.awaitTimer(removed)
	r.gate.Open()
	r.record("removed_once_it_was_read", removed)
}

// seemingWatcher makes a source look as if it had a change log, whose checkpoint is its name.
type seemingWatcher struct{ source.Source }

func (s seemingWatcher) Traits() source.Traits {
	traits := s.Source.Traits()
	traits.Incremental = true
	return traits
}

func (s seemingWatcher) List(ctx context.Context, root source.Root, cursor string, yield func(source.Batch) error) (source.Listed, error) {
	listed, err := s.Source.List(ctx, root, cursor, yield)
	listed.Checkpoint = "user"
	return listed, err
}

func (seemingWatcher) Changes(_ context.Context, _ source.Root, checkpoint string, yield func([]source.Entry, []string) error) (source.Listed, error) {
	return source.Listed{Verdict: source.VerdictComplete, Checkpoint: checkpoint}, yield(nil, nil)
}

func (seemingWatcher) Logs(checkpoint string) []string { return []string{checkpoint} }

func (seemingWatcher) Watch(context.Context, string, source.Channel) (source.Watched, error) {
	return source.Watched{}, nil
}

func (seemingWatcher) Unwatch(context.Context, string, string) error { return nil }

// recordLogs follows calls of a change log.
func recordLogs(t *testing.T) {
	r := newRecordRig(t, embed.Lexical{}, false)
	r.src = seemingWatcher{r.src}
	r.put("a.md")
	r.awaitEnd(r.accepted(r.SyncFolder(t.Context(), "hr", knowledge.ModeFull, recorder)))
	r.record("log_followed", r.accepted(r.TakeNotice(t.Context(), "files", knowledge.LogNotice("user", time.Now()))))
}

// page puts a file, whose id is its path, and syncs it.
func (r *recordRig) page(path string) knowledge.Page {
	r.t.Helper()
	r.put(path)
	r.awaitEnd(r.accepted(r.SyncFolder(r.t.Context(), "hr", knowledge.ModeFull, recorder)))
	page, err := r.Page(r.t.Context(), "hr", path)
	require.NoError(r.t, err)
	return page
}

// awaitTimer waits until a run waits for its first timer.
func (r *recordRig) awaitTimer(answer control.Answer) {
	r.t.Helper()
	testenv.Eventually(r.t, recordTime, func() bool {
		events := r.temporal.GetWorkflowHistory(r.t.Context(), answer.WorkflowID, answer.RunID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		for events.HasNext() {
			event, err := events.Next()
			require.NoError(r.t, err)
			if event.GetEventType() == enumspb.EVENT_TYPE_TIMER_STARTED {
				return true
			}
		}
		return false
	}, "it waits")
}
