package main

import (
	"time"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/starter/internal/out"
)

// list makes an absent list an empty one: the answer of a list command is always an array.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

func (a *app) deletesTable(deletes []knowledge.Delete) {
	if len(deletes) == 0 {
		a.Hint("nothing is deleted that could be undone")
		return
	}
	table := out.NewTable("FOLDER", "PAGE~", "PAGES>", "DELETED", "BY~", "LEFT TO UNDO")
	undoable := false
	for _, d := range deletes {
		left := "none: being erased"
		if !d.Now && d.UndoSeconds > 0 {
			undoable, left = true, out.Left(time.Duration(d.UndoSeconds)*time.Second)
		}
		table.Add(out.Plain(d.FolderID), out.Plain(deletedWhat(d)), out.Plain(out.Number(d.Pages)),
			out.Plain(a.Ago(&d.AcceptedAt)), out.Plain(d.Who), out.Plain(left))
	}
	a.Table(table)
	if undoable {
		a.Hint("undo: starter restore page FOLDER PAGE, starter folder restore FOLDER")
	}
}

func deletedWhat(d knowledge.Delete) string {
	switch {
	case d.PageID == "" && d.SourceID == "":
		return "(the whole folder)"
	case d.Subtree:
		return out.Or(d.SourceID, d.PageID) + " and below"
	}
	return out.Or(d.SourceID, d.PageID)
}

// startOf is when a run began to work, or was asked for if it still waits.
func startOf(run knowledge.Run) *time.Time {
	if run.StartedAt != nil {
		return run.StartedAt
	}
	return &run.RequestedAt
}
