package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/starter/internal/out"
)

// argument is one positional argument: its name as the help spells it, and what is wrong with a value.
type argument struct {
	name  string
	check func(value string) error
}

func folderArgument(name string) argument { return argument{name: name, check: ids.CheckFolder} }

func textArgument(name string) argument {
	return argument{name: name, check: func(value string) error {
		if strings.TrimSpace(value) == "" {
			return fmt.Errorf("%s is empty", name)
		}
		return nil
	}}
}

// exactly asks for all of these arguments and no others.
func exactly(wanted ...argument) cobra.PositionalArgs { return between(len(wanted), wanted...) }

// between asks for at least the first few of these arguments.
func between(least int, wanted ...argument) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > len(wanted) {
			return &usageError{sentence: fmt.Sprintf("unexpected argument %q", args[len(wanted)])}
		}
		if len(args) < least {
			return &usageError{sentence: "missing " + wanted[len(args)].name}
		}
		for i, value := range args {
			if err := wanted[i].check(value); err != nil {
				return &usageError{sentence: err.Error()}
			}
		}
		return nil
	}
}

// completionTime is how long a shell may wait for folder ids: longer, and the Tab key seems broken.
const completionTime = 2 * time.Second

// completeFolder offers the ids of the registered folders as a command's first argument.
func (a *app) completeFolder(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	s, err := a.connect(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer s.close()
	folders, err := s.door.Folders(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	completions := make([]cobra.Completion, len(folders))
	for i, folder := range folders {
		completions[i] = cobra.CompletionWithDesc(folder.ID, out.Title(folder.Title))
	}
	return completions, cobra.ShellCompDirectiveNoFileComp
}

// oneOf checks a flag that knows only some words; empty is none of them, and is allowed.
func oneOf(flag, value string, words []string) error {
	if value == "" || slices.Contains(words, value) {
		return nil
	}
	return &usageError{sentence: fmt.Sprintf("--%s %q is unknown: use one of %s", flag, value, strings.Join(words, ", "))}
}
