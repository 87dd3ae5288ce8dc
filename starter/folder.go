package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/starter/internal/out"
)

func (a *app) folderCommand() *cobra.Command {
	return noun(&cobra.Command{
		Use: "folder", Short: "Manage the folders that are synced",
		Long: `A folder is one root that is kept in step: a directory, a Notion page or database, a Drive folder or shared drive.

The answer is a folder (of list: an array): id, source, root, connection, title, state, owner, interval, pages, overlaps, …`,
		Example: `  starter folder add handbook --source files --root ~/handbook
  starter folder list`,
	}, a.folderAddCommand(), a.folderListCommand(), a.folderShowCommand(), a.folderSetCommand(), a.folderPauseCommand(),
		a.folderResumeCommand(), a.folderDeleteCommand(), a.folderRestoreCommand())
}

func (a *app) folderAddCommand() *cobra.Command {
	var spec control.FolderSpec
	cmd := &cobra.Command{
		Use: "add ID --source files|notion|gdrive --root REF", Short: "Register a folder",
		Long: `Register a root for syncing under an id of your own: lower case letters, digits, - and _, at most 64.

REF is a directory for files; any form of a page's, database's or data source's URL or id, or "workspace", for Notion; a
folder's or shared drive's id or URL, "root" (My Drive) or "shared-with-me" for Drive.

The source is asked for the root first: one that can't be read is not registered. The first sync begins by itself within about a
minute, where a worker runs, or at once by "starter sync folder"; others follow every 15 minutes, or as "starter folder set
--interval" says.

A root may be registered twice, or below another: the answer's warnings name the other folder as far as that is known, and its
overlaps, and those of "starter folder show", once syncs have found it.`,
		Example: `  starter folder add handbook --source files --root ~/handbook --title "Company handbook"
  starter folder add wiki --source notion --root https://www.notion.so/acme/Wiki-0123456789abcdef0123456789abcdef`,
		Args: exactly(folderArgument("ID")), DisableFlagsInUseLine: true,
		PreRunE: func(*cobra.Command, []string) error {
			switch {
			case spec.Source == "":
				return &usageError{sentence: "missing --source: one of files, notion, gdrive"}
			case spec.Root == "":
				return &usageError{sentence: "missing --root: what to sync"}
			}
			return oneOf("source", spec.Source, sources)
		},
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			spec.ID = args[0]
			folder, err := s.door.AddFolder(ctx, spec, a.actor)
			if err != nil {
				return err
			}
			a.warn(folder.Warnings)
			return a.show(folder, func() {
				a.Line("added folder %s: %s", a.Strong(folder.ID), out.Clean(folder.Root))
				a.Hint("its first sync begins by itself within a minute; at once: starter sync folder %s --wait", folder.ID)
			})
		}),
	}
	cmd.Flags().StringVar(&spec.Source, "source", "", "where it is: files, notion or gdrive")
	cmd.Flags().StringVar(&spec.Root, "root", "", "what to sync: a directory, a URL or an id")
	cmd.Flags().StringVar(&spec.Connection, "connection", "", "the connection to read it by (default: the source's own)")
	cmd.Flags().StringVar(&spec.Title, "title", "", "the title for people (default: the id)")
	cmd.Flags().StringVar(&spec.Owner, "owner", "", "who answers for its content")
	complete(cmd, "source", sources)
	return cmd
}

var sources = []string{"files", "notion", "gdrive"}

// complete offers a flag's words to the shell.
func complete(cmd *cobra.Command, flag string, words []string) {
	// The only error is that the flag doesn't exist, which every test of the tree would show.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

func (a *app) folderListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List all folders",
		Long:    `List all folders, the deleted ones too until they are erased, with the number of their pages. The answer is an array.`,
		Example: "  starter folder list\n  starter folder list --json",
		Args:    exactly(),
		RunE: a.connected(func(ctx context.Context, s *session, _ []string) error {
			folders, err := s.door.Folders(ctx)
			if err != nil {
				return err
			}
			return a.show(list(folders), func() { a.foldersTable(folders) })
		}),
	}
}

