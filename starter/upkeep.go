package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/starter/internal/out"
)

func (a *app) fsckCommand() *cobra.Command {
	var options control.FsckOptions
	cmd := &cobra.Command{
		Use: "fsck", Short: "Find drift and leftovers, and mend them",
		Long: `Compare what should be with what is: leftovers of ended syncs, deletes that were never finished, pages that no run accounts
for. With --against-source each active folder is listed too, without changing anything.

The answer is an array of differences: kind, folder_id, page_id, sentence, repaired, next_step. The exit code is 1 while one is
left. --repair mends what can be mended at once; next_step says what to do about the others.`,
		Example: `  starter fsck
  starter fsck --repair
  starter fsck --against-source
  starter fsck --after-restore --repair`,
		Args: exactly(),
		RunE: a.connected(func(ctx context.Context, s *session, _ []string) error {
			differences, err := s.door.Fsck(ctx, options)
			if err != nil {
				return err
			}
			if err := a.show(list(differences), func() { a.differences(differences) }); err != nil {
				return err
			}
			return a.endOfFsck(differences)
		}),
	}
	cmd.Flags().BoolVar(&options.Repair, "repair", false, "mend what can be mended")
	cmd.Flags().BoolVar(&options.AgainstSource, "against-source", false, "list the sources of the active folders too, and compare")
	cmd.Flags().BoolVar(&options.AfterRestore, "after-restore", false,
		"the database was restored from a backup: syncs that ran before can't publish any more")
	return cmd
}

func (a *app) differences(differences []control.Difference) {
	if len(differences) == 0 {
		a.Line("%s", a.painted("clean"))
		return
	}
	table := out.NewTable("KIND", "FOLDER", "PAGE~", "MENDED", "WHAT~")
	for _, d := range differences {
		mended := paintStatus("failed")
		mended.Text = "no"
		if d.Repaired {
			mended = paintStatus("ok")
			mended.Text = "yes"
		}
		table.Add(out.Plain(d.Kind), out.Plain(d.FolderID), out.Plain(d.PageID), mended, out.Plain(d.Sentence))
	}
	a.Table(table)
}

// nextSteps tells each piece of advice once, with the folders that it is about.
func (a *app) nextSteps(differences []control.Difference) {
	folders := map[string][]string{}
	var steps []string
	for _, d := range differences {
		if d.NextStep == "" || d.Repaired {
			continue
		}
		about, known := folders[d.NextStep]
		if !known {
			steps = append(steps, d.NextStep)
		}
		if d.FolderID != "" && !slices.Contains(about, d.FolderID) {
			about = append(about, d.FolderID)
		}
		folders[d.NextStep] = about
	}
	for _, step := range steps {
		about := out.Listing(folders[step])
		if about != "" {
			about += ": "
		}
		a.Hint("%s%s", about, step)
	}
}

func (a *app) endOfFsck(differences []control.Difference) error {
	var left int64
	for _, d := range differences {
		if !d.Repaired {
			left++
		}
	}
	if left == 0 {
		return nil
	}
	a.nextSteps(differences)
	return &endedError{code: exitFailed, sentence: out.Plural(left, "difference") + " left"}
}

func (a *app) janitorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "janitor", Short: "Clean up now",
		Long: `Start the janitor, or join the one that is running: it starts deletes that a crash kept from starting, removes what ended
syncs left, and erases what may not be restored any more. It runs by itself as well.`,
		Example: "  starter janitor",
		Args:    exactly(),
		RunE: a.connected(func(ctx context.Context, s *session, _ []string) error {
			answer, err := s.door.Janitor(ctx, a.actor)
			if err != nil {
				return err
			}
			return a.acted(answer, func() {
				if answer.Joined {
					a.Line("the janitor is at work already")
					return
				}
				a.Line("the janitor has started")
			})
		}),
	}
}

type maintenanceAnswer struct {
	Maintenance bool `json:"maintenance"`
}

func (a *app) maintenanceCommand() *cobra.Command {
	return noun(&cobra.Command{
		Use: "maintenance", Short: "Stop all starts, or allow them again",
		Long: `In maintenance no sync starts anywhere, as is wanted while a backup is restored or servers move; what runs goes on, and readers
and search are served. The answer is maintenance.`,
		Example: "  starter maintenance on\n  starter maintenance off",
	}, a.maintenanceSwitch("on", "Stop all starts", true), a.maintenanceSwitch("off", "Allow starts again", false))
}

func (a *app) maintenanceSwitch(word, short string, on bool) *cobra.Command {
	return &cobra.Command{
		Use: word, Short: short, Long: short + ", in the whole deployment.", Example: "  starter maintenance " + word,
		Args: exactly(),
		RunE: a.connected(func(ctx context.Context, s *session, _ []string) error {
			if err := s.door.SetMaintenance(ctx, on, a.actor); err != nil {
				return err
			}
			return a.show(maintenanceAnswer{Maintenance: on}, func() {
				a.Line("maintenance is %s", a.Strong(word))
				if on {
					a.Hint("allow starts again: starter maintenance off")
				}
			})
		}),
	}
}
