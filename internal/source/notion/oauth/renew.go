package oauth

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
)

const (
	// lookEvery is how often a waiter looks whether another process is done: about the time that Notion takes for an answer.
	lookEvery = 100 * time.Millisecond
	// firstRest and longestRest are the waits between two tries to store a pair.
	firstRest   = 50 * time.Millisecond
	longestRest = time.Second
	// releasePatience bounds the telling of the others that a renewal has ended: their wait ends without it too.
	releasePatience = 5 * time.Second
)

// lease is how long a claim lasts: an answer of the token endpoint, the storing of it, and some air.
func (t *Tokens) lease() time.Duration { return 2*t.patience + t.patience/4 }

// renewOnce has one renewal of a pair go on in this process, however many ask for it, and gives all of them its end. It outlives
// a caller that is cancelled: half a renewal would lose the tokens.
func (t *Tokens) renewOnce(ctx context.Context, old pair) (string, error) {
	done := t.flights.DoChan(old.Generation, func() (any, error) {
		// The longest wait is for the claim of a process that died, and then for a renewal of our own.
		alone, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*t.lease())
		defer cancel()
		return t.renew(alone, old)
	})
	select {
	case <-ctx.Done():
		return "", fmt.Errorf("wait for new tokens: %w", ctx.Err())
	case end := <-done:
		token, _ := end.Val.(string)
		return token, end.Err
	}
}

// renew makes this process the one that renews, or waits for the one that does.
func (t *Tokens) renew(ctx context.Context, old pair) (string, error) {
	if unsaved, have := t.unsavedOf(old.Generation); have {
		return t.keep(ctx, old, unsaved)
	}
	claim := uuid.NewString()
	for {
		claimed, inDoubt, err := t.ledger.ClaimOAuthRefresh(ctx, t.connection, old.Generation, claim, t.lease())
		if err != nil {
			return "", away("claim the renewal", err)
		}
		if claimed {
			return t.claimed(ctx, old, claim, inDoubt)
		}
		now, err := t.usable(ctx)
		if err != nil {
			return "", err
		}
		if now.Generation != old.Generation {
			return now.access, nil
		}
		if err := rest(ctx, lookEvery/2+rand.N(lookEvery)); err != nil { //nolint:gosec // a spread needs no secret
			return "", away("wait for another process to renew the tokens", err)
		}
	}
}

// claimed asks Notion for a new pair and stores it.
func (t *Tokens) claimed(ctx context.Context, old pair, claim string, inDoubt bool) (string, error) {
	if err := t.app.check(); err != nil {
		t.release(ctx, claim, false)
		return "", unusable(err)
	}
	token, err := t.sealer.open(old.Refresh, t.place(old.Generation, kindRefresh))
	if err != nil {
		t.release(ctx, claim, false)
		return "", t.unreadable(err)
	}
	asking, cancel := context.WithTimeout(ctx, t.patience)
	defer cancel()
	given, err := t.app.refresh(asking, token)
	switch {
	case refused(err):
		return t.refuse(ctx, old, claim, inDoubt, err)
	case err != nil:
		t.release(ctx, claim, unclear(err))
		return "", failure("renew the tokens", err)
	}
	if given.refresh == "" {
		// A server that names no new refresh token means the old one to stay.
		given.refresh = token
	}
	return t.keep(ctx, old, t.seal(given))
}

// refuse notes that the refresh token is dead, unless another process has better news.
func (t *Tokens) refuse(ctx context.Context, old pair, claim string, inDoubt bool, cause error) (string, error) {
	ours, err := t.ledger.RefuseOAuthRefresh(ctx, t.connection, claim)
	if err != nil {
		return "", away("note that the renewal was refused", err)
	}
	if !ours {
		now, err := t.usable(ctx)
		if err != nil {
			return "", err
		}
		if now.Generation != old.Generation {
			return now.access, nil
		}
		return "", away("renew the tokens", cause)
	}
	return "", t.dead(inDoubt, cause)
}

// release lets the next one try. Trouble with it is no worse than a wait: the claim ends by itself, and then counts as in doubt.
func (t *Tokens) release(ctx context.Context, claim string, inDoubt bool) {
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), releasePatience)
	defer cancel()
	_ = t.ledger.ReleaseOAuthRefresh(within, t.connection, claim, inDoubt)
}

// keep stores a new pair. Notion has forgotten the old one, so it doesn't give up easily; and what it couldn't store stays with
// this process, whose next request tries again.
func (t *Tokens) keep(ctx context.Context, old pair, renewed Sealed) (string, error) {
	t.hold(old.Generation, renewed)
	within, cancel := context.WithTimeout(ctx, t.patience)
	defer cancel()
	for pause := firstRest; ; pause = min(2*pause, longestRest) {
		kept, err := t.ledger.KeepOAuthRefresh(within, t.connection, old.Generation, renewed)
		if err == nil {
			t.drop(old.Generation)
			return t.stored(ctx, kept, renewed)
		}
		if rest(within, pause) != nil {
			return "", away("store the renewed tokens", err)
		}
	}
}

// stored gives the access token that holds now: ours, or that of whoever replaced the pair before us.
func (t *Tokens) stored(ctx context.Context, kept bool, renewed Sealed) (string, error) {
	if !kept {
		now, err := t.usable(ctx)
		return now.access, err
	}
	access, err := t.sealer.open(renewed.Access, t.place(renewed.Generation, kindAccess))
	if err != nil {
		return "", errors.Join(errTampered, err)
	}
	return access, nil
}

func (t *Tokens) hold(generation string, renewed Sealed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unsaved[generation] = renewed
}

func (t *Tokens) drop(generation string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.unsaved, generation)
}

func (t *Tokens) unsavedOf(generation string) (Sealed, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	sealed, have := t.unsaved[generation]
	return sealed, have
}

// holds tells whether this process has a newer pair than the stored one.
func (t *Tokens) holds(generation string) bool {
	_, have := t.unsavedOf(generation)
	return have
}

// rest waits, or gives the context's error.
func rest(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
