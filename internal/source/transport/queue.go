package transport

import (
	"context"
	"sort"
	"sync"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

// queues are the lines of a process, one per connection. What stands in them is nobody's truth: it dies with its callers.
type queues struct {
	mu    sync.Mutex
	lines map[string]*queue
}

func newQueues() *queues { return &queues{lines: map[string]*queue{}} }

func (qs *queues) of(connection string) *queue {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q, ok := qs.lines[connection]
	if !ok {
		q = &queue{}
		qs.lines[connection] = q
	}
	return q
}

// queue is the line of those who wait for a slot of one connection: the most urgent first, and within a lane who came first. At
// most one of them, the first, asks Postgres at a time.
type queue struct {
	mu   sync.Mutex
	line []*waiter
	// next numbers those who come.
	next   uint64
	asks   bool
	looked time.Time
}

// waiter is one request in a queue. All but attempt and called belong to the queue's lock.
type waiter struct {
	attempt Attempt
	// called holds a call at most: look whether it is your turn.
	called  chan struct{}
	number  uint64
	lane    knowledge.Lane
	stopped bool
}

// join puts a request where its lane belongs. One that comes first asks at once, however long the former first one was told to wait.
func (q *queue) join(a Attempt) *waiter {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next++
	w := &waiter{attempt: a, called: make(chan struct{}, 1), number: q.next, lane: a.Lane}
	q.line = append(q.line, w)
	q.order()
	return w
}

// leave takes a request out of the line and calls the next, if it was the first.
func (q *queue) leave(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	wasFirst := q.line[0] == w
	for i, other := range q.line {
		if other == w {
			q.line = append(q.line[:i], q.line[i+1:]...)
			break
		}
	}
	if wasFirst {
		q.callFirst()
	}
}

// turn waits for a time, and until w is the first of the line and nobody else asks; then it is w that asks, until asked is called.
// A call cuts the time short: who was told to wait may not be the one who stood behind that answer.
func (q *queue) turn(ctx context.Context, w *waiter, rest time.Duration) error {
	var elapsed <-chan time.Time
	if rest > 0 {
		timer := time.NewTimer(rest)
		defer timer.Stop()
		elapsed = timer.C
	}
	for {
		if elapsed == nil && q.take(w) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-elapsed:
			elapsed = nil
		case <-w.called:
			elapsed = nil
		}
	}
}

func (q *queue) take(w *waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.asks || q.line[0] != w {
		return false
	}
	q.asks = true
	return true
}

// asking gives the lane to ask with, whether w is known to have to stop, and the page syncs behind w if it is time to look at them.
func (q *queue) asking(w *waiter) (knowledge.Lane, []knowledge.Holder, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.stopped || time.Since(q.looked) < standingEvery {
		return w.lane, nil, w.stopped
	}
	q.looked = time.Now()
	var others []knowledge.Holder
	for _, other := range q.line {
		if other != w && other.attempt.Token != "" && !other.attempt.Check {
			others = append(others, other.attempt.Holder())
		}
	}
	return w.lane, others, false
}

// asked ends w's turn with what was learned: its own lane, and the standing of those who were looked at.
func (q *queue) asked(w *waiter, lane knowledge.Lane, looked []knowledge.Holder, standing map[knowledge.Holder]knowledge.Lane) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asks = false
	w.lane = lane
	seen := make(map[knowledge.Holder]bool, len(looked))
	for _, h := range looked {
		seen[h] = true
	}
	for _, other := range q.line {
		h := other.attempt.Holder()
		if other == w || !seen[h] {
			continue
		}
		if now, goesOn := standing[h]; goesOn {
			other.lane = now
		} else {
			other.stopped, other.lane = true, knowledge.LanePerson // first, so that it leaves
		}
	}
	q.order()
	if q.line[0] != w {
		q.callFirst()
	}
}

// order sorts the line; the lock is held.
func (q *queue) order() {
	sort.SliceStable(q.line, func(i, j int) bool {
		a, b := q.line[i], q.line[j]
		if a.lane != b.lane {
			return a.lane < b.lane
		}
		return a.number < b.number
	})
}

func (q *queue) callFirst() {
	if len(q.line) == 0 {
		return
	}
	select {
	case q.line[0].called <- struct{}{}:
	default: // a call is waiting already
	}
}
