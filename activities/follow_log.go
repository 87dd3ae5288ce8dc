package activities

import (
	"context"
	"slices"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/loresync/loresync/internal/knowledge"
)

const (
	// betweenLogSyncs lies at least between two listings of a folder that calls have asked for.
	betweenLogSyncs = 5 * time.Second
	// patientPasses is how many looks wait for a listing under way to end before another one begins beside it: a minute.
	patientPasses = 6
)

// followLog has the folders that need a change log synced once, incrementally, after all calls that met at this event.
//
// No call is lost. The calls of an event came within one window, so each of them before a whole window after the first look
// (Since). A folder counts as done only when a listing of it began later than that, or when one is asked for: then either a new
// run begins to list, or it joins the one that waits to, which will. A listing that runs may have passed what the call was about,
// so it counts for nothing; one more follows when it is done.
func (a *WebhookActivities) followLog(ctx context.Context, in FollowNoticeInput) (FollowNoticeResult, error) {
	result := FollowNoticeResult{Since: in.Since}
	targets, err := a.Store.LogTargets(ctx, in.Connection, in.Folders, in.Since, betweenLogSyncs)
	if err != nil {
		return result, err
	}
	for i, target := range targets {
		activity.RecordHeartbeat(ctx, i)
		if result.Since == nil {
			since := target.At.Add(knowledge.LogWindow)
			result.Since = &since
		}
		watcher, err := a.Watches.watcher(ctx, target.Source, target.Connection)
		if err != nil {
			return result, err
		}
		if watcher == nil || !slices.Contains(watcher.Logs(target.Checkpoint), in.SourceID) {
			result.Ignored++
			continue
		}
		if err := a.askForLog(ctx, in, target, &result); err != nil {
			return result, err
		}
	}
	return result, nil
}

// askForLog asks for a folder's sync when the time for it has come.
func (a *WebhookActivities) askForLog(ctx context.Context, in FollowNoticeInput, target knowledge.LogTarget, result *FollowNoticeResult) error {
	gathering := in.Since == nil || target.At.Before(*in.Since)
	switch {
	case !gathering && target.Listed:
		return nil
	case gathering, target.Asked, target.Listing && in.Pass < patientPasses:
		result.Waiting = append(result.Waiting, target.FolderID)
		return nil
	}
	result.FolderSyncs++
	_, err := a.Asker.RequestFolderSync(ctx, target.FolderID, knowledge.ModeIncremental, "webhook")
	return err
}
