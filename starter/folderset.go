package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/starter/internal/out"
)

// folderSettings are the flags of folder set as they were given.
type folderSettings struct {
	root, title, owner, interval string
	readers                      []string
	limits                       map[string]string
}

func (a *app) folderSetCommand() *cobra.Command {
	var settings folderSettings
	var patch control.FolderPatch
	cmd := &cobra.Command{
		Use: "set ID", Short: "Change a folder's settings",
		Long: `Change what is given, and keep everything else. A new root makes the next sync look at everything anew; pages that are below
both roots stay what they are.`,
		Example: `  starter folder set handbook --title "Company handbook" --owner people@example.com
  starter folder set handbook --interval 30m --limits max_bytes=2000000
  starter folder set handbook --readers support,sales
  starter folder set wiki --limits comments=true`,
		Args: exactly(folderArgument("ID")), ValidArgsFunction: a.completeFolder,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			patch, err = settings.patch(cmd.Flags().Changed)
			return err
		},
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			folder, err := s.door.SetFolder(ctx, args[0], patch, a.actor)
			if err != nil {
				return err
			}
			a.warn(folder.Warnings)
			return a.show(folder, func() {
				a.folderPairs(folder)
				if patch.Root != nil {
					a.Hint("sync it from its new root: starter sync folder %s --wait", folder.ID)
				}
			})
		}),
	}
	cmd.Flags().StringVar(&settings.root, "root", "", "what to sync: a directory, a URL or an id")
	cmd.Flags().StringVar(&settings.title, "title", "", "the title for people")
	cmd.Flags().StringVar(&settings.owner, "owner", "", "who answers for its content")
	cmd.Flags().StringVar(&settings.interval, "interval", "", "time between incremental syncs, such as 15m or 2h")
	cmd.Flags().StringSliceVar(&settings.readers, "readers", nil, "who may read it: names, separated by commas; '' for everyone")
	cmd.Flags().StringToStringVar(&settings.limits, "limits", nil, "what is read of one page: max_bytes=2000000, and for Notion comments=true")
	return cmd
}

// patch holds what was given; given tells whether a flag was.
func (f folderSettings) patch(given func(flag string) bool) (control.FolderPatch, error) {
	var patch control.FolderPatch
	for flag, text := range map[string]struct {
		value string
		to    **string
	}{"root": {f.root, &patch.Root}, "title": {f.title, &patch.Title}, "owner": {f.owner, &patch.Owner}} {
		if given(flag) {
			*text.to = &text.value
		}
	}
	if given("root") && f.root == "" {
		return patch, &usageError{sentence: "--root is empty"}
	}
	if given("interval") {
		interval, err := time.ParseDuration(f.interval)
		if err != nil || interval < time.Minute {
			return patch, &usageError{sentence: fmt.Sprintf("--interval %q is not a time of a minute or more, such as 15m or 2h", f.interval)}
		}
		patch.Interval = &interval
	}
	if given("readers") {
		patch.Readers = raw(list(f.readers))
	}
	if given("limits") {
		limits, err := f.values()
		if err != nil {
			return patch, err
		}
		patch.Limits = raw(limits)
	}
	if patch == (control.FolderPatch{}) {
		return patch, &usageError{sentence: "nothing to set: give --root, --title, --owner, --interval, --readers or --limits"}
	}
	return patch, nil
}

// values are the limits as JSON has them: numbers, and true or false for those that only allow something.
func (f folderSettings) values() (map[string]any, error) {
	limits := make(map[string]any, len(f.limits))
	for name, value := range f.limits {
		value = strings.TrimSpace(value)
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case err == nil && n >= 0:
			limits[name] = n
		case value == "true", value == "false":
			limits[name] = value == "true"
		default:
			return nil, &usageError{sentence: fmt.Sprintf("--limits %s=%s: the limit is neither a number nor true or false", out.Clean(name), out.Clean(value))}
		}
	}
	return limits, nil
}

// raw is v as JSON. Lists of words and maps of numbers and truths always have one.
func raw(v any) *json.RawMessage {
	encoded, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	message := json.RawMessage(encoded)
	return &message
}
