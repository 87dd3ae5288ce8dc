package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/starter/internal/out"
)

func (a *app) restoreCommand() *cobra.Command {
	return noun(&cobra.Command{
		Use: "restore", Short: "Undo the delete of a page",
		Long:    `Undo the delete of a page. A folder is restored by "starter folder restore".`,
		Example: `  starter restore page handbook drafts/old.md --wait`,
	}, a.restorePageCommand())
}

func (a *app) restorePageCommand() *cobra.Command {
	var subtree, wait bool
	cmd := &cobra.Command{
		Use: "page FOLDER PAGE", Short: "Bring a deleted page back",
		Long: `Allow a deleted page again. Until its content is erased, readers see the last published revision at once, and a sync follows;
afterwards the page is synced anew. With --wait the command returns when the page is live.`,
		Example: `  starter restore page handbook drafts/old.md --wait
  starter restore page handbook drafts --subtree --json`,
		Args: exactly(folderArgument("FOLDER"), textArgument("PAGE")), ValidArgsFunction: a.completeFolder,
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			answer, err := s.door.RestorePage(ctx, args[0], args[1], subtree, a.actor)
			if err != nil {
				return err
			}
			if wait {
				if answer, err = a.awaitLive(ctx, s, args[0], args[1], answer); err != nil {
					return err
				}
			}
			return a.acted(answer, func() { a.restored(answer, args[1], wait) })
		}),
	}
	cmd.Flags().BoolVar(&subtree, "subtree", false, "restore what was deleted below it too")
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until the page is live")
	return cmd
}

func (a *app) awaitLive(ctx context.Context, s *session, folder, ref string, answer control.Answer) (control.Answer, error) {
	return a.await(ctx, answer, waiting{
		what:   "restoring " + ref,
		goesOn: fmt.Sprintf("the restore goes on; see what came of it: starter page show %s %s", folder, named(ref)),
		wait: func(ctx context.Context, answer control.Answer, _ func(knowledge.RunProgress)) (control.Answer, error) {
			return s.door.WaitLive(ctx, answer)
		},
	})
}

func (a *app) restored(answer control.Answer, what string, live bool) {
	line := "restored " + a.Strong(out.Clean(what))
	if answer.Pages != nil {
		line += ": " + out.Plural(*answer.Pages, "page")
	}
	if live {
		line += ", live"
	}
	a.Line("%s", line)
}

func (a *app) deletesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "deletes", Short: "List what can still be undone",
		Long: `List the deletes that a restore can still undo, with the time left, and those that are being erased.

The answer is an array: delete_id, folder_id, page_id, source_id, who, pages, accepted_at, purge_at, undo_seconds, …`,
		Example: `  starter deletes
  starter deletes --json`,
		Args: exactly(),
		RunE: a.connected(func(ctx context.Context, s *session, _ []string) error {
			deletes, err := s.door.Deletes(ctx)
			if err != nil {
				return err
			}
			return a.show(list(deletes), func() { a.deletesTable(deletes) })
		}),
	}
}
