package transport

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"
)

// statusOverloaded is what Notion answers instead of 429 when all of its service has too much to do.
const statusOverloaded = 529

// blockPatience is how long a request that was told to wait tries to tell the others.
const blockPatience = 10 * time.Second

// judge looks at one try: true to make another, once it may be made; false to hand the answer on; or the error to hand up.
func (r *round) judge(ctx context.Context, a *answer, failed error) (bool, error) {
	switch {
	case failed != nil:
		return r.again(ctx, 0, failed)
	case a.response.StatusCode < http.StatusBadRequest:
		return false, nil
	case a.verdict.Treat == TreatAsFinal:
		return false, a.statusError(time.Now())
	case a.verdict.Treat == TreatAsRateLimit, a.response.StatusCode == http.StatusTooManyRequests, a.response.StatusCode == statusOverloaded:
		return r.limited(ctx, a.statusError(time.Now()))
	case a.response.StatusCode < http.StatusInternalServerError && a.response.StatusCode != http.StatusConflict:
		return false, nil
	case a.response.StatusCode == http.StatusConflict:
		return r.conflict(ctx, a)
	case passing(a.response.StatusCode):
		refused := a.statusError(time.Now())
		return r.again(ctx, refused.RetryAfter, refused)
	}
	return false, a.statusError(time.Now())
}

// conflict tries a read again that met a change; as a refusal it is the caller's.
func (r *round) conflict(ctx context.Context, a *answer) (bool, error) {
	refused := a.statusError(time.Now())
	again, err := r.again(ctx, refused.RetryAfter, refused)
	if errors.Is(err, refused) {
		return false, nil
	}
	return again, err
}

// passing are the statuses that a later try may not meet: the server's own trouble, a gateway's, or that of the network's edge.
func passing(status int) bool {
	switch status {
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return status >= 520 && status <= 527
}

// limited moves the whole budget, so that no other process runs into the same limit, and has the next try wait for it.
func (r *round) limited(ctx context.Context, refused *StatusError) (bool, error) {
	rest := refused.RetryAfter
	if rest == 0 {
		rest = r.backoff()
	}
	if err := r.block(ctx, rest); err != nil {
		return false, err
	}
	if rest > r.config.Patience || r.exhausted(rest) {
		return false, rateLimited(rest, refused)
	}
	if r.config.Budget == nil {
		return true, sleep(ctx, rest)
	}
	return true, nil // the next slot comes after the rest
}

// block moves the budget, even for a caller that has gone: the vendor's wish holds for all the others.
func (r *round) block(ctx context.Context, rest time.Duration) error {
	if r.config.Budget == nil {
		return nil
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), blockPatience)
	defer cancel()
	if err := r.config.Budget.Block(within, r.config.Connection, rest); err != nil {
		return rateLimited(rest, fmt.Errorf("move the budget: %w", err))
	}
	return nil
}

// again waits before another try of a read, at least for what the server asked for; otherwise it hands the error up.
func (r *round) again(ctx context.Context, asked time.Duration, failed error) (bool, error) {
	rest := max(asked, r.backoff())
	if !r.read || asked > r.config.Patience || r.exhausted(rest) {
		return false, failed
	}
	if err := sleep(ctx, rest); err != nil {
		return false, err
	}
	return true, nil
}

// exhausted reports that no further try is to be made after that rest.
func (r *round) exhausted(rest time.Duration) bool {
	return r.retries >= r.config.Retries || time.Since(r.began)+rest > r.config.Total
}

// backoff is the wait before the next try where the vendor named none.
func (r *round) backoff() time.Duration {
	return jittered(min(r.config.Backoff<<min(r.retries, 20), r.config.MaxBackoff))
}

// jittered spreads a wait over its half to its whole, so that those who failed together don't come back together.
func jittered(d time.Duration) time.Duration {
	return d/2 + rand.N(d/2+1) //nolint:gosec // a spread needs no secret
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
