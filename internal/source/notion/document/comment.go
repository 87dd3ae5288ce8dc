package document

import (
	"encoding/json"
	"fmt"
	"time"
)

// Comment is one comment on a page or on a block of it. Notion lists those that aren't resolved.
type Comment struct {
	ID string
	// DiscussionID is shared by a comment and its answers.
	DiscussionID string
	// Author is a name, or "user" and an id where the integration may not see names.
	Author string
	// CreatedAt is cut to the minute by Notion; zero when it can't be read.
	CreatedAt time.Time
	// Text is rich text, not decoded.
	Text json.RawMessage
}

// DecodeComment reads one comment. It errs when raw is not a JSON object.
func DecodeComment(raw json.RawMessage) (Comment, error) {
	f, err := decodeFields(raw)
	if err != nil {
		return Comment{}, fmt.Errorf("read a comment: %w", err)
	}
	c := Comment{
		ID:           f.text("id"),
		DiscussionID: f.text("discussion_id"),
		CreatedAt:    decodeTime(f["created_time"]),
		Text:         f["rich_text"],
	}
	if shown, err := decodeFields(f["display_name"]); err == nil {
		c.Author = shown.text("resolved_name")
	}
	if c.Author == "" {
		c.Author = userText(f["created_by"])
	}
	return c, nil
}

// comments writes the comments as a section at the end; an answer stands below what it answers.
func (r *renderer) comments() {
	if len(r.doc.Comments) == 0 {
		return
	}
	r.w.block("## Comments")
	r.w.gap(false)
	seen := map[string]bool{}
	for _, c := range inDiscussions(r.doc.Comments) {
		answer := c.DiscussionID != "" && seen[c.DiscussionID]
		seen[c.DiscussionID] = true
		r.comment(c, answer)
	}
}

// inDiscussions keeps the order of discussions and of the comments in each, and brings together what belongs together.
func inDiscussions(comments []Comment) []Comment {
	out := make([]Comment, 0, len(comments))
	done := map[string]bool{}
	for i, c := range comments {
		if done[c.DiscussionID] {
			continue
		}
		out = append(out, c)
		if c.DiscussionID == "" {
			continue
		}
		done[c.DiscussionID] = true
		for _, other := range comments[i+1:] {
			if other.DiscussionID == c.DiscussionID {
				out = append(out, other)
			}
		}
	}
	return out
}

func (r *renderer) comment(c Comment, answer bool) {
	var runs []textRun
	if !decodeInto(c.Text, &runs) {
		r.report.Unreadable++
		r.note("a comment has parts of an unknown shape")
	}
	head := "**" + escapeText(firstOf(c.Author, "Somebody"), flowLine) + "**"
	if !c.CreatedAt.IsZero() {
		head += " (" + c.CreatedAt.UTC().Format("2006-01-02 15:04") + " UTC)"
	}
	const marker, indent = "- ", "  "
	if answer {
		r.w.push(indent, indent)
	}
	r.w.push(marker, indent)
	r.hit()
	r.w.lines(head + ": " + r.inline(runs, flowParagraph, 0))
	r.w.pop(indent)
	if answer {
		r.w.pop(indent)
	}
}
