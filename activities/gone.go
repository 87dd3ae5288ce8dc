package activities

import (
	"context"
	"errors"

	"go.temporal.io/sdk/activity"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
)

// GoneTeller follows the source's word that a page is gone. control implements it.
type GoneTeller interface {
	// TellGone has it confirmed that a page is gone, and removed with what lies below it, under the guards of every removal. event
	// names what was seen; told twice, it is followed once.
	TellGone(ctx context.Context, connection, sourceID, event string) error
}

// read fetches a page. Of one that the source lost, and of one that hangs elsewhere than it did in a tree that only reading tells,
// the source is asked whether it is below the root: a page can be read wherever it is.
func (a *PageActivities) read(ctx context.Context, src source.Source, root source.Root, begun knowledge.Begun) (source.Page, error) {
	if begun.Lost {
		if err := outside(ctx, src, root, begun.SourceID); err != nil {
			return source.Page{}, err
		}
	}
	page, err := src.Fetch(ctx, root, begun.SourceID)
	moved := src.Traits().TreeByReading && begun.ContentHash != nil && !page.Entry.ParentUnknown && page.Entry.ParentSourceID != begun.Parent
	if err != nil || begun.Lost || !moved {
		return page, err
	}
	return page, outside(ctx, src, root, begun.SourceID)
}

// outside is the failure of a page that isn't below the root, by the source's own word.
func outside(ctx context.Context, src source.Source, root source.Root, sourceID string) error {
	presence, err := src.Presence(ctx, root, sourceID)
	switch {
	case err != nil:
		return err
	case presence == source.PresenceMoved, presence == source.PresenceTrashed:
		return &source.Failure{
			Class: source.ClassNotFound, Doing: "look where the page is", Sentence: "the page is no longer below the folder's root", Told: true,
		}
	case presence == source.PresenceGone:
		return &source.Failure{Class: source.ClassNotFound, Doing: "look where the page is", Sentence: "the source doesn't show the page"}
	}
	return nil
}

// failed decides what a read error means for the page: gone, skipped, another try, or a failure that is recorded.
func (a *PageActivities) failed(ctx context.Context, h knowledge.Holder, begun knowledge.Begun, result ReadPageResult, err error) (ReadPageResult, error) {
	var failure *source.Failure
	if !errors.As(err, &failure) || ctx.Err() != nil {
		return result, err
	}
	last := activity.GetInfo(ctx).Attempt >= maxReadAttempts
	switch {
	case failure.Class == source.ClassNotFound && (failure.Skip == nil || begun.ContentHash != nil):
		return a.notFound(ctx, h, begun, result, failure.Told)
	case failure.Skip != nil && (failure.Class == source.ClassInvalid || failure.Class == source.ClassNotFound):
		return a.end(ctx, h, result, knowledge.OutcomeSkipped, failure.Skip.Class, failure.Skip.Sentence, begun.SourceVersion)
	case failure.Class == source.ClassRateLimited, failure.Class == source.ClassUnavailable && !last:
		return result, err
	}
	return a.end(ctx, h, result, knowledge.OutcomeFailed, string(failure.Class), failure.Sentence, begun.SourceVersion)
}

// notFound closes the attempt, and has a page removed that the source itself says is gone, as a webhook or a listing would. It tells
// first: a worker that dies in between leaves its attempt open, and the next one tells again.
func (a *PageActivities) notFound(ctx context.Context, h knowledge.Holder, begun knowledge.Begun, result ReadPageResult, told bool) (ReadPageResult, error) {
	if told && !begun.Lost && begun.ContentHash != nil && a.Gone != nil {
		if err := a.Gone.TellGone(ctx, begun.Connection, begun.SourceID, "read-"+h.Token); err != nil {
			// The listings find it too.
			activity.GetLogger(ctx).Warn("that a page is gone could not be followed; the next full syncs find it", "error", err)
		}
	}
	return a.end(ctx, h, result, knowledge.OutcomeNotFound, "", "", "")
}
