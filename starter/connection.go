package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/starter/internal/out"
)

func (a *app) connectionCommand() *cobra.Command {
	return noun(&cobra.Command{
		Use: "connection", Short: "Manage the accounts that sources are read by",
		Long: `A connection is the credentials for one vendor account, kept by reference: the secret itself stays in a file or variable.
The default connections files, notion and gdrive are always there.

The answer is a connection (of list: an array): name, source, state, reason.`,
		Example: `  starter connection list
  starter connection check notion`,
	}, a.connectionAddCommand(), a.connectionListCommand(), a.connectionCheckCommand(),
		a.connectionSwitch("pause", "Stop the syncs of all folders of a connection for now",
			func(ctx context.Context, s *session, name string) (control.Connection, error) {
				return s.door.PauseConnection(ctx, name, a.actor)
			}),
		a.connectionSwitch("resume", "Let a paused connection be used again",
			func(ctx context.Context, s *session, name string) (control.Connection, error) {
				return s.door.ResumeConnection(ctx, name, a.actor)
			}))
}

func (a *app) connectionAddCommand() *cobra.Command {
	var spec control.ConnectionSpec
	cmd := &cobra.Command{
		Use: "add NAME --source files|notion|gdrive --secret REF", Short: "Add a connection",
		Long: `Add a connection under a name of your own. REF says where the worker finds the secret, which is never stored itself:
env:VARIABLE or file:/path. A connection of files needs none.`,
		Example: `  starter connection add notion-hr --source notion --secret env:HR_NOTION_TOKEN
  starter connection add drive-legal --source gdrive --secret file:/run/secrets/legal.json`,
		Args: exactly(connectionArgument()), DisableFlagsInUseLine: true,
		PreRunE: func(*cobra.Command, []string) error {
			if spec.Source == "" {
				return &usageError{sentence: "missing --source: one of files, notion, gdrive"}
			}
			return oneOf("source", spec.Source, sources)
		},
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			spec.Name = args[0]
			connection, err := s.door.AddConnection(ctx, spec, a.actor)
			if err != nil {
				return err
			}
			return a.show(connection, func() {
				a.Line("added connection %s", a.Strong(connection.Name))
				a.Hint("look what it reaches: starter connection check %s", connection.Name)
			})
		}),
	}
	cmd.Flags().StringVar(&spec.Source, "source", "", "the vendor: files, notion or gdrive")
	cmd.Flags().StringVar(&spec.SecretRef, "secret", "", "where the secret is: env:VARIABLE or file:/path")
	complete(cmd, "source", sources)
	return cmd
}

// connectionArgument is a name of the same alphabet as a folder's id.
func connectionArgument() argument {
	folder := folderArgument("NAME")
	return argument{name: folder.name, check: func(name string) error {
		if folder.check(name) != nil {
			return fmt.Errorf("connection name %q is not 1 to 64 lower case letters, digits, - or _", out.Clean(name))
		}
		return nil
	}}
}

func (a *app) connectionListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the connections",
		Long:    `List the connections with their state. The answer is an array.`,
		Example: "  starter connection list",
		Args:    exactly(),
		RunE: a.connected(func(ctx context.Context, s *session, _ []string) error {
			connections, err := s.door.Connections(ctx)
			if err != nil {
				return err
			}
			return a.show(list(connections), func() {
				table := out.NewTable("NAME", "SOURCE", "STATE", "REASON~")
				for _, c := range connections {
					table.Add(out.Plain(c.Name), out.Plain(c.Source), paintStatus(c.State), out.Plain(c.Reason))
				}
				a.Table(table)
			})
		}),
	}
}

func (a *app) connectionCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check NAME", Short: "Look what a connection reaches, now",
		Long: `Ask the source for the root of each folder of the connection. The answer is an array: folder, root, ok, sentence. The exit
code is 1 when a root can't be read.`,
		Example: "  starter connection check notion",
		Args:    exactly(connectionArgument()),
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			checks, err := s.door.CheckConnection(ctx, args[0])
			if err != nil {
				return err
			}
			if err := a.show(list(checks), func() { a.checksTable(args[0], checks) }); err != nil {
				return err
			}
			return endOfChecks(checks)
		}),
	}
}

func (a *app) checksTable(name string, checks []control.ConnectionCheck) {
	if len(checks) == 0 {
		a.Hint("no folder uses the connection %s", name)
		return
	}
	table := out.NewTable("FOLDER", "READABLE", "ROOT~", "NOTE~")
	for _, c := range checks {
		state := "ok"
		if !c.OK {
			state = "failed"
		}
		table.Add(out.Plain(c.Folder), paintStatus(state), out.Plain(c.Root), out.Plain(c.Sentence))
	}
	a.Table(table)
}

func endOfChecks(checks []control.ConnectionCheck) error {
	var unreadable int64
	for _, c := range checks {
		if !c.OK {
			unreadable++
		}
	}
	if unreadable == 0 {
		return nil
	}
	return &endedError{code: exitFailed, sentence: out.Plural(unreadable, "root") + " can't be read"}
}

func (a *app) connectionSwitch(verb, short string, do func(context.Context, *session, string) (control.Connection, error)) *cobra.Command {
	return &cobra.Command{
		Use: verb + " NAME", Short: short,
		Long:    short + ". Deletes, restores and search go on all the time.",
		Example: fmt.Sprintf("  starter connection %s notion", verb),
		Args:    exactly(connectionArgument()),
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			connection, err := do(ctx, s, args[0])
			if err != nil {
				return err
			}
			return a.show(connection, func() { a.Line("connection %s is %s", a.Strong(connection.Name), a.painted(connection.State)) })
		}),
	}
}
