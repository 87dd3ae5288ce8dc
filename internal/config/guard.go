package config

import (
	"context"
	"errors"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
)

// pauser pauses a connection.
type pauser interface {
	PauseConnection(ctx context.Context, name string, paused bool, reason, actor string) (bool, error)
}

// guard pauses a connection when its source refuses the credentials, so that a revoked token costs one request and deletes
// nothing. The due reads check it every minute, and resume it at the first success.
// renewal says how the credentials are replaced.
func guard(src source.Source, connection string, store pauser, renewal func(context.Context) string) source.Source {
	g := guarded{Source: src, connection: connection, store: store, renewal: renewal}
	if watcher, able := src.(source.Watcher); able {
		return guardedWatcher{guardedFeed: guardedFeed{guarded: g, feed: watcher}, watcher: watcher}
	}
	if feed, able := src.(source.ChangeFeed); able {
		return guardedFeed{guarded: g, feed: feed}
	}
	return g
}

type guarded struct {
	source.Source
	connection string
	store      pauser
	renewal    func(context.Context) string
}

// Identity tells whose the credentials are, where the source can; empty where it can't.
func (g guarded) Identity(ctx context.Context) (string, error) {
	if inner, able := g.Source.(interface {
		Identity(ctx context.Context) (string, error)
	}); able {
		return inner.Identity(ctx)
	}
	return "", nil
}

// Canonical gives the form of a root's reference that is stored, where the source has one.
func (g guarded) Canonical(ref string) (string, error) {
	if inner, able := g.Source.(interface {
		Canonical(ref string) (string, error)
	}); able {
		return inner.Canonical(ref)
	}
	return ref, nil
}

// Advice says what else people should know of a root that can be read, where the source has something to say.
func (g guarded) Advice(ctx context.Context, root source.Root) ([]string, error) {
	if inner, able := g.Source.(interface {
		Advice(ctx context.Context, root source.Root) ([]string, error)
	}); able {
		return inner.Advice(ctx, root)
	}
	return nil, nil
}

// List lists.
func (g guarded) List(ctx context.Context, root source.Root, cursor string, yield func(source.Batch) error) (source.Listed, error) {
	listed, err := g.Source.List(ctx, root, cursor, yield)
	return listed, g.look(ctx, err)
}

// Fetch reads a page.
func (g guarded) Fetch(ctx context.Context, root source.Root, sourceID string) (source.Page, error) {
	page, err := g.Source.Fetch(ctx, root, sourceID)
	return page, g.look(ctx, err)
}

// Presence looks whether a page is there.
func (g guarded) Presence(ctx context.Context, root source.Root, sourceID string) (source.Presence, error) {
	presence, err := g.Source.Presence(ctx, root, sourceID)
	return presence, g.look(ctx, err)
}

// look pauses the connection after a refusal, and hands the error on.
func (g guarded) look(ctx context.Context, err error) error {
	var failure *source.Failure
	if !errors.As(err, &failure) || failure.Class != source.ClassUnauthorized {
		return err
	}
	reason := knowledge.PausedByToken + failure.Sentence + "; " + g.renewal(context.WithoutCancel(ctx))
	if _, pausing := g.store.PauseConnection(context.WithoutCancel(ctx), g.connection, true, reason, "loresync"); pausing != nil {
		return errors.Join(err, pausing)
	}
	return err
}

type guardedFeed struct {
	guarded
	feed source.ChangeFeed
}

// Changes tells what changed.
func (g guardedFeed) Changes(
	ctx context.Context, root source.Root, checkpoint string, yield func(changed []source.Entry, removed []string) error,
) (source.Listed, error) {
	listed, err := g.feed.Changes(ctx, root, checkpoint, yield)
	return listed, g.look(ctx, err)
}

// guardedWatcher pauses nothing for what a source says of channels: it may refuse the address that it should call with the same
// status as bad credentials, and those the next sync finds out.
type guardedWatcher struct {
	guardedFeed
	watcher source.Watcher
}

// Logs names the logs that a checkpoint covers.
func (g guardedWatcher) Logs(checkpoint string) []string { return g.watcher.Logs(checkpoint) }

// Watch opens a channel.
func (g guardedWatcher) Watch(ctx context.Context, log string, channel source.Channel) (source.Watched, error) {
	return g.watcher.Watch(ctx, log, channel)
}

// Unwatch closes a channel.
func (g guardedWatcher) Unwatch(ctx context.Context, channelID, resourceID string) error {
	return g.watcher.Unwatch(ctx, channelID, resourceID)
}
