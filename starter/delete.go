package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/starter/internal/out"
)

// deleteFlags are what a page's and a folder's delete have in common.
type deleteFlags struct{ now, wait, yes bool }

func (f *deleteFlags) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.now, "now", false, "erase it at once: a restore can't bring the content back")
	cmd.Flags().BoolVar(&f.wait, "wait", false, "wait until nothing of it runs any more, with --now until it is erased")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "with --now: don't ask")
}

func (a *app) deleteCommand() *cobra.Command {
	return noun(&cobra.Command{
		Use: "delete", Short: "Delete a page",
		Long:    `Delete a page so that it stays deleted, whatever its source says. A folder is deleted by "starter folder delete".`,
		Example: `  starter delete page handbook drafts/old.md`,
	}, a.deletePageCommand())
}

func (a *app) deletePageCommand() *cobra.Command {
	var flags deleteFlags
	var subtree bool
	cmd := &cobra.Command{
		Use: "page FOLDER PAGE", Short: "Delete a page, and keep it out of later syncs",
		Long: `Readers don't see the page from the moment this is accepted, running syncs of it are cancelled, and no later sync brings it
back. For 7 days "starter restore page" does, with its content at once; then it is erased. Works while Temporal is down.

The answer is accepted_at, pages, purge_at and the workflow that cancels what runs; joined and accepted_by say that it had been
deleted before. --now asks for the page's title when you sit at a terminal, unless --yes is given.`,
		Example: `  starter delete page handbook drafts/old.md --wait
  starter delete page handbook drafts --subtree
  starter delete page handbook secrets.md --now --yes --wait --json`,
		Args: exactly(folderArgument("FOLDER"), textArgument("PAGE")), ValidArgsFunction: a.completeFolder,
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			if err := a.confirmPage(ctx, s, args[0], args[1], flags); err != nil {
				return err
			}
			options := control.DeleteOptions{Subtree: subtree, Now: flags.now}
			answer, err := s.door.DeletePage(ctx, args[0], args[1], options, a.actor)
			if err != nil {
				return err
			}
			undo := fmt.Sprintf("starter restore page %s %s", args[0], named(args[1]))
			if subtree {
				undo += " --subtree"
			}
			return a.deleted(ctx, s, answer, flags, args[1], undo)
		}),
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&subtree, "subtree", false, "delete what is below it too, now and whatever appears there later")
	return cmd
}

func (a *app) confirmPage(ctx context.Context, s *session, folder, ref string, flags deleteFlags) error {
	if !flags.now || flags.yes || !a.Terminals.In {
		return nil
	}
	page, err := s.door.Page(ctx, folder, ref)
	if err != nil {
		return err
	}
	name := out.Or(out.Clean(page.Title), page.SourceID)
	return a.confirm(ctx, fmt.Sprintf("the page %q", name), name, flags.yes)
}

// deleted answers a delete, at once or when its workflow has ended.
func (a *app) deleted(ctx context.Context, s *session, answer control.Answer, flags deleteFlags, what, undo string) error {
	goesOn := "the delete goes on"
	if !flags.now {
		goesOn += "; undo it: " + undo
	}
	if flags.wait && answer.WorkflowID != "" {
		ended, err := a.await(ctx, answer, waiting{what: "deleting " + what, goesOn: goesOn, wait: s.door.Wait})
		if err != nil {
			return err
		}
		answer = ended
	}
	return a.acted(answer, func() {
		if answer.Status == "restored" {
			a.Line("%s was restored in the meantime", a.Strong(out.Clean(what)))
			return
		}
		a.Line("%s", a.deletedLine(answer, what))
		a.purgeHint(answer, flags, what, undo)
	})
}

// deletedLine says what was deleted, or that it is so already: since when, and by whom.
func (a *app) deletedLine(answer control.Answer, what string) string {
	if answer.Joined && answer.AcceptedAt != nil {
		return fmt.Sprintf("%s is deleted already: %s, by %s", a.Strong(out.Clean(what)), a.Ago(answer.AcceptedAt),
			out.Or(out.Clean(answer.AcceptedBy), "a person"))
	}
	line := "deleted " + a.Strong(out.Clean(what))
	if answer.Pages != nil {
		line += ": readers don't see " + out.Plural(*answer.Pages, "page") + " any more"
	}
	return line
}

func (a *app) purgeHint(answer control.Answer, flags deleteFlags, what, undo string) {
	switch {
	case flags.now && flags.wait:
		a.Hint("the content of %s is erased", what)
	case answer.WorkflowID == "" && answer.Status == "purged":
		a.Hint("its content is erased; let the next sync read it anew: %s", undo)
	case flags.now, answer.PurgeAt != nil && !answer.PurgeAt.After(a.Now()):
		a.Hint("the content of %s is being erased", what)
	case answer.PurgeAt != nil && answer.Joined:
		a.Hint("it can be restored until %s: %s", answer.PurgeAt.UTC().Format("2 January 15:04 UTC"), undo)
	case answer.PurgeAt != nil:
		a.Hint("undo it: %s (its content is erased %s)", undo, a.Ago(answer.PurgeAt))
	}
}
