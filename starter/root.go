package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/starter/internal/out"
)

const rootLong = `loresync keeps a team's knowledge base in step with where people really write. starter is its command line:
register folders, sync them, delete and restore pages, and ask why a page is, or isn't, there.

FOLDER is a folder's id. PAGE is a page's id, its id in the source (for files: the path below the root) or its URL.

Answers go to stdout, everything said about them to stderr. With --json the answer is exactly one JSON document.
Settings come from the environment; where LORESYNC_DATABASE_URL is not set, .loresync/env (written by "make dev") is read.

Exit codes:
  0  done, also when something is held for a person or was skipped
  1  failed or partial; with --json the answer is printed all the same
  2  wrong usage, or a setting that is missing or wrong
  3  not found
  4  refused: being deleted, excluded, paused, not permitted
  5  Temporal or Postgres unreachable`

const rootExample = `  starter folder add handbook --source files --root ~/handbook
  starter sync folder handbook --wait
  starter search "how do I claim a train ticket"
  starter delete page handbook drafts/old.md
  starter why drafts/old.md`

// app is one command line being carried out.
type app struct {
	deps
	*out.Printer
	// warned are the warnings that were told already.
	warned []string
}

// execute carries out args and says on stderr what went wrong.
func execute(ctx context.Context, d deps, args []string) error {
	a := &app{deps: d, Printer: out.New(d.out, d.err, d.terminals, d.now)}
	root := newRoot(a) //nolint:contextcheck // its commands use the context that they are executed with
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	if err == nil {
		if err = a.Err(); err == nil {
			return nil
		}
		err = &commandError{err: err}
	}
	a.Fail(sentenceOf(err))
	if _, began := errors.AsType[*commandError](err); !began {
		a.Say("see %s --help", command.CommandPath())
	}
	return err
}

// newRoot builds the tree of commands.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use: "starter", Short: "The command line of loresync", Long: rootLong, Example: rootExample,
		Args: cobra.ArbitraryArgs, SilenceErrors: true, SilenceUsage: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return chooseOne(cmd, args)
		},
	}
	root.SetIn(a.in)
	root.SetOut(a.Answer())
	root.SetErr(a.Messages())
	root.SetUsageTemplate(usageTemplate(root.UsageTemplate()))
	root.PersistentFlags().BoolVar(&a.JSON, "json", false, "print the answer as one JSON document")
	root.AddGroup(&cobra.Group{ID: groupContent, Title: "Content:"}, &cobra.Group{ID: groupWork, Title: "Work:"},
		&cobra.Group{ID: groupCare, Title: "Care:"})
	root.AddCommand(grouped(groupContent, a.folderCommand(), a.pagesCommand(), a.pageCommand(), a.searchCommand(), a.whyCommand())...)
	root.AddCommand(grouped(groupWork, a.syncCommand(), a.deleteCommand(), a.restoreCommand(), a.deletesCommand(), a.runsCommand(),
		a.retryCommand(), a.holdsCommand(), a.scheduleCommand(), a.statusCommand())...)
	root.AddCommand(grouped(groupCare, a.connectionCommand(), a.tokenCommand(), a.fsckCommand(), a.janitorCommand(), a.maintenanceCommand(),
		a.migrateCommand(), a.versionCommand())...)
	return root
}

const (
	groupContent = "content"
	groupWork    = "work"
	groupCare    = "care"
)

func grouped(group string, commands ...*cobra.Command) []*cobra.Command {
	for _, command := range commands {
		command.GroupID = group
	}
	return commands
}

// usageTemplate keeps a command that only has others below it from being shown as one that does something by itself.
func usageTemplate(cobraTemplate string) string {
	return strings.Replace(cobraTemplate, "{{if .Runnable}}", "{{if and .Runnable (or (not .HasAvailableSubCommands) (ne .Use .Name))}}", 1)
}

// noun is a command that only has others below it.
func noun(command *cobra.Command, verbs ...*cobra.Command) *cobra.Command {
	command.Args = cobra.ArbitraryArgs
	command.RunE = chooseOne
	command.AddCommand(verbs...)
	return command
}

func chooseOne(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return &usageError{sentence: fmt.Sprintf("%s needs one of: %s", cmd.CommandPath(), strings.Join(verbsOf(cmd), ", "))}
	}
	sentence := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	cmd.SuggestionsMinimumDistance = 2
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		sentence += fmt.Sprintf(": did you mean %q?", near[0])
	}
	return &usageError{sentence: sentence}
}

func verbsOf(cmd *cobra.Command) []string {
	var verbs []string
	for _, verb := range cmd.Commands() {
		if verb.IsAvailableCommand() {
			verbs = append(verbs, verb.Name())
		}
	}
	return verbs
}

// body is what a command does once it is connected.
type body func(ctx context.Context, s *session, args []string) error

// connected makes a command's RunE: it opens the session, carries out the body and marks the body's errors as such.
func (a *app) connected(do body) func(*cobra.Command, []string) error {
	return a.plain(func(ctx context.Context, args []string) error {
		s, err := a.connect(ctx)
		if err != nil {
			return err
		}
		defer s.close()
		return do(ctx, s, args)
	})
}

// plain is connected for commands that need no session.
func (a *app) plain(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := do(cmd.Context(), args)
		var ended *endedError
		if err != nil && cmd.Context().Err() != nil && !errors.As(err, &ended) {
			// Whatever a database or server makes of it, the person pressed Ctrl-C.
			err = &endedError{code: exitFailed, sentence: "stopped"}
		}
		if err != nil {
			return &commandError{err: err}
		}
		return nil
	}
}

// show prints v for programs, or calls human for people.
func (a *app) show(v any, human func()) error {
	if a.JSON {
		return a.Document(v)
	}
	human()
	return nil
}

// warn tells each warning once, however often the answer that holds it is shown.
func (a *app) warn(warnings []string) {
	for _, warning := range warnings {
		if !slices.Contains(a.warned, warning) {
			a.warned = append(a.warned, warning)
			a.Warn(warning)
		}
	}
}

// acted is the end of most mutations: the answer, its warnings, and an error when it isn't a success.
func (a *app) acted(answer control.Answer, human func()) error {
	a.warn(answer.Warnings)
	if err := a.show(answer, human); err != nil {
		return err
	}
	return endOf(answer)
}
