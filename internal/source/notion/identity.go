package notion

import (
	"context"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source/transport"
)

// Identity names the integration that the token belongs to, and its workspace: "Handbook bot (Acme)". It takes one request, also while
// the connection is paused, and errs with a *source.Failure.
func (s *Source) Identity(ctx context.Context) (string, error) {
	user, err := s.client.me(transport.WithAttempt(ctx, transport.Attempt{Lane: knowledge.LanePerson, Check: true}))
	if err != nil {
		return "", failure(err)
	}
	name := user.Name
	if name == "" {
		name = string(user.ID)
	}
	if user.Bot != nil && user.Bot.WorkspaceName != "" {
		name += " (" + user.Bot.WorkspaceName + ")"
	}
	return name, nil
}