func (a *app) foldersTable(folders []knowledge.Folder) {
	if len(folders) == 0 {
		a.Hint("no folder yet: starter folder add ID --source files --root DIRECTORY")
		return
	}
	table := out.NewTable("FOLDER", "STATE", "SOURCE", "TITLE~", "LIVE>", "FAILED>", "HELD>", "LAST SYNC", "ROOT~")
	for _, f := range folders {
		table.Add(out.Plain(f.ID), paintStatus(f.State), out.Plain(f.Source), out.Plain(out.Title(f.Title)), out.Plain(out.Number(f.Pages.Live)),
			some(f.Pages.Failed, "failed"), some(f.Pages.Held, "held"), out.Plain(a.Ago(f.LastSyncAt)), out.Plain(f.Root))
	}
	a.Table(table)
}

// some is a number that matters only when there is one, in the colour of its state.
func some(n int64, state string) out.Cell {
	if n == 0 {
		return out.Cell{}
	}
	return out.Cell{Text: out.Number(n), Colors: paintStatus(state).Colors}
}

func (a *app) folderShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show one folder",
		Long:    `Show a folder's settings, its state, and how many pages are in each state.`,
		Example: "  starter folder show handbook",
		Args:    exactly(folderArgument("ID")), ValidArgsFunction: a.completeFolder,
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			folder, err := s.door.Folder(ctx, args[0])
			if err != nil {
				return err
			}
			return a.show(folder, func() { a.folderPairs(folder) })
		}),
	}
}

func (a *app) folderPairs(f knowledge.Folder) {
	pages := []string{out.Number(f.Pages.Live) + " live"}
	for _, state := range []struct {
		n    int64
		word string
	}{
		{f.Pages.Pending, "pending"},
		{f.Pages.Skipped, "skipped"},
		{f.Pages.Failed, "failed"},
		{f.Pages.Held, "held"},
		{f.Pages.Excluded, "excluded"},
		{f.Pages.Tombstoned, "tombstoned"},
		{f.Pages.Syncing, "syncing"},
	} {
		if state.n > 0 {
			pages = append(pages, out.Number(state.n)+" "+state.word)
		}
	}
	pairs := []out.Pair{
		{Name: "folder", Value: out.Plain(f.ID)},
		{Name: "title", Value: out.Plain(f.Title)},
		{Name: "state", Value: paintStatus(f.State)},
		{Name: "source", Value: out.Plain(f.Source)},
		{Name: "root", Value: out.Plain(f.Root)},
		{Name: "connection", Value: out.Plain(f.Connection)},
		{Name: "overlaps", Value: out.Plain(overlapping(f.Overlaps))},
		{Name: "owner", Value: out.Plain(f.Owner)},
		{Name: "interval", Value: out.Plain(f.Interval)},
		{Name: "readers", Value: out.Plain(settingOrNone(f.Readers, "[]"))},
		{Name: "limits", Value: out.Plain(settingOrNone(f.Limits, "{}"))},
		{Name: "pages", Value: out.Plain(out.Listing(pages))},
		{Name: "last sync", Value: out.Plain(a.Ago(f.LastSyncAt))},
		{Name: "added", Value: out.Plain(a.Ago(&f.CreatedAt))},
	}
	if f.PurgeAt != nil {
		pairs = append(pairs, out.Pair{Name: "deleted", Value: out.Plain(a.Ago(f.DeletedAt))},
			out.Pair{Name: "erased", Value: out.Plain(a.Ago(f.PurgeAt))})
	}
	a.Pairs(pairs)
	switch {
	case f.DeletedAt == nil:
	case f.PurgeAt.After(a.Now()):
		a.Hint("undo the delete: starter folder restore %s", f.ID)
	default:
		a.Hint("folder %s is being removed for good; its id is free once starter folder list no longer names it", f.ID)
	}
}

// overlapping names the folders that sync some of the same pages.
func overlapping(overlaps []knowledge.Overlap) string {
	how := map[string]string{
		knowledge.OverlapSame: "has the root of %s", knowledge.OverlapBelow: "is below the root of %s", knowledge.OverlapAbove: "holds the root of %s",
	}
	words := make([]string, len(overlaps))
	for i, o := range overlaps {
		words[i] = fmt.Sprintf(how[o.How], o.FolderID)
	}
	return out.Listing(words)
}

