package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

// WatchChannel finds the channel that a call names. One that isn't there is not found.
func (c *Control) WatchChannel(ctx context.Context, channelID string) (knowledge.WatchChannel, error) {
	if uuid.Validate(channelID) != nil {
		return knowledge.WatchChannel{}, unknownChannel()
	}
	channel, err := c.store.WatchChannel(ctx, channelID)
	if errors.Is(err, store.ErrNotFound) {
		return channel, unknownChannel()
	}
	return channel, err
}

func unknownChannel() error {
	return notFound("channel_unknown", "there is no such channel: `starter connection webhook NAME` shows those of a connection")
}

// NoteCall notes that a call came that was proved by its channel's token.
func (c *Control) NoteCall(ctx context.Context, channelID, resourceID string) error {
	return c.store.NoteCall(ctx, channelID, resourceID)
}

// firstCall is how long the first call of a channel takes at most where calls arrive.
const firstCall = 2 * time.Minute

// watchInfo tells how far the change logs of a connection are watched, and what to do.
func (c *Control) watchInfo(ctx context.Context, connection string) (WebhookInfo, error) {
	info := WebhookInfo{Connection: connection, Source: driveSource}
	var err error
	if info.Channels, err = c.store.Watches(ctx, connection); err != nil {
		return info, err
	}
	_, why := knowledge.WatchAddress(c.options.PublicURL, connection)
	now, err := c.store.Now(ctx)
	if err != nil {
		return info, err
	}
	info.State, info.Advice = watchState(info.Channels, why, now)
	return info, nil
}

// watchState judges all logs of a connection at once: by the worst of them.
func watchState(watches []knowledge.Watch, why knowledge.NoAddress, now time.Time) (state, advice string) {
	const polled = "; until then changes are found by the syncs of each folder's interval"
	switch why {
	case knowledge.AddressUnset:
		return "off", "LORESYNC_PUBLIC_URL is not set: set it to the https address at which the source reaches the gateway, for workers too" + polled
	case knowledge.AddressInsecure:
		return "off", "LORESYNC_PUBLIC_URL is no https address, and sources call no other: set it to one with a valid certificate, for workers too" + polled
	}
	if len(watches) == 0 {
		return "none", "no change log is watched: it begins within a minute after the first full sync of a folder of this connection"
	}
	state = "active"
	for _, w := range watches {
		switch {
		case w.Failures > 0 || w.State == "expired":
			return "failing", failingAdvice(w)
		case w.State == "opening":
			state, advice = "opening", "a channel is being opened: look again in a minute"
		case w.State == "waiting" && state == "active":
			state, advice = "waiting", "a channel is open, and its first call has not come yet"
			if w.OpenedAt != nil && now.Sub(*w.OpenedAt) > firstCall {
				advice = "a channel is open, but its first call has not come: check that " + w.Address + " can be reached from outside, with a valid certificate"
			}
		}
	}
	return state, advice
}

func failingAdvice(w knowledge.Watch) string {
	if w.Failures == 0 {
		return fmt.Sprintf("the channel of %s has ended and no other took its place: check that a worker runs", w.Log)
	}
	next := "soon"
	if w.NextTryAt != nil {
		next = "at " + w.NextTryAt.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("no channel could be opened on %s (%s): it is tried again %s, and the syncs find what changed meanwhile", w.Log, w.Sentence, next)
}
