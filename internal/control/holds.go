package control

import (
	"context"
	"errors"
	"fmt"

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
	if !storable(id) {
		return knowledge.Hold{}, UnknownHold(id)
	}
	hold, err := c.store.Hold(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return hold, UnknownHold(id)
	}
	return hold, err
}

// UnknownHold is what is said of a hold that isn't there. Entry points say the same of one that a caller may not know of.
func UnknownHold(id string) error {
	return notFound("hold_unknown", "there is no hold %q: `starter holds list` shows those there are", id)
}

// HoldDetail is a hold with what speaks against each of its pages.
type HoldDetail struct {
	knowledge.Hold
	Pages []HeldPage `json:"pages"`
}

// HeldPage is a page of a hold with the evidence that its source lost it.
type HeldPage struct {
	store.HeldPage
	// Evidence is the sentence for people.
	Evidence string `json:"evidence"`
}

// Hold gives one hold, decided or not. The pages of a decided one are those that are still there.
func (c *Control) Hold(ctx context.Context, id string) (HoldDetail, error) {
	hold, err := c.hold(ctx, id)
	if err != nil {
		return HoldDetail{}, err
	}
	pages, err := c.store.HeldPages(ctx, id)
	detail := HoldDetail{Hold: hold, Pages: make([]HeldPage, len(pages))}
	for i, page := range pages {
		detail.Pages[i] = HeldPage{HeldPage: page, Evidence: evidence(hold, page)}
	}
	return detail, err
}

func evidence(hold knowledge.Hold, page store.HeldPage) string {
	switch {
	case hold.State == holdApproved && hold.Kept != nil:
		return "it was left: when it was looked at once more its source had it, or couldn't tell"
	case hold.State == holdApproved:
		return "it is looked at once more"
	case page.UnseenSince == nil:
		return "its source said that it is gone"
	case page.RemovalRejected:
		return "kept by a person, though full syncs have not seen it since " + clock(*page.UnseenSince)
	}
	return fmt.Sprintf("%d full syncs in a row have not seen it, the first at %s", page.Strikes, clock(*page.UnseenSince))
}

// decide gives a hold its decision, or finds that it has the same one already, which is safe to carry out again.
func (c *Control) decide(ctx context.Context, id, decision string, actor Actor) (hold knowledge.Hold, already bool, err error) {
	if hold, err = c.hold(ctx, id); err != nil {
		return hold, false, err
	}
	if _, err := c.openFolder(ctx, hold.FolderID); err != nil {
		return hold, false, err
	}
	decided := false
	if hold.State == holdOpen {
		if decided, err = c.store.DecideHold(ctx, id, decision, who(actor)); err != nil {
			return hold, false, err
		}
		if hold, err = c.hold(ctx, id); err != nil {
			return hold, false, err
		}
	}
	if hold.State != decision {
		return hold, false, refuse("already_decided", "hold %q is %s already%s: `starter holds list` shows those that still wait",
			id, hold.State, decidedWords(hold))
	}
	return hold, !decided, nil
}

// decidedWords say by whom and when a hold was decided, as far as that is known.
func decidedWords(hold knowledge.Hold) string {
	if hold.DecidedAt == nil || hold.DecidedBy == "" {
		return ""
	}
	return ", by " + hold.DecidedBy + " at " + clock(*hold.DecidedAt)
}

// ofDecision fills in what was decided before, when it was.
func (a *Answer) ofDecision(hold knowledge.Hold, already bool) {
	a.FolderID, a.Status = hold.FolderID, hold.State
	if already {
		a.Joined, a.AcceptedAt, a.AcceptedBy = true, hold.DecidedAt, hold.DecidedBy
	}
	if a.Pages == nil {
		pages := int64(len(hold.Pages))
		a.Pages = &pages
	}
}

// ApproveHold lets the removal of a hold's pages go on. Each page is confirmed with its source once more before it goes.
func (c *Control) ApproveHold(ctx context.Context, id string, actor Actor) (Answer, error) {
	hold, already, err := c.decide(ctx, id, holdApproved, actor)
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
	answer.ofDecision(hold, already)
	return answer, nil
}

// RejectHold keeps the pages of a hold. Their removal isn't proposed again until the source has listed them once more.
func (c *Control) RejectHold(ctx context.Context, id string, actor Actor) (Answer, error) {
	hold, already, err := c.decide(ctx, id, holdRejected, actor)
	if err != nil {
		return Answer{}, err
	}
	if _, err := c.store.KeepHeldPages(ctx, id); err != nil {
		return Answer{}, err
	}
	answer := Answer{}
	answer.ofDecision(hold, already)
	return answer, nil
}
