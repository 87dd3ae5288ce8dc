package storm

import (
	"context"
	"fmt"
	"time"
)

// eventRow is a page that was removed because the source lost it, and what the removal rested on.
type eventRow struct {
	EventID  int64
	At       time.Time
	FolderID string
	PageID   string
	SourceID *string
	Approved bool
	// Listings are the whole listings that ended in the minutes before, latest first; KnownSince is when the folder was added.
	Listings   []time.Time
	KnownSince *time.Time
}

const newEvents = `
SELECT v.event_id, v.at, v.folder_id, v.page_id, p.source_id, coalesce((v.data ->> 'approved')::boolean, false) AS approved,
       f.created_at AS known_since,
       ARRAY(SELECT l.completed_at FROM listings l WHERE l.folder_id = v.folder_id AND l.verdict = 'complete' AND l.full_listing AND NOT l.dry_run
             AND l.completed_at <= v.at ORDER BY l.completed_at DESC LIMIT 20) AS listings
FROM sync_events v LEFT JOIN folders f ON f.folder_id = v.folder_id LEFT JOIN pages p ON p.folder_id = v.folder_id AND p.page_id = v.page_id
WHERE v.kind = 'removed' AND v.event_id > $1 ORDER BY v.event_id`

const (
	// removalsFree and removalsShare are the guard: more than both of them need a person.
	removalsFree  = 5
	removalsShare = 4
	// confirmedWithin is how long before a removal its page was confirmed gone, at the most: a worker may stop in between.
	confirmedWithin = 40 * time.Second
)

// removals judges the removals for absence that are new.
func (c *checker) removals(ctx context.Context, l look) {
	for _, e := range l.events {
		c.lastEvent = max(c.lastEvent, e.EventID)
		if e.SourceID == nil || e.KnownSince == nil {
			continue // purged already
		}
		c.wasAbsent(ctx, e)
		if e.Approved {
			continue
		}
		c.hadTwoListings(ctx, e)
		c.withinTheGuard(ctx, e)
	}
}

// wasAbsent demands that the file was really gone at a moment before its page was removed.
func (c *checker) wasAbsent(ctx context.Context, e eventRow) {
	gap, found := c.storm.disk.absentBefore(e.FolderID, *e.SourceID, e.At)
	if found && (gap.until.IsZero() || e.At.Sub(gap.until) < confirmedWithin) {
		return
	}
	c.storm.violate(ctx, violation{
		Rule: "rule 7: a page was removed whose file is there", Folder: e.FolderID, Page: *e.SourceID, ID: e.PageID,
		Detail: fmt.Sprintf("removed at %s, last gone from %s to %s", timeOfDay(e.At), timeOfDay(gap.from), timeOfDay(gap.until)),
	})
}

// hadTwoListings demands two whole listings that could have missed the file: they ended after it had gone.
func (c *checker) hadTwoListings(ctx context.Context, e eventRow) {
	gap, found := c.storm.disk.absentBefore(e.FolderID, *e.SourceID, e.At)
	missed := 0
	for _, ended := range e.Listings {
		if found && ended.After(gap.from) {
			missed++
		}
	}
	if missed >= 2 || !found {
		return
	}
	c.storm.violate(ctx, violation{
		Rule: "rule 7: a page was removed without two whole listings", Folder: e.FolderID, Page: *e.SourceID, ID: e.PageID,
		Detail: fmt.Sprintf("removed at %s, gone since %s, %d listings between", timeOfDay(e.At), timeOfDay(gap.from), missed),
	})
}

// withinTheGuard demands that no more pages went without a person's word than the guard lets go within a day.
func (c *checker) withinTheGuard(ctx context.Context, e eventRow) {
	key := e.FolderID + e.KnownSince.String()
	c.removed[key]++
	if n := c.removed[key]; n > max(removalsFree, (c.mostLive[e.FolderID]+n)/removalsShare) {
		c.storm.violate(ctx, violation{
			Rule: "rule 7: more pages were removed than go without asking", Folder: e.FolderID,
			Detail: fmt.Sprintf("%d removals, at most %d pages were live", n, c.mostLive[e.FolderID]),
		})
	}
}

func timeOfDay(at time.Time) string { return at.Local().Format("15:04:05.000") }
