package control

import (
	"context"
	"errors"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

// The states of a hold that decisions lead to or look at.
const (
	holdOpen     = "open"
	holdApproved = "approved"
	holdRejected = "rejected"
)

// Holds gives the planned removals that wait for a person, or with all also those that were decided.
func (c *Control) Holds(ctx context.Context, all bool) ([]knowledge.Hold, error) {
	return c.store.Holds(ctx, all)
}

func (c *Control) hold(ctx context.Context, id string) (knowledge.Hold, error) {
	unknown := notFound("hold_unknown", "there is no hold %q: `starter holds list` shows those there are", id)
	if !storable(id) {
		return knowledge.Hold{}, unknown
	}
	hold, err := c.store.Hold(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return hold, unknown
	}
	return hold, err
}

// decide gives a hold its decision, or finds that it has the same one already, which is safe to carry out again.
func (c *Control) decide(ctx context.Context, id, decision string, actor Actor) (knowledge.Hold, error) {
	hold, err := c.hold(ctx, id)
	if err != nil {
		return hold, err
	}
	if _, err := c.openFolder(ctx, hold.FolderID); err != nil {
		return hold, err
	}
	if hold.State == holdOpen {
		if _, err := c.store.DecideHold(ctx, id, decision, who(actor)); err != nil {
			return hold, err
		}
		if hold, err = c.hold(ctx, id); err != nil {
			return hold, err
		}
	}
	if hold.State != decision {
		return hold, refuse("already_decided", "hold %q is %s already: `starter holds list` shows those that still wait", id, hold.State)
	}
	return hold, nil
}

// ApproveHold lets the removal of a hold's pages go on. Each page is confirmed with its source once more before it goes.
func (c *Control) ApproveHold(ctx context.Context, id string, actor Actor) (Answer, error) {
	hold, err := c.decide(ctx, id, holdApproved, actor)
	if err != nil {
		return Answer{}, err
	}
	answer, err := c.startHold(ctx, hold.FolderID, id, who(actor))
	if err != nil && KindOf(err) == KindUnreachable {
		return Answer{}, &Error{
			Kind: KindUnreachable, Code: "temporal_unreachable", Err: err,
			Sentence: "the hold is approved, but Temporal can't be reached to carry it out: run `starter holds approve " + id + "` again once it is back",
		}
	}
	if err != nil {
		return Answer{}, err
	}
	pages := int64(len(hold.Pages))
	answer.FolderID, answer.Status = hold.FolderID, holdApproved
	if answer.Pages == nil {
		answer.Pages = &pages
	}
	return answer, nil
}

// RejectHold keeps the pages of a hold. Their removal isn't proposed again until the source has listed them once more.
func (c *Control) RejectHold(ctx context.Context, id string, actor Actor) (Answer, error) {
	hold, err := c.decide(ctx, id, holdRejected, actor)
	if err != nil {
		return Answer{}, err
	}
	if _, err := c.store.KeepHeldPages(ctx, id); err != nil {
		return Answer{}, err
	}
	pages := int64(len(hold.Pages))
	return Answer{FolderID: hold.FolderID, Status: holdRejected, Pages: &pages}, nil
}
