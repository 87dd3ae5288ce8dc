package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/starter/internal/out"
)

func (a *app) connectionCommand() *cobra.Command {
	return noun(&cobra.Command{
		Use: "connection", Short: "Manage the accounts that sources are read by",
		Long: `A connection is the credentials for one vendor account, kept by reference: the secret itself stays in a file or variable.
One of Notion may be authorized instead: a person consents at Notion, and the tokens are kept encrypted.
The default connections files, notion and gdrive are always there.

The answer is a connection (of list: an array): name, source, state (active, paused or not_configured), reason (why it is paused,
or what to set), since and, once a worker has used some, credentials: whose they are (identity, which "starter connection check"
asks for), a key that tells one secret from another, their origin, and since when the workers use them.`,
		Example: `  starter connection list
  starter connection check notion`,
	}, a.connectionAddCommand(), a.connectionAuthorizeCommand(), a.connectionListCommand(), a.connectionCheckCommand(), a.connectionWebhookCommand(),
		a.connectionSwitch("pause", "Stop the syncs of all folders of a connection for now",
			func(ctx context.Context, s *session, name string) (control.Connection, error) {
				return s.door.PauseConnection(ctx, name, a.actor)
			}),
		a.connectionResumeCommand())
}

func (a *app) connectionAddCommand() *cobra.Command {
	var spec control.ConnectionSpec
	cmd := &cobra.Command{
		Use: "add NAME --source files|notion|gdrive --secret REF", Short: "Add a connection",
		Long: `Add a connection under a name of your own. REF says where the worker finds the secret, which is never stored itself:
env:VARIABLE or file:/path. A connection of files needs none. One of gdrive takes the JSON key of a service account, or the
"authorized user" file that gcloud writes for a person.`,
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
	cmd.Flags().StringVar(&spec.Subject, "subject", "", "gdrive: the user as whom a service account with domain-wide delegation reads")
	complete(cmd, "source", sources)
	return cmd
}

func (a *app) connectionAuthorizeCommand() *cobra.Command {
	var code string
	cmd := &cobra.Command{
		Use: "authorize NAME [--code -]", Short: "Let a person's consent at Notion give a connection its tokens",
		Long: `Without --code, print the address at Notion at which a person consents. Notion then leads back to this deployment's address
(LORESYNC_PUBLIC_URL) with a code. With --code, exchange it: give the code, or the whole address that Notion led back to; with
- it is read from stdin, so that no shell remembers it. The tokens are kept encrypted with LORESYNC_SECRET_KEY and renewed by
themselves. The connection needs no --secret; authorizing it again replaces its tokens.

The answer is an authorization: connection, url, redirect_uri, expires_at; with --code a connection: name, source, state,
reason, account.`,
		Example: "  starter connection authorize notion",
		Args:    exactly(connectionArgument()), DisableFlagsInUseLine: true,
	}
	cmd.RunE = a.connected(func(ctx context.Context, s *session, args []string) error {
		if cmd.Flags().Changed("code") {
			return a.finishAuthorization(ctx, s, args[0], code)
		}
		return a.beginAuthorization(ctx, s, args[0])
	})
	cmd.Flags().StringVar(&code, "code", "", "what Notion led back with: the code or the whole address; - reads it from stdin")
	return cmd
}

func (a *app) beginAuthorization(ctx context.Context, s *session, name string) error {
	begun, err := s.door.BeginAuthorization(ctx, name)
	if err != nil {
		return err
	}
	return a.show(begun, func() {
		a.Line("%s", out.Clean(begun.URL))
		a.Hint("open it before %s; Notion leads back to %s, which its settings must name", begun.ExpiresAt.UTC().Format("15:04 UTC"), out.Clean(begun.RedirectURI))
		a.Hint("then give the address that it led to: starter connection authorize %s --code -", name)
	})
}

func (a *app) finishAuthorization(ctx context.Context, s *session, name, code string) error {
	if code == "-" {
		if a.Terminals.In {
			fmt.Fprint(a.Messages(), "The code, or the address that Notion led back to: ")
		}
		var err error
		if code, err = a.readLine(ctx); err != nil {
			return err
		}
	}
	consent, err := consentOf(name, code)
	if err != nil {
		return err
	}
	authorized, err := s.door.FinishAuthorization(ctx, consent, a.actor)
	if err != nil {
		return err
	}
	return a.show(authorized, func() {
		a.Line("authorized connection %s for %s; it is %s", a.Strong(authorized.Name), a.Strong(out.Clean(authorized.Account)), a.painted(authorized.State))
		a.Hint("look what it reaches: starter connection check %s", authorized.Name)
	})
}

// consentOf reads a code, or the address that Notion led back to. Its errors don't repeat what was given.
func consentOf(name, given string) (control.Consent, error) {
	given = strings.TrimSpace(given)
	if given == "" {
		return control.Consent{}, &usageError{sentence: "no code was given"}
	}
	if !strings.HasPrefix(given, "http://") && !strings.HasPrefix(given, "https://") {
		return control.Consent{Connection: name, Code: given}, nil
	}
	address, err := url.Parse(given)
	if err != nil {
		return control.Consent{}, &usageError{sentence: "the address is not whole: copy all of it"}
	}
	query := address.Query()
	if query.Get("error") != "" {
		return control.Consent{}, &endedError{code: exitRefused, sentence: "Notion led back without a code: nobody consented. Open the address again"}
	}
	if query.Get("code") == "" || query.Get("state") == "" {
		return control.Consent{}, &usageError{sentence: "the address has no code and state: give the one that Notion led back to, whole"}
	}
	return control.Consent{Connection: name, Code: query.Get("code"), State: query.Get("state")}, nil
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
		Long: `List the connections with their state. One that is not_configured lacks its credentials, and the reason says what to set; that is
no fault while no folder uses it. The answer is an array.`,
		Example: "  starter connection list",
		Args:    exactly(),
		RunE: a.connected(func(ctx context.Context, s *session, _ []string) error {
			connections, err := s.door.Connections(ctx)
			if err != nil {
				return err
			}
			return a.show(list(connections), func() {
				a.connectionsTable(connections)
			})
		}),
	}
}

