package transport

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
)

// Budget gives slots. One value serves all connections of a process.
type Budget interface {
	// Take waits until one request may be sent on behalf of the attempt. The error is ErrStopped when a delete asked its sync to
	// stop, ErrPaused, a *BlockedError when the vendor wants nothing for long, or the context's. Without a nil error nothing may be
	// sent.
	Take(ctx context.Context, connection string, a Attempt) error
	// Block keeps the connection from sending anything for a while, in all processes.
	Block(ctx context.Context, connection string, until time.Duration) error
}

// The default budget of a Notion connection: 171 requests a minute and 9 at once make 180 in the worst 60 seconds, which is what
// Notion permits.
const (
	DefaultPerSecond = 2.85
	DefaultBurst     = 9
)

// Slots are the budgets of all processes, in Postgres; the store documents the methods.
type Slots interface {
	TakeSlot(ctx context.Context, connection string, h knowledge.Holder, lane knowledge.Lane, check bool) (
		outcome string, wait time.Duration, now knowledge.Lane, err error)
	Standing(ctx context.Context, holders []knowledge.Holder) (map[knowledge.Holder]knowledge.Lane, error)
	Block(ctx context.Context, connection string, lasting time.Duration) error
}

// The outcomes of TakeSlot, as Postgres words them.
const (
	outcomeGo      = "go"
	outcomeWait    = "wait"
	outcomeBlocked = "blocked"
	outcomeStop    = "stop"
	outcomePaused  = "paused"
)

const (
	// longestWait is how long a waiter goes without looking again whether it should stop.
	longestWait = time.Second
	// standingEvery is how often the waiters behind the first one are looked at: a lane that was lifted counts from then on.
	standingEvery = time.Second
	// firstAbsence and longestAbsence are the waits while Postgres is away.
	firstAbsence   = 50 * time.Millisecond
	longestAbsence = 2 * time.Second
)

// NewBudget gives a Budget over the slots in Postgres, with a Patience of DefaultPatience for blocks.
//
// A process' waiters stand in one queue for each connection, more urgent lanes first. Only the first of them asks Postgres, so
// a backlog of a thousand costs no more round trips than one of two.
func NewBudget(slots Slots) Budget {
	return &sharedBudget{slots: slots, patience: DefaultPatience, queues: newQueues()}
}

type sharedBudget struct {
	slots    Slots
	patience time.Duration
	queues   *queues
}

// Take waits for a slot: first for its turn to ask, then for the answer to be go.
func (b *sharedBudget) Take(ctx context.Context, connection string, a Attempt) error {
	q := b.queues.of(connection)
	w := q.join(a)
	defer q.leave(w)
	var rest time.Duration // until the next question; zero for at once
	absence := firstAbsence
	for {
		if err := q.turn(ctx, w, rest); err != nil {
			return err
		}
		outcome, wait, err := b.ask(ctx, connection, q, w)
		switch {
		case err == nil:
			absence = firstAbsence
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, knowledge.ErrUnreachable):
			rest, absence = jittered(absence), min(2*absence, longestAbsence)
			continue
		default:
			return err
		}
		if done, err := b.settle(connection, outcome, wait); done {
			return err
		}
		rest = min(wait, longestWait)
	}
}

// settle tells whether an outcome ends the wait, and how.
func (b *sharedBudget) settle(connection, outcome string, wait time.Duration) (bool, error) {
	switch outcome {
	case outcomeGo:
		return true, nil
	case outcomeStop:
		return true, ErrStopped
	case outcomePaused:
		return true, ErrPaused
	case outcomeWait:
		return false, nil
	case outcomeBlocked:
		if wait <= b.patience {
			return false, nil
		}
		return true, &BlockedError{Connection: connection, For: wait}
	}
	return true, fmt.Errorf("connection %s gives no slot: %s", connection, outcome)
}

// ask makes the round trip of the one whose turn it is, and notes what it learned of everybody's lane.
func (b *sharedBudget) ask(ctx context.Context, connection string, q *queue, w *waiter) (string, time.Duration, error) {
	lane, others, stopped := q.asking(w)
	if stopped {
		q.asked(w, lane, nil, nil)
		return outcomeStop, 0, nil
	}
	var standing map[knowledge.Holder]knowledge.Lane
	if len(others) > 0 {
		var err error
		if standing, err = b.slots.Standing(ctx, others); err != nil {
			q.asked(w, lane, nil, nil)
			return "", 0, err
		}
	}
	outcome, wait, now, err := b.slots.TakeSlot(ctx, connection, w.attempt.Holder(), lane, w.attempt.Check)
	if err != nil {
		now = lane
	}
	q.asked(w, now, others, standing)
	return outcome, wait, err
}

// Block moves the budget of a connection. It tries until the context ends while Postgres is away.
func (b *sharedBudget) Block(ctx context.Context, connection string, until time.Duration) error {
	absence := firstAbsence
	for {
		err := b.slots.Block(ctx, connection, until)
		if !errors.Is(err, knowledge.ErrUnreachable) {
			return err
		}
		if sleep(ctx, jittered(absence)) != nil {
			return err
		}
		absence = min(2*absence, longestAbsence)
	}
}
