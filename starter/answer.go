package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/starter/internal/out"
	"github.com/loresync/loresync/starter/internal/progress"
)

// endOf tells whether an answer is a success: failed, partial and cancelled aren't, nor what Begin refused.
func endOf(answer control.Answer) error {
	code := exitFailed
	switch answer.Status {
	case string(knowledge.RunFailed), string(knowledge.RunPartial), string(knowledge.RunCancelled):
	case string(knowledge.RunRefused):
		code = exitRefused
	default:
		return nil
	}
	sentence := subject(answer) + " ended as " + answer.Status
	if answer.Reason != "" {
		sentence += ": " + answer.Reason
	}
	return &endedError{code: code, sentence: sentence}
}

// subject names what an answer is about.
func subject(answer control.Answer) string {
	switch {
	case answer.PageID != "":
		return "page " + answer.PageID + " of " + answer.FolderID
	case answer.FolderID != "":
		return "the sync of " + answer.FolderID
	}
	return "it"
}

// waiting is something that was accepted and is now waited for.
type waiting struct {
	// what names it in the progress line.
	what string
	// goesOn says what happens when nobody waits any more, and how to stop or undo it.
	goesOn string
	wait   func(ctx context.Context, answer control.Answer, progress func(knowledge.RunProgress)) (control.Answer, error)
}

// await waits and shows the progress. When the waiting fails, the answer so far is what a program still has to learn (it was
// accepted), so it is printed before the error.
func (a *app) await(ctx context.Context, accepted control.Answer, w waiting) (control.Answer, error) {
	a.warn(accepted.Warnings) // before the wait, which may be long for the very reason
	bar := progress.Start(a.Messages(), a.Terminals, w.what)
	ended, err := w.wait(ctx, accepted, bar.Update)
	bar.Stop()
	if err == nil {
		return ended, nil
	}
	if showErr := a.show(accepted, func() {}); showErr != nil {
		return accepted, showErr
	}
	if ctx.Err() != nil {
		return accepted, &endedError{code: exitFailed, sentence: "stopped waiting: " + w.goesOn}
	}
	return accepted, err
}

// countsLine is what a sync did, in one sentence.
func (a *app) countsLine(c knowledge.Counts) string {
	parts := []string{}
	add := func(n int64, word string, colors ...text.Color) {
		if n > 0 {
			parts = append(parts, a.Paint(out.Number(n)+" "+word, colors...))
		}
	}
	add(c.New, "new", text.FgGreen)
	add(c.Changed, "changed", text.FgGreen)
	add(c.Unchanged, "unchanged")
	add(c.Skipped, "skipped", text.FgYellow)
	add(c.Excluded, "excluded")
	add(c.Failed, "failed", text.FgRed)
	line := out.Plural(c.Listed, "page") + " listed"
	if len(parts) > 0 {
		line += ": " + out.Listing(parts)
	}
	parts = parts[:0]
	add(c.Moved, "moved")
	add(c.Removed, "removed")
	add(c.Held, "held for a person", text.FgYellow)
	add(c.Revived, "revived", text.FgGreen)
	if len(parts) > 0 {
		line += "; besides " + out.Listing(parts)
	}
	return line
}

// paintStatus colours a status or state by what it asks of a person.
func paintStatus(status string) out.Cell {
	colors := map[string]text.Color{
		"running": text.FgCyan, "completed": text.FgGreen, "live": text.FgGreen, "active": text.FgGreen, "ok": text.FgGreen,
		"partial": text.FgYellow, "skipped": text.FgYellow, "paused": text.FgYellow, "held": text.FgYellow, "open": text.FgYellow,
		"pending": text.FgCyan, "not_configured": text.FgYellow, "failed": text.FgRed, "refused": text.FgRed, "down": text.FgRed,
		"failing": text.FgRed, "expired": text.FgRed, "deleted": text.FgRed, "purging": text.FgRed,
	}
	color, known := colors[status]
	if !known {
		color = text.Faint
	}
	return out.Cell{Text: status, Colors: []text.Color{color}}
}

// named quotes a reference for a command line in a hint, if it needs it.
func named(ref string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@", r)
	}
	if ref != "" && strings.IndexFunc(ref, func(r rune) bool { return !plain(r) }) < 0 {
		return ref
	}
	return fmt.Sprintf("'%s'", strings.ReplaceAll(ref, "'", `'\''`))
}
