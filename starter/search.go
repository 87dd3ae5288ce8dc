package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/search"
	"github.com/loresync/loresync/starter/internal/out"
)

func (a *app) searchCommand() *cobra.Command {
	var query search.Query
	cmd := &cobra.Command{
		Use: "search QUERY", Short: "Search the live pages",
		Long: `Find live pages by their words, in Japanese, Chinese and Korean too, and by their meaning where an embedding model is set: the
vectors that are built in know words only. Several words need no quotes.

The answer is an array, the best first: page_id, folder_id, also_in, title, url, score, snippet, synced_at, verified_at,
source_edited_at.`,
		Example: `  starter search how do I claim a train ticket
  starter search 領収書の提出期限 --folder handbook-ja --limit 3`,
		Args: cobra.ArbitraryArgs,
		PreRunE: func(_ *cobra.Command, args []string) error {
			query.Text = strings.Join(args, " ")
			if strings.TrimSpace(query.Text) == "" {
				return &usageError{sentence: "missing QUERY"}
			}
			if query.Folder != "" && ids.CheckFolder(query.Folder) != nil {
				return &usageError{sentence: ids.CheckFolder(query.Folder).Error()}
			}
			return positive("limit", query.Limit)
		},
		RunE: a.connected(func(ctx context.Context, s *session, _ []string) error {
			if query.Folder != "" {
				// An unknown folder gets the same sentence here as everywhere else.
				if _, err := s.door.Folder(ctx, query.Folder); err != nil {
					return err
				}
			}
			answer, err := s.searcher.Answer(ctx, query)
			if err != nil {
				return err
			}
			if answer.Warning != "" {
				a.Warn(answer.Warning)
			}
			return a.show(list(answer.Hits), func() { a.hits(answer.Hits) })
		}),
	}
	cmd.Flags().StringVar(&query.Folder, "folder", "", "only pages of this folder")
	cmd.Flags().IntVar(&query.Limit, "limit", search.DefaultLimit, "how many pages, at most 100")
	return cmd
}

const (
	// The width of a hit's lines where no terminal says how wide they may be, and at most.
	readingWidth = 100
	headingGap   = 2
)

func (a *app) hits(hits []search.Hit) {
	if len(hits) == 0 {
		a.Hint("nothing found; why a page isn't there: starter why REF")
		return
	}
	width := readingWidth
	if a.Terminals.Width > 0 {
		width = min(width, a.Terminals.Width)
	}
	for i, hit := range hits {
		if i > 0 {
			a.Line("")
		}
		title := out.Title(hit.Title)
		heading := out.Clean(strings.Join(hit.HeadingPath, " › "))
		if room := width - out.Width(title) - headingGap; heading != "" && room > 0 {
			heading = strings.Repeat(" ", headingGap) + out.Truncate(heading, room)
		} else {
			heading = ""
		}
		a.Line("%s%s", a.Strong(title), a.Faint(heading))
		for _, line := range out.Wrap(hit.Snippet, width-2) {
			a.Line("  %s", line)
		}
		a.Line("  %s", a.Faint(a.whence(hit)))
	}
}

func (a *app) whence(hit search.Hit) string {
	folder := hit.FolderID
	if len(hit.AlsoIn) > 0 {
		folder += " (also in " + out.Listing(hit.AlsoIn) + ")"
	}
	parts := []string{folder, out.Clean(out.Or(hit.URL, hit.PageID))}
	if hit.SyncedAt != nil {
		parts = append(parts, "synced "+a.Ago(hit.SyncedAt))
	}
	return strings.Join(parts, " · ")
}
