package drivetest

import (
	"sync"
	"time"
)

// Clock is the time that a Drive lives in. It is safe for concurrent use. Access tokens and limits go by the machine's clock.
type Clock struct {
	mu      sync.Mutex
	at      time.Time
	running bool
	// since is the machine's time at which a running clock showed at.
	since time.Time
}

// NewClock gives a clock that stands still at a time until it is set or advanced.
func NewClock(at time.Time) *Clock { return &Clock{at: at} }

// WallClock gives a clock that runs with the machine's.
func WallClock() *Clock {
	now := time.Now()
	return &Clock{running: true, at: now, since: now}
}

// Now is the clock's time, in UTC.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		return c.at.Add(time.Since(c.since)).UTC()
	}
	return c.at.UTC()
}

// Set puts the clock to a time. A running clock runs on from there.
func (c *Clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.since = at, time.Now()
}

// Advance puts the clock forward; back, for a negative duration.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// stamp writes a time as Drive does: in UTC with milliseconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
