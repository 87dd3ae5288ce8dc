package workflows_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/loresync/loresync/internal/content/embed"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
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
