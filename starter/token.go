package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/access"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/starter/internal/out"
)

func (a *app) tokenCommand() *cobra.Command {
	return noun(&cobra.Command{
		Use: "token", Short: "Manage the tokens of the HTTP API",
		Long: `A token lets a program use the gateway's HTTP API (/api/v1), as far as its role goes; each role includes those before it:

  viewer    reads pages, runs, states and counts
  operator  syncs, cancels, retries, deletes and restores pages, decides about holds, pauses folders
  admin     adds, changes and deletes folders, pauses connections, sets the schedule

The token itself is shown once, when it is made: loresync keeps a hash of it. Keep it where secrets are kept.

The answer is a token (of list: an array): token_id, name, role, folders, state (active, expired or revoked), created_at,
created_by, last_used_at, expires_at, …; of add: secret, the token itself.`,
		Example: `  starter token add ci --role operator --expires 90d
  starter token list`,
	}, a.tokenAddCommand(), a.tokenListCommand(), a.tokenRevokeCommand())
}

func (a *app) tokenAddCommand() *cobra.Command {
	var spec control.TokenSpec
	var expires string
	cmd := &cobra.Command{
		Use: "add NAME --role viewer|operator|admin", Short: "Make a token",
		Long: `Make a token under a name of your own, which records call its bearer by. With --folder (as often as you like) it reaches
these folders only, and no other seems to be there. It counts until it expires or is revoked.`,
		Example: `  starter token add helpdesk --role viewer --folder handbook
  starter token add ci --role operator --expires 90d --json`,
		Args: exactly(textArgument("NAME")), DisableFlagsInUseLine: true,
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if spec.Role == "" {
				return &usageError{sentence: "missing --role: one of " + strings.Join(access.RoleNames(), ", ")}
			}
			for _, folder := range spec.Folders {
				if err := ids.CheckFolder(folder); err != nil {
					return &usageError{sentence: err.Error()}
				}
			}
			if cmd.Flags().Changed("expires") {
				var err error
				if spec.Life, err = life(expires); err != nil {
					return err
				}
			}
			return oneOf("role", spec.Role, access.RoleNames())
		},
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			spec.Name = args[0]
			token, err := s.door.AddToken(ctx, spec, a.actor)
			if err != nil {
				return err
			}
			return a.show(token, func() {
				a.Line("%s", token.Secret)
				a.Hint("this is the token %s, shown this once: keep it where secrets are kept", token.Name)
				a.Hint(`use it: curl -H "Authorization: Bearer …" GATEWAY/api/v1/folders`)
			})
		}),
	}
	cmd.Flags().StringVar(&spec.Role, "role", "", "what it may do: viewer, operator or admin")
	cmd.Flags().StringArrayVar(&spec.Folders, "folder", nil, "a folder that it reaches; leave it out for all")
	cmd.Flags().StringVar(&expires, "expires", "", "how long it counts: 90d, 12h (default: until it is revoked)")
	complete(cmd, "role", access.RoleNames())
	return cmd
}

// life reads how long a token counts: days, or whatever Go calls a duration.
func life(text string) (time.Duration, error) {
	wrong := &usageError{sentence: fmt.Sprintf("--expires %q is not a time such as 90d or 12h", out.Clean(text))}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 1 || n > 366 {
			return 0, wrong
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, wrong
	}
	return d, nil
}

func (a *app) tokenListCommand() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the tokens",
		Long:    `List all tokens, those that count no more too, without their secrets. The answer is an array.`,
		Example: "  starter token list",
		Args:    exactly(),
		RunE: a.connected(func(ctx context.Context, s *session, _ []string) error {
			tokens, err := s.door.Tokens(ctx)
			if err != nil {
				return err
			}
			return a.show(list(tokens), func() { a.tokensTable(tokens) })
		}),
	}
}

func (a *app) tokensTable(tokens []control.Token) {
	if len(tokens) == 0 {
		a.Hint("no token yet: starter token add NAME --role viewer")
		return
	}
	table := out.NewTable("TOKEN", "NAME", "ROLE", "FOLDERS~", "STATE", "LAST USED", "EXPIRES", "BY~")
	for _, t := range tokens {
		folders, expires := "all", "never"
		if len(t.Folders) > 0 {
			folders = out.Listing(t.Folders)
		}
		if t.ExpiresAt != nil {
			expires = a.Ago(t.ExpiresAt)
		}
		table.Add(out.Plain(t.ID), out.Plain(t.Name), out.Plain(t.Role), out.Plain(folders), paintStatus(t.State), out.Plain(a.Ago(t.LastUsedAt)),
			out.Plain(expires), out.Plain(t.CreatedBy))
	}
	a.Table(table)
}

func (a *app) tokenRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use: "revoke TOKEN", Short: "Make a token count no more",
		Long:    `Make a token, named by its name or id, count no more: from now on it opens nothing, and what it follows ends within seconds.`,
		Example: "  starter token revoke ci",
		Args:    exactly(textArgument("TOKEN")),
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			token, err := s.door.RevokeToken(ctx, args[0], a.actor)
			if err != nil {
				return err
			}
			return a.show(token, func() { a.Line("token %s is %s", a.Strong(token.Name), a.painted(token.State)) })
		}),
	}
}
