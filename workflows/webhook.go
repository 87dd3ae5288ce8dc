package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/knowledge"
)

// FollowWebhookInput is a webhook event: ids and kinds, no content.
type FollowWebhookInput struct {
	Connection string
	// EventID and Type are the source's own words, for people who look at the run.
	EventID        string
	Type           string
	Kind           knowledge.NoticeKind
	SourceID       string
	ParentSourceID string
}

// FollowWebhookResult counts what the event led to.
type FollowWebhookResult struct {
	// Pages and FolderSyncs were asked for; Removed and Held pages are gone by the source's own word.
	Pages, FolderSyncs, Removed, Held int
	// Ignored counts folders that had nothing to do.
	Ignored int
	// Left counts folders that were still waiting at the end: the next sync of theirs looks again.
	Left int
	// Looks is how often the folders were looked at.
	Looks int
}

var webhookActs *activities.WebhookActivities

const (
	// The looks of an event grow from a second to a minute apart, and end after about a quarter of an hour. A page that takes
	// longer to be read is left to the syncs.
	webhookLooks   = 20
	longestWebhook = time.Minute
)

// FollowWebhookWorkflow follows one webhook event of a source.
//
//   - When it ends, each active folder of the connection has been asked to read what the event points to, or has removed what
//     the source confirmed to be gone, or has it held; or the next sync of the folder looks. Of an event about a change log, each
//     folder that needs the log has a listing that began after all calls of the event.
//   - Its ID is connection/{connection}/webhook/{eventId}. control starts it, once for an event however often it is delivered.
//   - No signals, queries or updates; nothing is carried over, since its looks are bounded.
//   - A cancel ends it between two looks; what was asked for goes on.
//   - It lives with pages that are busy, and with notices that say what isn't so. It fails when a source can't be asked for a
//     day, or refuses the credentials.
func FollowWebhookWorkflow(ctx workflow.Context, in FollowWebhookInput) (FollowWebhookResult, error) {
	var result FollowWebhookResult
	next := activities.FollowNoticeInput{Connection: in.Connection, Kind: in.Kind, SourceID: in.SourceID, ParentSourceID: in.ParentSourceID}
	for {
		look, err := run(scan(ctx), webhookActs.FollowNotice, next)
		if err != nil {
			return result, err
		}
		result.add(look)
		if len(look.Waiting) == 0 || result.Looks == webhookLooks {
			return result, nil
		}
		if err := workflow.Sleep(ctx, webhookDelay(next.Pass)); err != nil {
			return result, err
		}
		next.Pass, next.Folders, next.Since = next.Pass+1, look.Waiting, look.Since
	}
}

func (r *FollowWebhookResult) add(look activities.FollowNoticeResult) {
	r.Pages += look.Pages
	r.FolderSyncs += look.FolderSyncs
	r.Removed += look.Removed
	r.Held += look.Held
	r.Ignored += look.Ignored
	r.Left = len(look.Waiting)
	r.Looks++
}

// webhookDelay is how long to wait after a look: doubling from a second.
func webhookDelay(pass int) time.Duration {
	return min(time.Second<<min(pass, 10), longestWebhook)
}
