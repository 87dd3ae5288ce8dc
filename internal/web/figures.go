package web

import (
	"context"
	"time"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/telemetry"
)

// shortestOverdue keeps folders with a short interval from counting as overdue while one long sync runs.
const shortestOverdue = 2 * time.Hour

// deployment gives the status as figures.
func (s *server) deployment(ctx context.Context) (telemetry.Deployment, error) {
	status, err := s.options.Status.Status(ctx)
	if err != nil {
		return telemetry.Deployment{}, err
	}
	return deploymentOf(status, s.options.Now()), nil
}

func deploymentOf(status control.StatusInfo, now time.Time) telemetry.Deployment {
	total := sum(status.Folders)
	figures := telemetry.Deployment{
		Folders: map[string]int64{"active": 0, "paused": 0, "deleted": 0},
		Pages: map[string]int64{
			"live": total.Live, "pending": total.Pending, "skipped": total.Skipped, "excluded": total.Excluded,
			"tombstoned": total.Tombstoned, "failed": total.Failed, "held": total.Held, "syncing": total.Syncing,
		},
		InFlight: status.InFlight, Holds: status.Holds, Deletes: status.UnfinishedDeletes, DueReads: status.DueReads,
		Maintenance: status.Maintenance, TemporalUp: status.TemporalOK,
	}
	for _, folder := range status.Folders {
		figures.Folders[folder.State]++
		if folder.Running != nil {
			figures.Syncing++
		}
		if isOverdue(folder.Folder, now) {
			figures.Overdue++
		}
	}
	return figures
}

func sum(folders []control.FolderStatus) knowledge.PageCounts {
	var total knowledge.PageCounts
	for _, folder := range folders {
		p := folder.Pages
		total.Live += p.Live
		total.Pending += p.Pending
		total.Skipped += p.Skipped
		total.Excluded += p.Excluded
		total.Tombstoned += p.Tombstoned
		total.Failed += p.Failed
		total.Held += p.Held
		total.Syncing += p.Syncing
	}
	return total
}

// isOverdue tells whether an active folder's last sync, or its registration, is too long ago.
func isOverdue(folder knowledge.Folder, now time.Time) bool {
	last := folder.CreatedAt
	if folder.LastSyncAt != nil {
		last = *folder.LastSyncAt
	}
	return folder.State == "active" && now.Sub(last) > max(2*folder.SyncInterval, shortestOverdue)
}
