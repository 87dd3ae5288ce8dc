package store

import (
	"context"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

// Overview is what the status of a deployment shows beside its folders.
type Overview struct {
	// Database is the database's name and the server's version.
	Database string
	// EmbeddingModel made the newest embeddings in use; "" without any.
	EmbeddingModel                                   string
	Maintenance                                      bool
	OpenHolds, UnfinishedDeletes, InFlight, DueReads int64
}

const overview = `
SELECT current_database() || ' on PostgreSQL ' || split_part(current_setting('server_version'), ' ', 1) AS database,
    coalesce((SELECT c.model FROM chunks c WHERE c.model IS NOT NULL ORDER BY c.revision_id DESC LIMIT 1), '') AS embedding_model,
    (SELECT maintenance FROM deployment) AS maintenance,
    (SELECT count(*) FROM holds h JOIN folders f ON f.folder_id = h.folder_id WHERE h.state = 'open' AND f.deleted_at IS NULL) AS open_holds,
    (SELECT count(*) FROM deletes WHERE finished_at IS NULL) AS unfinished_deletes,
    (SELECT count(*) FROM in_flight) AS in_flight,
    (SELECT count(*) FROM due_reads WHERE due_at <= now()) AS due_reads`

// Overview reads the state of the deployment. DueReads counts those whose time has come.
func (s *Store) Overview(ctx context.Context) (Overview, error) {
	return one[Overview](ctx, s, "read the status", overview)
}

// RunUnderWay is a running folder sync and how far it has come.
type RunUnderWay struct {
	knowledge.RunProgress
	WorkflowID, FolderID string
	Since                time.Time
}

const runsUnderWay = `
SELECT workflow_id, folder_id, requested_at AS since FROM sync_runs WHERE status = 'running' AND kind = 'folder' ORDER BY requested_at`

// RunsUnderWay gives the folder syncs under way, oldest first.
func (s *Store) RunsUnderWay(ctx context.Context) ([]RunUnderWay, error) {
	running, err := list[RunUnderWay](ctx, s, "read the running syncs", runsUnderWay)
	if err != nil {
		return nil, err
	}
	for i := range running {
		if running[i].RunProgress, err = s.RunProgress(ctx, running[i].WorkflowID); err != nil {
			return nil, err
		}
	}
	return running, nil
}
