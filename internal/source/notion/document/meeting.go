package document

import (
	"encoding/json"
	"strings"
)

// meeting writes the notes of a meeting: its title and time, then summary, notes and transcript under their names.
func (r *renderer) meeting(b *Block, p *payload) {
	var title []textRun
	decodeInto(p.Title, &title)
	label := r.inline(title, flowLine, bold)
	if label == "" {
		label = "**Meeting notes**"
	}
	if when := rangeText(p.CalendarEvent.StartTime, p.CalendarEvent.EndTime, ""); when != "" {
		label += " (" + escapeText(when, flowLine) + ")"
	}
	r.hit()
	r.w.block(guardLine(label))
	if names := people(p.CalendarEvent.Attendees); len(names) > 0 {
		r.w.block("Attendees: " + escapeText(strings.Join(names, ", "), flowLine))
	}
	r.meetingParts(b, p.Children)
}

// meetingParts puts a name before each part that the payload points to by its id.
func (r *renderer) meetingParts(b *Block, ids json.RawMessage) {
	parts, err := decodeFields(ids)
	if err != nil {
		r.children(b, false)
		return
	}
	names := map[string]string{
		parts.text("summary_block_id"): "**Summary**", parts.text("notes_block_id"): "**Notes**",
		parts.text("transcript_block_id"): "**Transcript**",
	}
	delete(names, "")
	for _, child := range b.Children {
		if child != nil && names[child.ID] != "" {
			r.w.block(names[child.ID])
		}
		r.blocks([]*Block{child}, false)
	}
	r.children(&Block{HasChildren: b.HasChildren, Children: emptied(b.Children), Missing: b.Missing}, false)
}
