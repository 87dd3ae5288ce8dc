package notiontest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Subscription is one receiver of webhooks.
type Subscription struct {
	hooks           *hooks
	id, url, secret string
	stop            context.CancelFunc

	mu      sync.Mutex
	changed chan struct{}
	waiting []*event
	sent    []*event
	tries   []Delivery
	copies  int
	reverse bool
}

// Delivery is one attempt to deliver an event.
type Delivery struct {
	// EventID stays the same over all attempts, replays and duplicates.
	EventID string
	// Type is such as page.created, and EntityID what it is about.
	Type, EntityID string
	Attempt        int
	// Status is what the receiver answered; 0 when it couldn't be reached.
	Status int
}

// Duplicate has every event delivered n times; once for 1.
func (s *Subscription) Duplicate(n int) { s.change(func() { s.copies = n }) }

// Reorder has events that are due together delivered in reverse.
func (s *Subscription) Reorder(reverse bool) { s.change(func() { s.reverse = reverse }) }

// Flush makes everything that waits due now.
func (s *Subscription) Flush() {
	s.change(func() {
		for _, e := range s.waiting {
			e.due = time.Time{}
		}
	})
}

// Replay delivers an event once more that was delivered before, as the API does when it is in doubt.
func (s *Subscription) Replay(eventID string) error {
	found := false
	s.change(func() {
		for _, e := range s.sent {
			if e.eventID == eventID && !found {
				found = true
				again := *e
				again.due = time.Time{}
				s.waiting = append(s.waiting, &again)
			}
		}
	})
	if !found {
		return fmt.Errorf("replay an event: %s was never delivered", eventID)
	}
	return nil
}

// Deliveries are all attempts so far.
func (s *Subscription) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tries)
}

// Await waits until at least n events were answered with 2xx, duplicates and replays counted.
func (s *Subscription) Await(ctx context.Context, n int) error {
	for {
		s.mu.Lock()
		done := 0
		for _, try := range s.tries {
			if try.Status/100 == 2 {
				done++
			}
		}
		changed := s.changed
		s.mu.Unlock()
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

// Close ends the subscription. What waits is dropped.
func (s *Subscription) Close() {
	s.hooks.mu.Lock()
	s.hooks.subscriptions = slices.DeleteFunc(s.hooks.subscriptions, func(other *Subscription) bool { return other == s })
	s.hooks.mu.Unlock()
	s.stop()
}

func (s *Subscription) add(c change, eventID string, due time.Time) {
	s.change(func() {
		rest, taken := aggregated(s.waiting, c)
		s.waiting = rest
		if !taken {
			s.waiting = append(s.waiting, &event{change: c, eventID: eventID, due: due, attempt: 1})
		}
	})
}

func (s *Subscription) change(alter func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	alter()
	close(s.changed)
	s.changed = make(chan struct{})
}

// run delivers what is due until the subscription is closed.
func (s *Subscription) run(ctx context.Context) {
	for ctx.Err() == nil {
		due, wait, changed := s.take()
		for _, e := range due {
			s.deliver(ctx, e)
		}
		if len(due) > 0 {
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// idle is how long to sleep when nothing waits; a change wakes earlier.
const idle = time.Hour

// take gives what is due, as often and in the order in which it is to be delivered, or how long until something is.
func (s *Subscription) take() (due []*event, wait time.Duration, changed chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	wait = idle
	var later []*event
	for _, e := range s.waiting {
		if left := e.due.Sub(now); left > 0 {
			wait = min(wait, left)
			later = append(later, e)
			continue
		}
		for range max(1, s.copies) {
			again := *e
			due = append(due, &again)
		}
	}
	s.waiting = later
	if s.reverse {
		slices.Reverse(due)
	}
	return due, wait, s.changed
}

// deliver makes one attempt, and plans the next one if the receiver didn't answer with 2xx.
func (s *Subscription) deliver(ctx context.Context, e *event) {
	body, err := s.body(e)
	status := 0
	if err == nil {
		status, err = s.post(ctx, body, true)
	}
	again := err != nil || status/100 != 2
	next := time.Now().Add(s.hooks.backoff(e.attempt + 1))
	s.change(func() {
		s.tries = append(s.tries, Delivery{EventID: e.eventID, Type: e.typ, EntityID: e.id, Attempt: e.attempt, Status: status})
		switch {
		case !again:
			s.sent = append(s.sent, e)
		case e.attempt < maxAttempts:
			e.attempt++
			e.due = next
			s.waiting = append(s.waiting, e)
		}
	})
}
