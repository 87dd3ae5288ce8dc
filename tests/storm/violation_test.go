package storm

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// violation is something that a rule forbids, with what was known of the page when it was seen.
type violation struct {
	// Rule says in words what was broken.
	Rule             string
	Folder, Page, ID string
	Detail           string
	// Step is the last step that had been carried out; At is when it was seen.
	Step    int
	At      time.Time
	Context []string
}

// String is a violation as a person reads it.
func (v violation) String() string {
	where := strings.TrimSpace(v.Folder + " " + v.Page + " " + v.ID)
	lines := append([]string{fmt.Sprintf("after step %d, at %s: %s (%s): %s", v.Step, v.At.Format("15:04:05.000"), v.Rule, where, v.Detail)}, v.Context...)
	return strings.Join(lines, "\n        ")
}

// violations collects what was found; the same thing about the same page counts once.
type violations struct {
	mu    sync.Mutex
	seen  map[string]bool
	found []violation
}

// add notes a violation unless it is known already.
func (c *violations) add(v violation) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := v.Rule + "\x00" + v.Folder + "\x00" + v.Page + "\x00" + v.ID
	if c.seen[key] {
		return false
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[key] = true
	c.found = append(c.found, v)
	return true
}

// explain adds what is known of the page to the violation that was noted last about it.
func (c *violations) explain(v violation, known []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, f := range c.found {
		if f.Rule == v.Rule && f.Folder == v.Folder && f.Page == v.Page && f.ID == v.ID {
			c.found[i].Context = known
		}
	}
}

func (c *violations) list() []violation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.found
}

// violate notes a violation with all that is known of its page.
func (s *storm) violate(ctx context.Context, v violation) {
	s.mu.Lock()
	v.Step, v.At = s.number, time.Now()
	s.mu.Unlock()
	if s.found.add(v) && v.Folder != "" {
		s.found.explain(v, s.known(ctx, v))
	}
}

// facts are the rows that tell a page's story.
var facts = []struct{ what, query string }{
	{"page", `SELECT to_jsonb(p) - 'fingerprint' FROM pages p WHERE folder_id = $1 AND (source_id = $2 OR page_id = $3)`},
	{"folder", `SELECT to_jsonb(f) FROM folders f WHERE folder_id = $1 AND $2::text || $3::text IS NOT NULL`},
	{"exclusion", `SELECT to_jsonb(e) - 'fingerprint' FROM exclusions e WHERE folder_id = $1
		AND (source_id = $2 OR page_id = $3 OR starts_with($2, source_id || '/'))`},
	{"delete", `SELECT to_jsonb(d) FROM deletes d WHERE folder_id = $1
		AND (source_id = $2 OR page_id = $3 OR page_id IS NULL OR starts_with($2, source_id || '/')) ORDER BY delete_id`},
	{"in flight", `SELECT to_jsonb(i) FROM in_flight i WHERE folder_id = $1 AND $2::text IS NOT NULL AND page_id = $3`},
	{"failure", `SELECT to_jsonb(x) FROM page_failures x WHERE folder_id = $1 AND $2::text IS NOT NULL AND page_id = $3`},
	{"hold", `SELECT to_jsonb(h) FROM holds h JOIN hold_pages p USING (hold_id) WHERE p.folder_id = $1 AND $2::text IS NOT NULL AND p.page_id = $3`},
	{"revision", `SELECT jsonb_build_object('revision_id', revision_id, 'state', state, 'read_seq', read_seq, 'published_at', published_at,
		'version', substring(markdown from 'version \d+')) FROM revisions WHERE folder_id = $1 AND $2::text IS NOT NULL AND page_id = $3 ORDER BY revision_id`},
	{"event", `SELECT jsonb_build_object('at', at, 'kind', kind, 'data', data) FROM sync_events
		WHERE folder_id = $1 AND $2::text IS NOT NULL AND (page_id = $3 OR page_id IS NULL)
		ORDER BY event_id`},
	{"listing", `SELECT jsonb_build_object('listing_id', l.listing_id, 'began_at', l.began_at, 'began_seq', l.began_seq, 'completed_at', l.completed_at,
		'verdict', l.verdict, 'applied_at', l.applied_at, 'status', s.status, 'reason', s.reason,
		'entry', (SELECT to_jsonb(e) FROM listing_entries e WHERE e.listing_id = l.listing_id AND e.source_id = $2))
		FROM listings l JOIN sync_runs s USING (workflow_id) WHERE l.folder_id = $1 AND $3::text IS NOT NULL ORDER BY l.listing_id DESC LIMIT 8`},
}

// known gathers what the database and the ledger have about a page.
func (s *storm) known(ctx context.Context, v violation) []string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	var lines []string
	for _, fact := range facts {
		rows, err := s.checker.pool.Query(ctx, fact.query, v.Folder, v.Page, v.ID)
		if err != nil {
			return append(lines, fact.what+": "+err.Error())
		}
		for rows.Next() {
			var row string
			if rows.Scan(&row) == nil {
				lines = append(lines, fact.what+" "+row)
			}
		}
		rows.Close()
	}
	return append(lines, s.ledger.about(v.Folder, v.Page, v.ID)...)
}
