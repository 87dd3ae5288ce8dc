package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/starter/internal/out"
)

func (a *app) pageCommand() *cobra.Command {
	return noun(&cobra.Command{
		Use: "page", Short: "Look at one page",
		Long:    `Look at one page: its state and times, its Markdown, its chunks, its revisions.`,
		Example: `  starter page show handbook onboarding/first-day.md`,
	}, a.pageShowCommand())
}

// pageView is which side of a page is shown.
type pageView struct{ markdown, chunks, revisions bool }

func (a *app) pageShowCommand() *cobra.Command {
	var view pageView
	cmd := &cobra.Command{
		Use: "show FOLDER PAGE", Short: "Show a page",
		Long: `Show a page's state and times; with --markdown just the published Markdown, with --chunks the pieces that search finds, with
--revisions its history.

The answer is a page: page_id, source_id, folder_id, parent_page_id, title, url, state, reason, failure, running, hold_id,
synced_at, verified_at, source_edited_at, found_by. Chunks and revisions are arrays; --markdown with --json gives page_id,
folder_id and markdown.`,
		Example: `  starter page show handbook onboarding/first-day.md
  starter page show handbook onboarding/first-day.md --markdown | less`,
		Args: exactly(folderArgument("FOLDER"), textArgument("PAGE")), ValidArgsFunction: a.completeFolder,
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			page, err := s.door.Page(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			return a.pageView(ctx, s.door, page, view)
		}),
	}
	cmd.Flags().BoolVar(&view.markdown, "markdown", false, "print just the Markdown")
	cmd.Flags().BoolVar(&view.chunks, "chunks", false, "the pieces of the published revision")
	cmd.Flags().BoolVar(&view.revisions, "revisions", false, "the revisions, newest first")
	cmd.MarkFlagsMutuallyExclusive("markdown", "chunks", "revisions")
	return cmd
}

func (a *app) pageView(ctx context.Context, d door, page knowledge.Page, view pageView) error {
	switch {
	case view.markdown:
		content, err := d.Markdown(ctx, page.FolderID, page.PageID)
		if err != nil {
			return err
		}
		return a.show(pageMarkdown{PageID: page.PageID, FolderID: page.FolderID, Markdown: content}, func() { a.Raw(content) })
	case view.chunks:
		chunks, err := d.Chunks(ctx, page.FolderID, page.PageID)
		if err != nil {
			return err
		}
		return a.show(list(chunks), func() { a.chunks(page, chunks) })
	case view.revisions:
		revisions, err := d.Revisions(ctx, page.FolderID, page.PageID)
		if err != nil {
			return err
		}
		return a.show(list(revisions), func() { a.revisionsTable(revisions) })
	}
	if a.JSON || page.State != knowledge.StateExcluded {
		return a.show(page, func() { a.pagePairs(page) })
	}
	// Hidden by its own delete or with its whole folder: which of them decides how it comes back.
	folder, err := d.Folder(ctx, page.FolderID)
	if err != nil {
		return err
	}
	return a.show(page, func() { a.excludedPage(page, folder) })
}

func (a *app) excludedPage(page knowledge.Page, folder knowledge.Folder) {
	if folder.DeletedAt == nil {
		a.pagePairs(page)
		return
	}
	a.pageDetails(page)
	if folder.PurgeAt != nil && !folder.PurgeAt.After(a.Now()) {
		a.Hint("its folder %s is being removed for good", page.FolderID)
		return
	}
	a.Hint("bring it back with its whole folder: starter folder restore %s", page.FolderID)
}

type pageMarkdown struct {
	PageID   string `json:"page_id"`
	FolderID string `json:"folder_id"`
	Markdown string `json:"markdown"`
}

func (a *app) pagePairs(page knowledge.Page) {
	a.pageDetails(page)
	a.pageHint(page)
}