func (a *app) connectionsTable(connections []control.Connection) {
	table := out.NewTable("NAME", "SOURCE", "STATE", "SINCE", "REASON~")
	for _, c := range connections {
		since := ""
		if c.Since != nil {
			since = a.Ago(c.Since)
		}
		table.Add(out.Plain(c.Name), out.Plain(c.Source), paintStatus(c.State), out.Plain(since), out.Plain(c.Reason))
	}
	a.Table(table)
	for _, c := range connections {
		if c.Credentials != nil {
			a.Line("the workers read %s as %s", a.Strong(out.Clean(c.Name)), out.Clean(a.credentials(c.Credentials)))
		}
	}
}

// credentials say whose they are, which, and since when.
func (a *app) credentials(c *control.Credentials) string {
	words := []string{}
	if c.Identity != "" {
		words = append(words, c.Identity)
	}
	if c.Key != "" {
		words = append(words, "key "+c.Key)
	}
	line := strings.Join(append(words, "from "+c.Origin), ", ")
	if c.Since != nil {
		line += ", since " + a.Ago(c.Since)
	}
	return line
}

func (a *app) connectionCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check NAME", Short: "Look what a connection reaches, now",
		Long: `Ask the source for the root of each folder of the connection, and whose the credentials are; it is said too when the workers use
others. The answer is an array: folder, root, ok, sentence. The exit code is 1 when a root can't be read.`,
		Example: "  starter connection check notion",
		Args:    exactly(connectionArgument()),
		RunE: a.connected(func(ctx context.Context, s *session, args []string) error {
			checks, err := s.door.CheckConnection(ctx, args[0])
			if err != nil {
				return err
			}
			keys, err := s.door.CheckCredentials(ctx, args[0])
			if err != nil {
				return err
			}
			if err := a.show(list(checks), func() { a.checksTable(args[0], checks) }); err != nil {
				return err
			}
			a.keysHint(keys)
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

// keysHint says whose the credentials of this process are, and whether the workers use others.
func (a *app) keysHint(keys control.CredentialsCheck) {
	if keys.Trouble != "" {
		a.Hint("whose credentials these are can't be told: %s", out.Clean(keys.Trouble))
	}
	if keys.Here == nil {
		return
	}
	a.Hint("the credentials here: %s", out.Clean(a.credentials(keys.Here)))
	switch {
	case keys.Used == nil:
		a.Hint("no worker has used any yet")
	case keys.Used.Key == keys.Here.Key:
		a.Hint("the workers use the same, since %s", a.Ago(keys.Used.Since))
	default:
		a.Hint("the workers use others: %s. Restart them where they are to use these", out.Clean(a.credentials(keys.Used)))
	}
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

func (a *app) connectionResumeCommand() *cobra.Command {
	var force bool
	cmd := a.connectionSwitch("resume", "Let a paused connection be used again",
		func(ctx context.Context, s *session, name string) (control.Connection, error) {
			if force {
				return s.door.ForceConnection(ctx, name, a.actor)
			}
			return s.door.ResumeConnection(ctx, name, a.actor)
		})
	cmd.Long += " The source is asked\nfirst, with one request: while it refuses the credentials the connection stays paused, and the exit code is 4."
	cmd.Flags().BoolVar(&force, "force", false, "resume without asking the source")
	return cmd
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
