package control

import (
	"context"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

// healthPatience is how long the status waits for Temporal before it says that it can't be reached.
const healthPatience = time.Second

// StatusInfo is the state of a deployment at a glance.
type StatusInfo struct {
	Version  string `json:"version"`
	Database string `json:"database"`
	// Temporal says in words whether it can be reached; the status itself needs only Postgres.
	Temporal   string `json:"temporal"`
	TemporalOK bool   `json:"temporal_ok"`
	// VectorStore is how vectors are searched: exact, over all of them.
	VectorStore string `json:"vector_store"`
	// EmbeddingModel made the newest embeddings in use; empty before the first.
	EmbeddingModel string `json:"embedding_model"`
	// Maintenance stops all starts.
	Maintenance bool           `json:"maintenance"`
	Folders     []FolderStatus `json:"folders"`
	// PausedConnections keep their folders from syncing, each with its reason and since when.
	PausedConnections []Connection `json:"paused_connections"`
	// Holds wait for a person; UnfinishedDeletes were accepted and their workflow hasn't ended; DueReads' time has come.
	Holds             int64           `json:"holds"`
	UnfinishedDeletes int64           `json:"unfinished_deletes"`
	InFlight          int64           `json:"in_flight"`
	DueReads          int64           `json:"due_reads"`
	Retention         store.Retention `json:"retention"`
}

// FolderStatus is a folder with the sync that runs for it.
type FolderStatus struct {
	knowledge.Folder
	Running *RunningRun `json:"running"`
}

// RunningRun is how far a running folder sync has come.
type RunningRun struct {
	WorkflowID string `json:"workflow_id"`
	// Phase is waiting, listing, syncing or reconciling.
	Phase string `json:"phase"`
	// Listed counts what the source returned; Done and Failed, of Total, the pages that have to be read.
	Listed int64     `json:"listed"`
	Done   int64     `json:"done"`
	Failed int64     `json:"failed"`
	Total  int64     `json:"total"`
	Since  time.Time `json:"since"`
}

// Status reads the state of the deployment.
func (c *Control) Status(ctx context.Context) (StatusInfo, error) {
	overview, err := c.store.Overview(ctx)
	if err != nil {
		return StatusInfo{}, err
	}
	info := StatusInfo{
		Version: BuiltFrom().Version, Database: overview.Database, VectorStore: "exact", EmbeddingModel: overview.EmbeddingModel,
		Maintenance: overview.Maintenance, Holds: overview.OpenHolds, UnfinishedDeletes: overview.UnfinishedDeletes,
		InFlight: overview.InFlight, DueReads: overview.DueReads, Retention: store.KeptByDefault,
	}
	info.Retention.UndoDays = int(c.options.UndoWindow / (24 * time.Hour))
	info.Temporal, info.TemporalOK = c.temporalHealth(ctx)
	if info.PausedConnections, err = c.pausedConnections(ctx); err != nil {
		return info, err
	}
	info.Folders, err = c.folderStatus(ctx)
	return info, err
}

func (c *Control) pausedConnections(ctx context.Context) ([]Connection, error) {
	rows, err := c.store.Connections(ctx)
	paused := []Connection{}
	for _, row := range rows {
		if row.PausedAt != nil {
			paused = append(paused, connectionOf(row))
		}
	}
	return paused, err
}

func (c *Control) folderStatus(ctx context.Context) ([]FolderStatus, error) {
	folders, err := c.Folders(ctx)
	if err != nil {
		return nil, err
	}
	running, err := c.store.RunsUnderWay(ctx)
	if err != nil {
		return nil, err
	}
	// Of several runs of one folder the oldest is ahead of the others, so it is the one to show.
	oldest := map[string]*RunningRun{}
	for _, run := range running {
		if oldest[run.FolderID] == nil {
			oldest[run.FolderID] = &RunningRun{
				WorkflowID: run.WorkflowID, Phase: run.Phase, Listed: run.Listed, Done: run.Done, Failed: run.Failed, Total: run.Total, Since: run.Since,
			}
		}
	}
	status := make([]FolderStatus, len(folders))
	for i, folder := range folders {
		status[i] = FolderStatus{Folder: folder, Running: oldest[folder.ID]}
	}
	return status, nil
}

func (c *Control) temporalHealth(ctx context.Context) (string, bool) {
	if c.temporal == nil {
		return "not used by this process", false
	}
	ctx, cancel := context.WithTimeout(ctx, healthPatience)
	defer cancel()
	if _, err := c.temporal.CheckHealth(ctx, &client.CheckHealthRequest{}); err != nil {
		return "not reachable: start it, or check TEMPORAL_ADDRESS", false
	}
	return "reachable, namespace " + c.options.Namespace, true
}
