package drivetest

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"
)

// PushOptions say how notifications are delivered.
type PushOptions struct {
	// Copies is how often each is delivered; once when zero.
	Copies int
	// Drop loses those for which it is true, as Drive doesn't promise delivery; it loses none when nil.
	Drop func(d Delivery) bool
	// Backoff is how long to wait before an attempt, from the second on; doubling from a second when nil. A receiver that
	// answers 500, 502, 503 or 504, or can't be reached, is tried five times.
	Backoff func(attempt int) time.Duration
}

// Channel is one that a client opened and that is neither stopped nor expired.
type Channel struct {
	ID, ResourceID, Address string
	// User is who opened it; Drive the shared drive that it is about, if it is about one.
	User, Drive string
	Expiration  time.Time
}

// Delivery is one attempt to deliver a notification.
type Delivery struct {
	ChannelID string
	// State is sync for the first message of a channel, and change for all others.
	State string
	// Number rises from 1 on each channel. Duplicates and further attempts bear the same.
	Number  int64
	Attempt int
	// Status is what the receiver answered; 0 when it couldn't be reached.
	Status int
}

// channels are those of a server.
type channels struct {
	s    *Server
	http *http.Client

	mu         sync.Mutex
	options    PushOptions
	used       map[string]bool
	open       []*channel
	deliveries []Delivery
	changed    chan struct{}
}

func newChannels(s *Server) *channels {
	return &channels{
		s: s, http: &http.Client{Timeout: 10 * time.Second}, used: map[string]bool{}, changed: make(chan struct{}),
	}
}

// SetPush changes how notifications are delivered from now on.
func (s *Server) SetPush(o PushOptions) {
	s.channels.mu.Lock()
	defer s.channels.mu.Unlock()
	s.channels.options = o
}

// Channels are those that are open now.
func (s *Server) Channels() []Channel {
	now := s.clock.Now()
	s.channels.mu.Lock()
	defer s.channels.mu.Unlock()
	var found []Channel
	for _, ch := range s.channels.open {
		if now.Before(ch.Expiration) {
			found = append(found, ch.Channel)
		}
	}
	return found
}

// Notify sends a notification on all open channels though nothing has changed.
func (s *Server) Notify() {
	s.channels.mu.Lock()
	defer s.channels.mu.Unlock()
	for _, ch := range s.channels.open {
		ch.poke(true)
	}
}

// Deliveries are all attempts so far.
func (s *Server) Deliveries() []Delivery {
	s.channels.mu.Lock()
	defer s.channels.mu.Unlock()
	return slices.Clone(s.channels.deliveries)
}

// AwaitDeliveries waits until at least n notifications were answered with 2xx, sync messages and duplicates counted.
func (s *Server) AwaitDeliveries(ctx context.Context, n int) error {
	c := s.channels
	for {
		c.mu.Lock()
		done, changed := 0, c.changed
		for _, d := range c.deliveries {
			if d.Status/100 == 2 {
				done++
			}
		}
		c.mu.Unlock()
		if done >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// wake lets all channels look at the log. The Drive's lock is held; nothing is waited for.
func (c *channels) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ch := range c.open {
		ch.poke(false)
	}
}

func (c *channels) note(d Delivery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deliveries = append(c.deliveries, d)
	close(c.changed)
	c.changed = make(chan struct{})
}

// remove ends a channel; false if it isn't open.
func (c *channels) remove(id, resource, email string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.open, func(ch *channel) bool { return ch.ID == id && ch.ResourceID == resource && ch.User == email })
	if i < 0 {
		return false
	}
	c.open[i].stop()
	c.open = slices.Delete(c.open, i, i+1)
	return true
}

func (c *channels) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ch := range c.open {
		ch.stop()
	}
	c.open = nil
}