// settingOrNone leaves out a setting that says nothing.
func settingOrNone(raw []byte, none string) string {
	if s := string(raw); s != none && s != "null" {
		return s
	}
	return ""
}

func (a *app) folderPauseCommand() *cobra.Command {
	return a.folderSwitch("pause", "Stop the syncs of a folder for now",
		`No scheduled, webhook or folder sync of a paused folder starts, running ones stop at the next batch, and a page's sync is
refused. Deletes, restores and search go on.`,
		func(ctx context.Context, s *session, id string) (knowledge.Folder, error) {
			return s.door.PauseFolder(ctx, id, a.actor)
		},
		"starter folder resume %s lets it sync again")
}

func (a *app) folderResumeCommand() *cobra.Command {
	return a.folderSwitch("resume", "Let a paused folder sync again",
		`Syncs of the folder start again by themselves, at its interval and with the daily batch, or at once by "starter sync folder".`,
		func(ctx context.Context, s *session, id string) (knowledge.Folder, error) {
			return s.door.ResumeFolder(ctx, id, a.actor)
		},
		"sync it now: starter sync folder %s --wait")
}

func (a *app) folderSwitch(verb, short, long string, do func(context.Context, *session, string) (knowledge.Folder, error),
	hint string,
) *cobra.Command {
	return &cobra.Command{
		Use: verb + " ID", Short: short, Long: long,
		Example: fmt.Sprintf("  starter folder %s handbook", verb),
		Args:    exactly(folderArgument("ID")), ValidArgsFunction: a.completeFolder,
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			folder, err := do(ctx, s, args[0])
			if err != nil {
				return err
			}
			return a.show(folder, func() {
				a.Line("folder %s is %s", a.Strong(folder.ID), a.painted(folder.State))
				a.Hint(hint, folder.ID)
			})
		}),
	}
}

func (a *app) folderDeleteCommand() *cobra.Command {
	var flags deleteFlags
	cmd := &cobra.Command{
		Use: "delete ID", Short: "Delete a folder with all its pages",
		Long: `Readers see nothing of the folder from the moment this is accepted, and all its syncs are cancelled. For 7 days "starter
folder restore" brings it back; then it is erased, and the id can be used again. Works while Temporal is down.

--now asks for the folder's id when you sit at a terminal, unless --yes is given. The source itself is never touched.`,
		Example: `  starter folder delete handbook --wait
  starter folder delete handbook --now --yes --wait --json`,
		Args: exactly(folderArgument("ID")), ValidArgsFunction: a.completeFolder,
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			if flags.now {
				if err := a.confirm(ctx, fmt.Sprintf("the folder %s with all its pages", args[0]), args[0], flags.yes); err != nil {
					return err
				}
			}
			answer, err := s.door.DeleteFolder(ctx, args[0], flags.now, a.actor)
			if err != nil {
				return err
			}
			return a.deleted(ctx, s, answer, flags, args[0], "starter folder restore "+args[0])
		}),
	}
	flags.register(cmd)
	return cmd
}

func (a *app) folderRestoreCommand() *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use: "restore ID", Short: "Undo the delete of a folder",
		Long: `Undo a folder's delete until it is erased: readers see its pages again at once, and a full sync follows. Pages deleted one by
one stay deleted. With --wait the command returns when that sync has ended, and tells how, as "starter sync folder --wait" does.`,
		Example: "  starter folder restore handbook\n  starter folder restore handbook --wait",
		Args:    exactly(folderArgument("ID")), ValidArgsFunction: a.completeFolder,
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			answer, err := s.door.RestoreFolder(ctx, args[0], a.actor)
			if err != nil {
				return err
			}
			if wait && answer.WorkflowID != "" {
				a.Hint("restored %s: readers see its pages again", args[0])
				return a.synced(ctx, s, answer, true, syncTarget{what: args[0], folder: args[0]})
			}
			return a.acted(answer, func() {
				a.restored(answer, args[0], false)
				if answer.WorkflowID == "" {
					a.Hint("bring it up to date: starter sync folder %s --wait", args[0])
					return
				}
				a.Hint("a full sync brings it up to date; follow it: starter status --watch, or starter runs %s", args[0])
			})
		}),
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until the sync that follows has ended, and tell how")
	return cmd
}
