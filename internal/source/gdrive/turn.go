package gdrive

import "context"

// turn lets one at a time do a thing, as a mutex does, and waits no longer than the context of whoever waits.
type turn chan struct{}

func newTurn() turn {
	t := make(turn, 1)
	t <- struct{}{}
	return t
}

func (t turn) take(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t:
		return nil
	}
}

func (t turn) give() { t <- struct{}{} }
