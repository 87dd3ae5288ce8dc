package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/control"
)

func (a *app) connectionWebhookCommand() *cobra.Command {
	var forget bool
	cmd := &cobra.Command{
		Use: "webhook NAME", Short: "Show how far the webhooks of a connection are set up",
		Long: `When a subscription is made in Notion, Notion sends a verification token, which is kept for the connection. This shows it,
once, to be pasted into Notion's settings; events are signed with it from then on. --forget drops it, so that another one is
accepted.

The answer: connection, state (none, waiting, confirmed), received_at, shown_at, confirmed_at, and once verification_token.`,
		Example: `  starter connection webhook notion
  starter connection webhook notion --forget`,
		Args: exactly(connectionArgument()),
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			ask := s.door.Webhook
			if forget {
				ask = s.door.ForgetWebhook
			}
			info, err := ask(ctx, args[0], a.actor)
			if err != nil {
				return err
			}
			return a.show(info, func() { a.webhook(info) })
		}),
	}
	cmd.Flags().BoolVar(&forget, "forget", false, "drop the token, so that the next verification is accepted")
	return cmd
}

func (a *app) webhook(info control.WebhookInfo) {
	a.Line("webhooks of connection %s: %s", a.Strong(info.Connection), a.painted(info.State))
	switch {
	case info.Token != "":
		a.Line("verification token, shown this once: %s", info.Token)
		a.Hint("paste it into the subscription's settings in Notion")
	case info.State == "none":
		a.Hint("make a subscription in Notion for the address /webhooks/notion of the gateway")
	case info.State == "waiting":
		a.Hint("the token was shown already: have Notion send it again, or drop it with --forget")
	}
}
