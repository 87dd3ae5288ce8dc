package storm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	enumspb "go.temporal.io/api/enums/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/loresync/loresync/internal/control"
)

// leftovers find what must not be there at rest.
var leftovers = []string{
	`SELECT 'at rest: a chunk without a revision' AS rule, '' AS folder_id, '' AS page_id, c.revision_id::text AS detail
     FROM chunks c WHERE NOT EXISTS (SELECT 1 FROM revisions r WHERE r.revision_id = c.revision_id)`,
	`SELECT 'at rest: an embedding that nothing uses' AS rule, '' AS folder_id, '' AS page_id, encode(e.text_hash, 'hex') AS detail FROM embeddings e
     WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.model = e.model AND c.dimensions = e.dimensions AND c.text_hash = e.text_hash)`,
	`SELECT 'at rest: hidden by a person, and no exclusion says so' AS rule, p.folder_id, p.page_id, p.source_id AS detail
     FROM pages p JOIN folders f USING (folder_id) WHERE f.deleted_at IS NULL AND p.tombstone_reason = 'person' AND p.kind = 'document'
       AND covering_exclusion(p.folder_id, p.source_id, p.parent_source_id) IS NULL`,
	`SELECT 'at rest: a subtree is still being hidden' AS rule, e.folder_id, e.page_id, e.source_id AS detail
     FROM exclusions e JOIN folders f USING (folder_id) WHERE f.deleted_at IS NULL AND e.sweeping`,
	`SELECT 'at rest: an open hold without a page' AS rule, h.folder_id, '' AS page_id, h.hold_id AS detail
     FROM holds h WHERE h.state = 'open' AND NOT EXISTS (SELECT 1 FROM hold_pages p WHERE p.hold_id = h.hold_id)`,
	`SELECT 'rule 3: revisions were published out of order' AS rule, x.folder_id, x.page_id,
        format('revision %s read at %s after %s', x.revision_id, x.read_seq, x.before) AS detail
     FROM (SELECT r.*, lag(r.read_seq) OVER (PARTITION BY r.folder_id, r.page_id ORDER BY r.published_at, r.revision_id) AS before FROM revisions r
           WHERE r.state <> 'staged') x WHERE x.before >= x.read_seq`,
	`SELECT 'rule 9: the newest published revision is not the one that is shown' AS rule, p.folder_id, p.page_id, p.published_revision_id::text AS detail
     FROM pages p WHERE EXISTS (SELECT 1 FROM revisions r JOIN revisions own ON own.revision_id = p.published_revision_id
         WHERE r.folder_id = p.folder_id AND r.page_id = p.page_id AND r.state <> 'staged' AND r.read_seq > own.read_seq)`,
}

// clean demands that nothing is left of the storm, and that fsck finds nothing.
func (s *storm) clean(ctx context.Context) {
	s.t.Helper()
	for _, query := range leftovers {
		rows, err := rowsOf[brokenRow](ctx, s.checker.pool, query)
		require.NoError(s.t, err)
		for _, row := range rows {
			s.violate(ctx, violation{Rule: row.Rule, Folder: row.FolderID, ID: row.PageID, Detail: row.Detail})
		}
	}
	found, err := s.control.Fsck(ctx, control.FsckOptions{AgainstSource: true})
	require.NoError(s.t, err)
	for _, d := range found {
		if d.Kind == "source_vanished" {
			continue // in a hold that was left open or rejected: equal says which may
		}
		s.violate(ctx, violation{Rule: "at rest: fsck finds " + d.Kind, Folder: d.FolderID, ID: d.PageID, Detail: d.Sentence})
	}
	s.neverTwoAtOnce(ctx)
	s.countEvents(ctx)
}

// countEvents adds what happened, as the store recorded it, to the summary.
func (s *storm) countEvents(ctx context.Context) {
	s.t.Helper()
	rows, err := rowsOf[struct {
		Kind string
		N    int
	}](ctx, s.checker.pool, `SELECT kind, count(*)::int AS n FROM sync_events GROUP BY kind`)
	require.NoError(s.t, err)
	for _, row := range rows {
		s.counts["event "+row.Kind] += row.N
	}
}

// neverTwoAtOnce demands that the page syncs of each page followed one another, by what Temporal recorded.
func (s *storm) neverTwoAtOnce(ctx context.Context) {
	s.t.Helper()
	for id, runs := range s.pageSyncs(ctx) {
		slices.SortFunc(runs, func(a, b *workflowpb.WorkflowExecutionInfo) int {
			return a.GetStartTime().AsTime().Compare(b.GetStartTime().AsTime())
		})
		for i := 1; i < len(runs); i++ {
			if runs[i].GetStartTime().AsTime().Before(runs[i-1].GetCloseTime().AsTime()) {
				s.violate(ctx, violation{Rule: "rule 1: two syncs of one page at once", ID: id, Detail: fmt.Sprintf("%v and %v", runs[i-1], runs[i])})
			}
		}
	}
}

// pageSyncs lists all closed page syncs by their Workflow IDs. Failed workflows are noted.
func (s *storm) pageSyncs(ctx context.Context) map[string][]*workflowpb.WorkflowExecutionInfo {
	s.t.Helper()
	found := map[string][]*workflowpb.WorkflowExecutionInfo{}
	var token []byte
	for {
		answer, err := s.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
			Query: "ExecutionStatus != 'Running'", PageSize: 1000, NextPageToken: token,
		})
		require.NoError(s.t, err)
		for _, info := range answer.GetExecutions() {
			id := info.GetExecution().GetWorkflowId()
			s.count("workflows " + strings.ToLower(info.GetStatus().String()))
			if info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_FAILED {
				run := info.GetExecution().GetRunId()
				s.t.Logf("failed: %s (%s): %v", id, run, s.client.GetWorkflow(ctx, id, run).Get(ctx, nil))
			}
			if info.GetType().GetName() == "SyncPageWorkflow" {
				found[id] = append(found[id], info)
			}
		}
		if token = answer.GetNextPageToken(); len(token) == 0 {
			return found
		}
	}
}

func (s *storm) count(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[what]++
}
