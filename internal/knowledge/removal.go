package knowledge

import "fmt"

// Removal is what is known when pages that the source no longer lists are about to be removed.
type Removal struct {
	// Live is the folder's live pages before this removal.
	Live int64
	// Listed is how many documents the listing saw.
	Listed int64
	// Recent is how many pages were removed for absence, without a person's approval, in the last 24 hours. Those that came back since
	// count too: a source that loses pages and gives them back is less to be believed, not more.
	Recent int64
	// Returned is how many of Recent came back.
	Returned int64
	// Planned is how many pages would go now.
	Planned int64
}

const (
	// A few removals are everyday life, whatever the size of the folder.
	freeRemovals = 5
	// One page in four within a day is more likely a broken source than an edit.
	removalShare = 4
	// Folders of this size that list nothing, or under a tenth, look emptied or collapsed.
	emptiedFrom   = 3
	collapsedFrom = 50
	collapseShare = 10
)

// HoldReason says why a planned removal must wait for a person; empty when it may go on.
func HoldReason(r Removal) string {
	known := r.Live
	switch {
	case r.Planned == 0:
		return ""
	case known >= emptiedFrom && r.Listed == 0:
		return fmt.Sprintf("the source lists nothing any more, where %d pages were live", known)
	case known >= collapsedFrom && r.Listed*collapseShare < known:
		return fmt.Sprintf("the source lists only %d pages, where %d were live", r.Listed, known)
	}
	if limit := max(freeRemovals, known/removalShare); r.Recent+r.Planned > limit {
		return fmt.Sprintf("%d pages would be removed within 24 hours, more than the %d that go without asking%s", r.Recent+r.Planned, limit,
			returnedWords(r.Returned))
	}
	return ""
}

// returnedWords say that what a person sees missing is less than what was counted.
func returnedWords(returned int64) string {
	switch returned {
	case 0:
		return ""
	case 1:
		return "; one of them came back since, which counts all the same"
	}
	return fmt.Sprintf("; %d of them came back since, which counts all the same", returned)
}
