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
  starter holds show HOLD
  starter holds approve HOLD`,
	}, a.holdsListCommand(), a.holdsShowCommand(),
		a.holdsApproveCommand(),
		a.holdDecision("reject", "Keep the pages",
			"Keep the pages of a hold (its id stands in \"starter holds list\"). None of them is proposed again until the source has\n"+
				"shown it and lost it once more.",
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
			a.Line("  - %s", out.Title(page.Title)+"  "+a.Faint(out.Clean(page.SourceID)))
		}
		if more := len(hold.Pages) - shownHoldPages; more > 0 {
			a.Line("  and %s more", out.Number(int64(more)))
		}
	}
	a.Hint("look closer: starter holds show HOLD; decide: starter holds approve HOLD, or starter holds reject HOLD")
}

func (a *app) holdsShowCommand() *cobra.Command {
	return &cobra.Command{
		Use: "show HOLD", Short: "Show one hold with the evidence for each page",
		Long: `Show why a hold waits, and for each of its pages what speaks for its being gone. A decided hold shows the pages that are still
there.

The answer is a hold: hold_id, folder_id, reason, state, created_at, decided_at, decided_by, removed and kept (of an approved
one, once all of its pages were looked at), and pages, an array of page_id, source_id, title, url, unseen_since, strikes,
evidence.`,
		Example: "  starter holds show HOLD",
		Args:    exactly(textArgument("HOLD")),
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			hold, err := s.door.Hold(ctx, args[0])
			if err != nil {
				return err
			}
			return a.show(hold, func() { a.hold(hold) })
		}),
	}
}

func (a *app) hold(hold control.HoldDetail) {
	pairs := []out.Pair{
		{Name: "hold", Value: out.Plain(hold.HoldID)},
		{Name: "of folder", Value: out.Plain(hold.FolderID)},
		{Name: "state", Value: paintStatus(hold.State)},
		{Name: "reason", Value: out.Plain(hold.Reason)},
		{Name: "since", Value: out.Plain(a.Ago(&hold.CreatedAt))},
	}
	if hold.DecidedAt != nil {
		pairs = append(pairs, out.Pair{Name: "decided", Value: out.Plain(strings.TrimSpace(a.Ago(hold.DecidedAt) + " " + hold.DecidedBy))})
	}
	if hold.Removed != nil {
		pairs = append(pairs, out.Pair{Name: "outcome", Value: out.Plain(outcomeOf(hold.HoldOutcome))})
	}
	a.Pairs(pairs)
	if len(hold.Pages) > 0 {
		a.Line("")
		table := out.NewTable("TITLE~", "PAGE~", "EVIDENCE~")
		for _, page := range hold.Pages {
			table.Add(out.Plain(out.Title(page.Title)), out.Plain(page.SourceID), out.Plain(page.Evidence))
		}
		a.Table(table)
	}
	if hold.State == "open" {
		a.Hint("decide: starter holds approve %s, or starter holds reject %s", hold.HoldID, hold.HoldID)
	}
}

func (a *app) holdsApproveCommand() *cobra.Command {
	var wait bool
	cmd := a.holdDecision("approve", "Let the removal happen",
		"Remove the pages of a hold (its id stands in \"starter holds list\"), after the source has confirmed once more that each of them\n"+
			"is gone. Those that came back meanwhile are left. With --wait the command returns when all were looked at, and tells how many\n"+
			"were removed and how many were kept; \"starter holds show\" tells it later.",
		func(ctx context.Context, s *session, id string) (control.Answer, error) {
			answer, err := s.door.ApproveHold(ctx, id, a.actor)
			if err != nil || !wait {
				return answer, err
			}
			return a.await(ctx, answer, waiting{
				what: "removing the pages of " + id, goesOn: "the removal goes on; see what came of it: starter holds show " + id, wait: s.door.Wait,
			})
		})
	cmd.Flags().BoolVar(&wait, "wait", false, "wait until all pages were looked at once more")
	return cmd
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
				a.decided(answer, verb, args[0])
			})
		}),
	}
}

func (a *app) decided(answer control.Answer, verb, hold string) {
	if answer.Removed != nil {
		a.Line("approved the hold %s: %s", a.Strong(out.Clean(hold)), outcomeOf(answer.HoldOutcome))
		return
	}
	if answer.Joined && answer.AcceptedAt != nil {
		a.Line("the hold %s was %s already: %s, by %s", a.Strong(out.Clean(hold)), pastOf(verb), a.Ago(answer.AcceptedAt),
			out.Or(out.Clean(answer.AcceptedBy), "a person"))
		return
	}
	line := fmt.Sprintf("%s the hold %s", pastOf(verb), a.Strong(out.Clean(hold)))
	if answer.Pages != nil {
		line += ": " + out.Plural(*answer.Pages, "page")
	}
	if verb == "approve" {
		a.Line("%s, of which those go that their source, asked once more, doesn't have", line)
		a.Hint("what came of it: starter holds show %s", out.Clean(hold))
		return
	}
	a.Line("%s", line)
}

// outcomeOf says what became of the pages of an approved hold.
func outcomeOf(outcome knowledge.HoldOutcome) string {
	words := out.Plural(*outcome.Removed, "page") + " removed"
	if outcome.Kept != nil && *outcome.Kept > 0 {
		words += "; " + out.Plural(*outcome.Kept, "page") + " left, since the source has them again or couldn't tell"
	}
	return words
}

func pastOf(verb string) string {
	return map[string]string{"approve": "approved", "reject": "rejected"}[verb]
}
