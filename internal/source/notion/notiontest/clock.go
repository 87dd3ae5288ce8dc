package notiontest

import (
	"sync"
	"time"
)

// Clock is the time that a workspace lives in. It is safe for concurrent use.
type Clock struct {
	mu sync.Mutex
	// at is the time of a standing clock; of a running one it is unused.
	at      time.Time
	running bool
	// ahead is how far a running clock is before the machine's.
	ahead time.Duration
}

// NewClock gives a clock that stands still at a time until it is set or advanced.
func NewClock(at time.Time) *Clock { return &Clock{at: at} }

// WallClock gives a clock that runs with the machine's.
func WallClock() *Clock { return &Clock{running: true} }

// Now is the clock's time, in UTC.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

// Set puts the clock to a time. A running clock runs on from there.
func (c *Clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running {
		c.ahead += at.Sub(c.now())
		return
	}
	c.at = at
}

// Advance puts the clock forward; back, for a negative duration.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
	c.at = c.at.Add(d)
}

func (c *Clock) now() time.Time {
	if c.running {
		return time.Now().Add(c.ahead).UTC()
	}
	return c.at.UTC()
}

// minute writes a time as most objects bear it: cut down to the minute.
func minute(t time.Time) string {
	return t.UTC().Truncate(time.Minute).Format("2006-01-02T15:04:05.000Z")
}

// milli writes a time as database objects bear it since 2025-09-03: with milliseconds and an offset.
func milli(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000+00:00") }
