package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/starter/internal/out"
)

func (a *app) holdsCommand() *cobra.Command {
	return noun(&cobra.Command{
		Use: "holds", Short: "Decide about removals that wait for a person",
		Long: `A hold is a planned removal of pages that vanished from their source, too many at once to go without asking: a root was moved,
a mount was lost, or they were really deleted. Until you decide, readers go on seeing the pages.`,
		Example: `  starter holds list
  starter holds approve HOLD`,
	}, a.holdsListCommand(),
		a.holdDecision("approve", "Let the removal happen",
			"Remove the pages, after the source has confirmed once more that each of them is gone.",
			func(ctx context.Context, s *session, id string) (control.Answer, error) {
				return s.door.ApproveHold(ctx, id, a.actor)
			}),
		a.holdDecision("reject", "Keep the pages",
			"Keep the pages. None of them is proposed again until the source has shown it and lost it once more.",
			func(ctx context.Context, s *session, id string) (control.Answer, error) {
				return s.door.RejectHold(ctx, id, a.actor)
			}))
}

func (a *app) holdsListCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the holds",
		Long:    `List what waits for a decision. The answer is an array: hold_id, folder_id, pages, reason, created_at.`,
		Example: "  starter holds list\n  starter holds list --all --json",
		Args:    exactly(),
		RunE: a.connected(func(ctx context.Context, s *session, _ []string) error {
			holds, err := s.door.Holds(ctx, all)
			if err != nil {
				return err
			}
			return a.show(list(holds), func() { a.holds(holds) })
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "the decided ones too")
	return cmd
}

// shownHoldPages is how many titles show what a hold is about; the JSON has all.
const shownHoldPages = 10

func (a *app) holds(holds []knowledge.Hold) {
	if len(holds) == 0 {
		a.Hint("nothing waits for you")
		return
	}
	for i, hold := range holds {
		if i > 0 {
			a.Line("")
		}
		a.Line("%s  %s  %s", a.Strong(out.Clean(hold.HoldID)), out.Clean(hold.FolderID), a.painted(hold.State))
		a.Line("  %s, %s: %s", out.Plural(int64(len(hold.Pages)), "page"), a.Ago(&hold.CreatedAt), out.Clean(hold.Reason))
		for _, page := range hold.Pages[:min(len(hold.Pages), shownHoldPages)] {
			a.Line("  - %s", strings.TrimSpace(out.Clean(page.Title)+"  "+a.Faint(out.Clean(page.SourceID))))
		}
		if more := len(hold.Pages) - shownHoldPages; more > 0 {
			a.Line("  and %s more", out.Number(int64(more)))
		}
	}
	a.Hint("decide: starter holds approve HOLD, or starter holds reject HOLD")
}

func (a *app) holdDecision(verb, short, long string, decide func(context.Context, *session, string) (control.Answer, error)) *cobra.Command {
	return &cobra.Command{
		Use: verb + " HOLD", Short: short, Long: long,
		Example: fmt.Sprintf("  starter holds %s HOLD", verb),
		Args:    exactly(textArgument("HOLD")),
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			answer, err := decide(ctx, s, args[0])
			if err != nil {
				return err
			}
			return a.asked(answer, func() {
				line := fmt.Sprintf("%s the hold %s", pastOf(verb), a.Strong(out.Clean(args[0])))
				if answer.Pages != nil {
					line += ": " + out.Plural(*answer.Pages, "page")
				}
				a.Line("%s", line)
			})
		}),
	}
}

func pastOf(verb string) string {
	return map[string]string{"approve": "approved", "reject": "rejected"}[verb]
}
