package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/starter/internal/out"
)

// pageStates are the words that --state knows.
var pageStates = []string{"live", "excluded", "tombstoned", "skipped", "pending", "failed", "syncing", "held"}

// pageBatch bounds one question to the database: a folder may have 100,000 pages.
const pageBatch = 1000

func (a *app) pagesCommand() *cobra.Command {
	var filter control.PageFilter
	var tree bool
	cmd := &cobra.Command{
		Use: "pages FOLDER", Short: "List the pages of a folder",
		Long: `List a folder's pages with their state:

  live        readers see it
  excluded    a person deleted it, and it stays out
  tombstoned  the source lost it; it comes back when the source has it again
  skipped     it can't be read as knowledge, for the reason given
  pending     never published so far

--state also takes failed (the last sync of it failed, the last good content stays), syncing and held (its removal waits for
a person). The answer is an array of pages: page_id, source_id, parent_page_id, title, url, state, reason, failure, …`,
		Example: `  starter pages handbook
  starter pages handbook --state failed
  starter pages handbook --tree`,
		Args: exactly(folderArgument("FOLDER")), ValidArgsFunction: a.completeFolder,
		PreRunE: func(*cobra.Command, []string) error { return oneOf("state", filter.State, pageStates) },
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			filter.Containers = tree
			pages, err := allPages(ctx, s.door, args[0], filter)
			if err != nil {
				return err
			}
			return a.show(list(pages), func() {
				if tree {
					a.tree(pages)
					return
				}
				a.pagesTable(pages, filter.State, args[0])
			})
		}),
	}
	cmd.Flags().StringVar(&filter.State, "state", "", "only pages of this state")
	cmd.Flags().BoolVar(&tree, "tree", false, "draw the tree, with the containers that pages hang below")
	cmd.MarkFlagsMutuallyExclusive("state", "tree")
	complete(cmd, "state", pageStates)
	return cmd
}

// allPages asks batch by batch until a batch isn't full.
func allPages(ctx context.Context, d door, folder string, filter control.PageFilter) ([]knowledge.Page, error) {
	filter.Limit = pageBatch
	var pages []knowledge.Page
	for {
		batch, err := d.Pages(ctx, folder, filter)
		if err != nil {
			return nil, err
		}
		pages = append(pages, batch...)
		if len(batch) < pageBatch {
			return pages, nil
		}
		filter.After = batch[len(batch)-1].PageID
	}
}

func (a *app) pagesTable(pages []knowledge.Page, state, folder string) {
	if len(pages) == 0 {
		if state != "" {
			a.Hint("no page of %s is %s", folder, state)
			return
		}
		a.Hint("no pages yet: starter sync folder %s --wait", folder)
		return
	}
	table := out.NewTable("STATE", "TITLE~", "PAGE~", "SYNCED", "NOTE~")
	for _, page := range pages {
		table.Add(shownState(page), out.Plain(out.Title(page.Title)), out.Plain(out.Or(page.SourceID, page.PageID)), a.since(page), out.Plain(note(page)))
	}
	a.Table(table)
	a.Hint("%s of %s", out.Plural(int64(len(pages)), "page"), folder)
}

func (a *app) since(page knowledge.Page) out.Cell {
	if page.SyncedAt == nil {
		return out.Cell{}
	}
	return out.Plain(a.Ago(page.SyncedAt))
}

// shownState is what a person looks for first: that a page fails or waits says more than that its last good content is live.
func shownState(page knowledge.Page) out.Cell {
	state := string(page.State)
	switch {
	case page.Failure != nil:
		return out.Cell{Text: state + ", failed", Colors: paintStatus("failed").Colors}
	case page.HoldID != nil:
		return out.Cell{Text: state + ", held", Colors: paintStatus("held").Colors}
	case page.Running:
		return out.Cell{Text: state + ", syncing", Colors: paintStatus("running").Colors}
	}
	return paintStatus(state)
}

// note is why a page is as it is, in a few words.
func note(page knowledge.Page) string {
	if page.Failure != nil {
		return out.Or(page.Failure.Sentence, page.Failure.Class)
	}
	return page.Reason
}
