package notiontest

import (
	"errors"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// RateLimit bounds the requests of each token, by the machine's clock. What is refused doesn't count against it.
type RateLimit struct {
	// Requests is how many may come within any span as long as Window; 0 switches the limit off.
	Requests int
	// Window is a minute when zero.
	Window time.Duration
	// Burst is how many may come within any second; 0 sets no such bound.
	Burst int
}

// FreePlan is the limit of workspaces that aren't on a business plan.
func FreePlan() RateLimit { return RateLimit{Requests: 180, Window: time.Minute} }

// limiter remembers when each token's requests came.
type limiter struct {
	mu    sync.Mutex
	limit RateLimit
	taken map[string][]time.Time
}

func newLimiter(limit RateLimit) *limiter {
	return &limiter{limit: limit, taken: make(map[string][]time.Time)}
}

// SetRateLimit changes the limit. What came before counts against the new one.
func (s *Server) SetRateLimit(limit RateLimit) {
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	s.limiter.limit = limit
}

// tooSoon says how long to wait.
type tooSoon struct{ wait time.Duration }

func (e *tooSoon) Error() string {
	return "too many requests; the next may come after " + e.wait.String()
}

// take counts a request; the error is a *tooSoon.
func (l *limiter) take(token string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.limit.Requests == 0 {
		return nil
	}
	window := l.limit.Window
	if window == 0 {
		window = time.Minute
	}
	now := time.Now()
	times := l.taken[token]
	for len(times) > 0 && now.Sub(times[0]) >= max(window, time.Second) {
		times = times[1:]
	}
	l.taken[token] = times
	wait := waitFor(times, now, l.limit.Requests, window)
	if l.limit.Burst > 0 {
		wait = max(wait, waitFor(times, now, l.limit.Burst, time.Second))
	}
	if wait > 0 {
		return &tooSoon{wait: wait}
	}
	l.taken[token] = append(times, now)
	return nil
}

// waitFor is how long it takes until fewer than n of the times lie within the window that ends now.
func waitFor(times []time.Time, now time.Time, n int, window time.Duration) time.Duration {
	if len(times) < n {
		return 0
	}
	return max(0, window-now.Sub(times[len(times)-n]))
}

// refuse answers a request that came too soon.
func (l *limiter) refuse(w http.ResponseWriter, err error) {
	var soon *tooSoon
	if !errors.As(err, &soon) {
		fail(w, err)
		return
	}
	seconds := strconv.Itoa(int(math.Ceil(soon.wait.Seconds())))
	w.Header().Set("Retry-After", seconds)
	fail(w, rateLimited("public_api_request_rate_limit", seconds))
}

// rateLimited is a 429 with its reason.
func rateLimited(reason, seconds string) error {
	err := &apiError{
		status: http.StatusTooManyRequests, code: "rate_limited",
		message:    "You have been rate limited. Please try again in a few minutes.",
		additional: Object{"rate_limit_reason": reason},
	}
	if seconds != "" {
		err.additional["retry_after"] = seconds
	}
	return err
}
