package storm

import (
	"context"
	"fmt"
	"time"

	"github.com/loresync/loresync/internal/search"
)

const allPages = `
SELECT p.page_no, p.folder_id, p.page_id, p.source_id, p.published_read_seq AS read_seq,
       substring(r.markdown from 'version (\d+)')::int AS version
FROM pages p LEFT JOIN revisions r ON r.revision_id = p.published_revision_id`

// What readers see, with what should have kept them from it.
const allLive = `
SELECT p.page_no, l.folder_id, l.page_id, l.source_id, p.published_read_seq AS read_seq,
       substring(l.markdown from 'version (\d+)')::int AS version, x.exclusion,
       (SELECT e.created_at FROM exclusions e WHERE e.folder_id = l.folder_id AND e.source_id = x.exclusion) AS excluded_at
FROM live_pages l JOIN pages p USING (folder_id, page_id),
     LATERAL (SELECT covering_exclusion(p.folder_id, p.source_id, p.parent_source_id) AS exclusion) x`

// snapshotRules find what no snapshot may hold.
var snapshotRules = []string{
	`SELECT 'rule 3: a sync began after the delete of its page was accepted' AS rule, i.folder_id, i.page_id,
        format('read_seq %s, accepted_seq %s, delete %s, workflow %s', i.read_seq, d.accepted_seq, d.delete_id, i.workflow_id) AS detail
     FROM in_flight i JOIN deletes d ON d.folder_id = i.folder_id AND (d.page_id = i.page_id OR d.page_id IS NULL)
     WHERE d.restored_at IS NULL AND d.purged_at IS NULL AND i.read_seq > d.accepted_seq`,
	`SELECT 'rule 4: the accept of a delete did not ask the sync in flight to stop' AS rule, i.folder_id, i.page_id,
        format('read_seq %s, accepted_seq %s, delete %s', i.read_seq, d.accepted_seq, d.delete_id) AS detail
     FROM in_flight i JOIN deletes d ON d.folder_id = i.folder_id AND (d.page_id = i.page_id OR d.page_id IS NULL)
     WHERE d.restored_at IS NULL AND d.purged_at IS NULL AND NOT i.cancel_requested`,
	`SELECT 'rule 4: in flight after the end of the delete' AS rule, i.folder_id, i.page_id,
        format('delete %s finished at %s', d.delete_id, d.finished_at) AS detail
     FROM in_flight i JOIN deletes d ON d.folder_id = i.folder_id AND (d.page_id = i.page_id OR d.page_id IS NULL)
     WHERE d.restored_at IS NULL AND d.purged_at IS NULL AND d.finished_at IS NOT NULL`,
	`SELECT 'rule 4: staged after the end of the delete' AS rule, r.folder_id, r.page_id, format('delete %s finished at %s', d.delete_id, d.finished_at) AS detail
     FROM revisions r JOIN deletes d ON d.folder_id = r.folder_id AND (d.page_id = r.page_id OR d.page_id IS NULL)
     WHERE r.state = 'staged' AND d.restored_at IS NULL AND d.purged_at IS NULL AND d.finished_at IS NOT NULL`,
	`SELECT 'rule 4: a row is left after the purge' AS rule, p.folder_id, p.page_id, format('delete %s purged at %s', d.delete_id, d.purged_at) AS detail
     FROM pages p JOIN deletes d ON d.delete_id = p.delete_id WHERE d.purged_at IS NOT NULL`,
	`SELECT 'rule 4: a page of a purged folder is left' AS rule, p.folder_id, p.page_id, format('delete %s purged at %s', d.delete_id, d.purged_at) AS detail
     FROM pages p JOIN deletes d ON d.folder_id = p.folder_id AND d.page_id IS NULL WHERE d.purged_at > p.created_at`,
	`SELECT 'rule 4: an open delete hides nothing' AS rule, p.folder_id, p.page_id, format('delete %s', d.delete_id) AS detail
     FROM live_pages p JOIN deletes d ON d.folder_id = p.folder_id AND d.page_id = p.page_id WHERE d.restored_at IS NULL AND d.purged_at IS NULL`,
	`SELECT 'rule 3: a staged revision has no sync' AS rule, r.folder_id, r.page_id, 'token ' || r.token AS detail
     FROM revisions r WHERE r.state = 'staged'
       AND NOT EXISTS (SELECT 1 FROM in_flight i WHERE i.folder_id = r.folder_id AND i.page_id = r.page_id AND i.token = r.token)`,
	`SELECT 'rule 9: a page shows no revision, or not its published one' AS rule, p.folder_id, p.page_id, coalesce(r.state, 'none') AS detail
     FROM pages p LEFT JOIN revisions r ON r.revision_id = p.published_revision_id
     WHERE p.published_revision_id IS NOT NULL AND (r.state IS DISTINCT FROM 'published' OR r.page_id <> p.page_id OR r.folder_id <> p.folder_id)`,
}