func (a *app) pageDetails(page knowledge.Page) {
	pairs := []out.Pair{
		{Name: "title", Value: out.Plain(out.WholeTitle(page.Title))},
		{Name: "state", Value: shownState(page)},
		{Name: "reason", Value: out.Plain(page.Reason)},
		{Name: "folder", Value: out.Plain(page.FolderID)},
		{Name: "page", Value: out.Plain(page.PageID)},
		{Name: "in the source", Value: out.Plain(page.SourceID)},
		{Name: "url", Value: out.Plain(page.URL)},
		{Name: "edited", Value: a.timeOf(page.SourceEditedAt)},
		{Name: "synced", Value: out.Plain(a.Ago(page.SyncedAt))},
		{Name: "verified", Value: a.timeOf(page.VerifiedAt)},
		{Name: "erased", Value: a.timeOf(page.PurgeAt)},
	}
	if page.ParentPageID != nil {
		pairs = append(pairs, out.Pair{Name: "parent", Value: out.Plain(*page.ParentPageID)})
	}
	if failure := page.Failure; failure != nil {
		sentence := fmt.Sprintf("%s: %s (%s, %s)", failure.Class, failure.Sentence, a.Ago(&failure.Since),
			out.Plural(int64(failure.Attempts), "attempt"))
		pairs = append(pairs, out.Pair{Name: "failure", Value: out.Cell{Text: sentence, Colors: paintStatus("failed").Colors}})
	}
	if page.Fidelity != nil {
		pairs = append(pairs, out.Pair{Name: "fidelity", Value: out.Plain(strings.Join(append([]string{page.Fidelity.String()}, page.Fidelity.Notes...), "; "))})
	}
	pairs = append(pairs, factPairs(page.Facts)...)
	if page.HoldID != nil {
		pairs = append(pairs, out.Pair{Name: "hold", Value: out.Plain(*page.HoldID)})
	}
	a.Pairs(pairs)
}

// factPairs are what the source said of a page besides its content.
func factPairs(facts knowledge.Facts) []out.Pair {
	var pairs []out.Pair
	var meta map[string]any
	if json.Unmarshal(facts.Meta, &meta) == nil {
		for _, name := range slices.Sorted(maps.Keys(meta)) {
			pairs = append(pairs, out.Pair{Name: strings.ReplaceAll(out.Clean(name), "_", " "), Value: out.Plain(out.Clean(fmt.Sprint(meta[name])))})
		}
	}
	var grants []struct {
		Type   string `json:"type"`
		Role   string `json:"role"`
		Email  string `json:"email"`
		Domain string `json:"domain"`
	}
	if json.Unmarshal(facts.Access, &grants) != nil || len(grants) == 0 {
		return pairs
	}
	readers := make([]string, len(grants))
	for i, g := range grants {
		who := out.Or(g.Email, g.Domain)
		readers[i] = strings.TrimSpace(g.Type+" "+who) + " (" + g.Role + ")"
	}
	return append(pairs, out.Pair{Name: "access", Value: out.Plain(out.Clean(strings.Join(readers, ", ")))})
}

func (a *app) pageHint(page knowledge.Page) {
	ref := named(out.Or(page.SourceID, page.PageID))
	switch {
	case page.HoldID != nil:
		a.Hint("the removal of %s waits for you: starter holds show %s", ref, *page.HoldID)
	case page.State == knowledge.StateExcluded:
		a.Hint("bring it back: starter restore page %s %s", page.FolderID, ref)
	case page.Failure != nil, page.State == knowledge.StatePending:
		a.Hint("try again: starter sync page %s %s --wait", page.FolderID, ref)
	}
}

func (a *app) timeOf(at *time.Time) out.Cell {
	if at == nil || at.IsZero() {
		return out.Cell{}
	}
	return out.Plain(a.Ago(at))
}

func (a *app) chunks(page knowledge.Page, chunks []knowledge.Chunk) {
	for i, chunk := range chunks {
		if i > 0 {
			a.Line("")
		}
		title := fmt.Sprintf("#%d", chunk.ChunkNo)
		if len(chunk.HeadingPath) > 0 {
			title += "  " + out.Clean(strings.Join(chunk.HeadingPath, " › "))
		}
		if !chunk.Embedded {
			title += "  (no vector yet)"
		}
		a.Line("%s", a.Strong(title))
		a.Raw(out.CleanText(chunk.Text))
	}
	if len(chunks) == 0 {
		a.Hint("no chunks: nothing of %s is published", out.Or(page.SourceID, page.PageID))
	}
}

func (a *app) revisionsTable(revisions []knowledge.Revision) {
	table := out.NewTable("REVISION>", "STATE", "PUBLISHED", "CHUNKS>", "SIZE>", "TITLE~", "SUMMARY~")
	for _, r := range revisions {
		table.Add(out.Plain(strconv.FormatInt(r.RevisionID, 10)), out.Plain(r.State), a.timeOf(r.PublishedAt),
			out.Plain(out.Number(int64(r.Chunks))), out.Plain(size(r.Bytes)), out.Plain(out.Title(r.Title)), out.Plain(r.Summary))
	}
	a.Table(table)
}

func size(bytes int64) string { return humanize.Bytes(uint64(max(bytes, 0))) }
