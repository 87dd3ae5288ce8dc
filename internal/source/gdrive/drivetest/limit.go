package drivetest

import (
	"slices"
	"sync"
	"time"
)

// RateLimit bounds requests by the machine's clock. What is refused doesn't count against it.
type RateLimit struct {
	// Requests is how many of one user may come within any span as long as Window; 0 sets no such bound.
	Requests int
	// Project is the same for all users together.
	Project int
	// Window is a second when zero.
	Window time.Duration
	// TooMany answers 429 with Retry-After in place of Drive's usual 403, which doesn't say how long to wait.
	TooMany bool
}

// limiter remembers when requests came.
type limiter struct {
	mu    sync.Mutex
	limit RateLimit
	taken map[string][]time.Time
}

func newLimiter(limit RateLimit) *limiter {
	return &limiter{limit: limit, taken: map[string][]time.Time{}}
}

// SetRateLimit changes the limit. What came before counts against the new one.
func (s *Server) SetRateLimit(limit RateLimit) {
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	s.limiter.limit = limit
}

// take counts a request of a user, or refuses it.
func (l *limiter) take(email string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.limit.Requests == 0 && l.limit.Project == 0 {
		return nil
	}
	window := l.limit.Window
	if window == 0 {
		window = time.Second
	}
	now := time.Now()
	// No user has an empty address, so it can count the project.
	for name := range l.taken {
		l.taken[name] = slices.DeleteFunc(l.taken[name], func(at time.Time) bool { return now.Sub(at) >= window })
	}
	switch mine, all := l.taken[email], l.taken[""]; {
	case l.limit.Requests > 0 && len(mine) >= l.limit.Requests:
		return l.refusal(UserRateLimit, window-now.Sub(mine[len(mine)-l.limit.Requests]))
	case l.limit.Project > 0 && len(all) >= l.limit.Project:
		return l.refusal(RateLimitExceeded, window-now.Sub(all[len(all)-l.limit.Project]))
	}
	l.taken[email] = append(l.taken[email], now)
	l.taken[""] = append(l.taken[""], now)
	return nil
}

func (l *limiter) refusal(reason Reason, wait time.Duration) error {
	if l.limit.TooMany {
		return tooMany(wait)
	}
	return refusal(reason, "")
}