// movedInGrace is how long a page that came below a deleted directory may be seen there: its move is applied, then it is
// hidden, by an activity that may die in between.
const movedInGrace = 45 * time.Second

// judge compares a look with the rules, with the ledger, and with what was seen before.
func (c *checker) judge(ctx context.Context, l look) {
	for _, b := range l.broken {
		c.storm.violate(ctx, violation{Rule: b.Rule, Folder: b.FolderID, ID: b.PageID, Detail: b.Detail})
	}
	for _, p := range l.pages {
		c.place(p, l.began)
		c.neverBack(ctx, p)
	}
	count := map[string]int{}
	for _, p := range l.live {
		count[p.FolderID]++
		c.hidden(ctx, p, l)
		c.excluded(ctx, p, l)
		c.neverBackAtPath(ctx, p)
	}
	for folder, n := range count {
		c.mostLive[folder] = max(c.mostLive[folder], n)
	}
	c.removals(ctx, l)
}

func (c *checker) place(p pageRow, seen time.Time) {
	if c.places[p.PageNo].sourceID != p.SourceID {
		c.places[p.PageNo] = placed{sourceID: p.SourceID, since: seen}
	}
}

// neverBack demands that the content of a page's row only gets newer.
func (c *checker) neverBack(ctx context.Context, p pageRow) {
	was := c.newest[p.PageNo]
	now := published{readSeq: p.ReadSeq, version: was.version}
	if p.Version != nil {
		now.version = *p.Version
	}
	if now.readSeq < was.readSeq || now.version < was.version {
		c.storm.violate(ctx, violation{
			Rule: "rule 3: older content was published over newer", Folder: p.FolderID, Page: p.SourceID, ID: p.PageID,
			Detail: fmt.Sprintf("version %d after %d, read_seq %d after %d", now.version, was.version, now.readSeq, was.readSeq),
		})
	}
	c.newest[p.PageNo] = published{readSeq: max(now.readSeq, was.readSeq), version: max(now.version, was.version)}
}

// neverBackAtPath demands the same of what readers find at a path, whichever row it is.
func (c *checker) neverBackAtPath(ctx context.Context, p liveRow) {
	key := p.FolderID + "/" + p.SourceID
	if p.Version == nil {
		return
	}
	if was := c.atPath[key]; *p.Version < was {
		c.storm.violate(ctx, violation{
			Rule: "rule 3: older content is seen at a path", Folder: p.FolderID, Page: p.SourceID, ID: p.PageID,
			Detail: fmt.Sprintf("version %d after %d", *p.Version, was),
		})
	}
	c.atPath[key] = max(c.atPath[key], *p.Version)
}

// hidden demands that nobody sees what the ledger says is deleted.
func (c *checker) hidden(ctx context.Context, p liveRow, l look) {
	if by, hidden := c.storm.ledger.surelyHidden(p.FolderID, p.PageNo, p.SourceID, l.began, l.ended); hidden {
		c.storm.violate(ctx, violation{
			Rule: "rule 4: a deleted page is seen", Folder: p.FolderID, Page: p.SourceID, ID: p.PageID, Detail: "it was deleted by: " + by.String(),
		})
	}
}

// excluded demands that no exclusion covers what is seen: not for a moment when the page was there at the delete, and not for
// long when it came below a deleted directory afterwards.
func (c *checker) excluded(ctx context.Context, p liveRow, l look) {
	if p.Exclusion == nil {
		return
	}
	since := c.places[p.PageNo].since
	cameLater := *p.Exclusion != p.SourceID && (p.ExcludedAt == nil || since.After(*p.ExcludedAt))
	if cameLater && l.began.Sub(since) < movedInGrace {
		return
	}
	c.storm.violate(ctx, violation{
		Rule: "rule 8: an excluded page is seen", Folder: p.FolderID, Page: p.SourceID, ID: p.PageID, Detail: "the exclusion is of " + *p.Exclusion,
	})
}

// searchHidden asks the search for the one word of a page that the ledger says is deleted.
func (c *checker) searchHidden(ctx context.Context, l look) {
	for i := range l.pages {
		p := l.pages[(int(c.looks.Load())+i)%len(l.pages)]
		if _, hidden := c.storm.ledger.surelyHidden(p.FolderID, p.PageNo, p.SourceID, l.began, l.ended); !hidden || p.Version == nil {
			continue
		}
		began := time.Now()
		hits, err := c.storm.search.Search(ctx, search.Query{Text: fmt.Sprintf("version %d", *p.Version), Folder: p.FolderID, Limit: search.MaxLimit})
		if err != nil {
			return
		}
		for _, hit := range hits {
			if by, hidden := c.storm.ledger.surelyHidden(p.FolderID, p.PageNo, p.SourceID, began, time.Now()); hidden && hit.PageID == p.PageID {
				c.storm.violate(ctx, violation{
					Rule: "rule 4: a deleted page is found", Folder: p.FolderID, Page: p.SourceID, ID: p.PageID, Detail: "it was deleted by: " + by.String(),
				})
			}
		}
		return
	}
}
