package tests

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"

	"github.com/loresync/loresync/internal/control"
)

// A worker that is cut off from Postgres went on taking work for minutes, which it could only fail at.
func TestRule12AWorkerWithoutPostgresTakesNoWork(t *testing.T) {
	t.Parallel()
	r := newRig(t, patiently, withoutWorker)
	address, err := url.Parse(r.url)
	require.NoError(t, err)
	postgres := newWire(t, address.Host)
	address.Host = postgres.address
	first := r.startWorker("LORESYNC_DATABASE_URL=" + address.String())
	r.put("a.md", "# A\n\nfirst\n")
	r.synced()
	page := r.page("a.md").PageID
	read := func(text string) control.Answer {
		r.put("a.md", "# A\n\n"+text+"\n")
		answer := r.wait(r.SyncPage(t.Context(), folderID, page, person))
		assert.Equal(t, 1, r.count(`SELECT count(*) FROM live_pages WHERE markdown LIKE '%' || $1 || '%'`, text))
		return answer
	}
	readBy := func(text string, worker int) {
		for _, taker := range r.takers(read(text)) {
			assert.True(t, strings.HasPrefix(taker, fmt.Sprintf("%d@", worker)), "%s took work of worker %d", taker, worker)
		}
	}
	postgres.set(true)
	r.says(first, "takes no work until it does")
	second := r.workerProcess()
	read("second") // Temporal may still hand a task to a call that the first worker has given up
	readBy("third", second.Process.Pid)
	readBy("fourth", second.Process.Pid)

	require.NoError(t, second.Process.Kill())
	postgres.set(false)
	r.says(first, "postgres answers again")
	readBy("fifth", first.Process.Pid)
	r.clean()
}

// takers are the workers that took the steps of a workflow.
func (r *rig) takers(answer control.Answer) []string {
	r.t.Helper()
	var takers []string
	events := r.temporal.GetWorkflowHistory(r.t.Context(), answer.WorkflowID, answer.RunID, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		event, err := events.Next()
		require.NoError(r.t, err)
		if started := event.GetWorkflowTaskStartedEventAttributes(); started != nil {
			takers = append(takers, started.GetIdentity())
		}
		if started := event.GetActivityTaskStartedEventAttributes(); started != nil {
			takers = append(takers, started.GetIdentity())
		}
	}
	require.NotEmpty(r.t, takers)
	return takers
}
