package transport

import (
	"context"

	"github.com/loresync/loresync/internal/knowledge"
)

// Attempt says on whose behalf a request is sent. The budget looks at it at every slot.
type Attempt struct {
	// Folder is empty for requests that serve none.
	Folder string
	// Page and Token name the in-flight row of a page sync; both are empty outside one.
	Page, Token string
	// Lane is the urgency; where there is a token, the in-flight row's present lane goes before it.
	Lane knowledge.Lane
	// Check marks a request that finds out whether a connection or a root works: it is sent even while the connection is paused,
	// or before the folder is there.
	Check bool
}

// Holder names the in-flight row.
func (a Attempt) Holder() knowledge.Holder {
	return knowledge.Holder{Folder: a.Folder, Page: a.Page, Token: a.Token}
}

type attemptKey struct{}

// WithAttempt notes in a context who asks.
func WithAttempt(ctx context.Context, a Attempt) context.Context {
	return context.WithValue(ctx, attemptKey{}, a)
}

// AttemptFrom gives what WithAttempt noted; false without it.
func AttemptFrom(ctx context.Context) (Attempt, bool) {
	a, ok := ctx.Value(attemptKey{}).(Attempt)
	return a, ok
}

// attemptOf is who asks; someone who didn't say is the least urgent.
func attemptOf(ctx context.Context) Attempt {
	if a, ok := AttemptFrom(ctx); ok {
		return a
	}
	return Attempt{Lane: knowledge.LaneBackfill}
}
