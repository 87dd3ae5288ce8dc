package gdrive

import (
	"context"
	"errors"
	"time"

	"google.golang.org/api/drive/v3"

	"github.com/loresync/loresync/internal/source"
)

// longestChannel is the longest life that Drive gives a channel of a change log.
const longestChannel = 7 * 24 * time.Hour

var errNoResource = errors.New("the answer names no resource")

// Watch opens a channel on a change log. Drive calls it with an empty body and its token, some seconds after a change, and promises
// no call: reading the log now and then stays necessary.
func (s *Source) Watch(ctx context.Context, log string, channel source.Channel) (source.Watched, error) {
	token, err := s.client.startToken(ctx, log)
	if err != nil {
		return source.Watched{}, failure(err)
	}
	life := channel.Life
	if life <= 0 || life > longestChannel {
		life = longestChannel
	}
	opened, err := s.client.watch(ctx, log, token, &drive.Channel{
		Id: channel.ID, Type: "web_hook", Address: channel.Address, Token: channel.Token, Expiration: time.Now().Add(life).UnixMilli(),
	})
	if err != nil {
		return source.Watched{}, failure(err)
	}
	if opened.ResourceId == "" {
		return source.Watched{}, &source.Failure{Class: source.ClassUnavailable, Doing: "open a channel", Sentence: sayBroken, Err: errNoResource}
	}
	watched := source.Watched{ResourceID: opened.ResourceId}
	if opened.Expiration != 0 {
		watched.Expires = time.UnixMilli(opened.Expiration).UTC()
	}
	return watched, nil
}

// Unwatch closes a channel. One that is closed or unknown is no error.
func (s *Source) Unwatch(ctx context.Context, channelID, resourceID string) error {
	err := s.client.api.Channels.Stop(&drive.Channel{Id: channelID, ResourceId: resourceID}).Context(ctx).Do()
	if err = refusal("close a channel", err); notFound(err) {
		return nil
	}
	return failure(err)
}

func (c *client) watch(ctx context.Context, log, token string, channel *drive.Channel) (*drive.Channel, error) {
	call := c.api.Changes.Watch(token, channel).SupportsAllDrives(true).IncludeItemsFromAllDrives(true).IncludeRemoved(true).Context(ctx)
	if log != userLog {
		call.DriveId(log)
	}
	opened, err := call.Do()
	if err != nil {
		return nil, refusal("open a channel", err)
	}
	return opened, nil
}
