package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/starter/internal/out"
)

func (a *app) connectionWebhookCommand() *cobra.Command {
	var forget bool
	cmd := &cobra.Command{
		Use: "webhook NAME", Short: "Show how far the webhooks of a connection are set up",
		Long: `Sources that call when something changes are read within seconds; without calls the syncs find it.

Of Notion: when a subscription is made there, Notion sends a verification token, which is kept for the connection. This shows it,
once, to be pasted into Notion's settings; events are signed with it from then on. --forget drops it, so that another one is
accepted. The state is none, waiting, confirmed, or setting.

Of Google Drive: loresync opens a channel on each change log that a folder needs, and renews it; LORESYNC_PUBLIC_URL must be set
to the gateway's https address. The state is off, none, opening, waiting, active or failing.

The answer: connection, source, state, advice, received_at, shown_at, confirmed_at, channels, and once verification_token.`,
		Example: `  starter connection webhook notion
  starter connection webhook notion --forget
  starter connection webhook gdrive`,
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
	a.channelsTable(info.Channels)
	switch {
	case info.Token != "":
		a.Line("verification token, shown this once: %s", info.Token)
		a.Hint("paste it into the subscription's settings in Notion")
	case info.State == "none" && info.Advice == "":
		a.Hint("make a subscription in Notion for the address /webhooks/notion of the gateway")
	case info.State == "waiting" && info.Advice == "":
		a.Hint("the token was shown already: have Notion send it again, or drop it with --forget")
	}
	if info.Advice != "" {
		a.Hint("%s", out.Clean(info.Advice))
	}
}

// channelsTable shows a line for each change log that is watched.
func (a *app) channelsTable(channels []knowledge.Watch) {
	if len(channels) == 0 {
		return
	}
	table := out.NewTable("LOG", "CHANNEL", "ENDS", "LAST CALL", "FAILURES>", "NOTE~")
	for _, c := range channels {
		ends := "-"
		if c.ExpiresAt != nil {
			ends = a.Ago(c.ExpiresAt)
		}
		table.Add(out.Plain(c.Log), paintStatus(c.State), out.Plain(ends), out.Plain(a.Ago(c.HeardAt)), out.Plain(out.Number(int64(c.Failures))),
			out.Plain(c.Sentence))
	}
	a.Table(table)
}
