package activities

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/transport"
)

// WatchStore is what the upkeep of push channels asks of the store.
type WatchStore interface {
	Maintenance(ctx context.Context) (bool, error)
	WatchedFolders(ctx context.Context) ([]knowledge.WatchedFolder, error)
	ClaimWatch(ctx context.Context, c knowledge.WatchClaim) (bool, error)
	OpenWatch(ctx context.Context, channelID, resourceID string, expires time.Time) (outcome string, err error)
	FailWatch(ctx context.Context, f knowledge.WatchFailure) error
	RetireWatches(ctx context.Context, connections, logs, unknown []string) error
	TakeIdleChannels(ctx context.Context, bound int) ([]knowledge.IdleChannel, error)
	StopChannel(ctx context.Context, channelID string) error
	DropEndedChannels(ctx context.Context) (int64, error)
}

// Watches keep one push channel open on each change log that an active folder needs, and close the others. They are no activity
// of their own: the due reads do it every minute. Whatever goes wrong here, the syncs find what changed.
type Watches struct {
	Store   WatchStore
	Sources Sources
	Asker   Asker
	// PublicURL is the gateway's address as sources see it. Without one that they can call, nothing is opened.
	PublicURL string
}

const (
	// watchLife is the longest that Google grants for a log of changes.
	watchLife = 7 * 24 * time.Hour
	// watchPatience bounds one look at all channels, and callPatience one call of a source: the due reads come every minute.
	watchPatience = 30 * time.Second
	callPatience  = 10 * time.Second
	// claimLasting is how long the log of a process that died in the middle stays without another try.
	claimLasting = 2 * time.Minute
	// notePatience is for writing down how a call of a source ended, also when the time for calls is over.
	notePatience = 5 * time.Second
	// idleBatch bounds the channels that are closed in one look.
	idleBatch = 20
)

// KeptWatches counts what one look did.
type KeptWatches struct {
	Opened, Stopped int
	// FolderSyncs were asked for, since what changed before a first channel was not called for.
	FolderSyncs int
}

// Keep looks once at all channels. The new one is opened before the old one is closed, so that no call falls between them. A
// second look at the same time opens nothing twice: each log is claimed in Postgres.
func (w *Watches) Keep(ctx context.Context) (KeptWatches, error) {
	var kept KeptWatches
	ctx, cancel := context.WithTimeout(ctx, watchPatience)
	defer cancel()
	stopped, err := w.Store.Maintenance(ctx)
	if err != nil || stopped {
		return kept, err
	}
	needs, unknown, err := w.needs(ctx)
	if err != nil {
		return kept, err
	}
	failures := make([]error, 0, len(needs)+3)
	for _, n := range needs {
		failures = append(failures, w.keep(ctx, n, &kept))
	}
	failures = append(failures, w.retire(ctx, needs, unknown), w.stop(ctx, &kept))
	_, err = w.Store.DropEndedChannels(ctx)
	return kept, errors.Join(append(failures, err)...)
}

// keep has a channel opened on a log. Before a first one nobody was called, so the folders that need the log look once.
func (w *Watches) keep(ctx context.Context, n *need, kept *KeptWatches) error {
	outcome, err := w.open(ctx, n)
	if err != nil || outcome == "" {
		return err
	}
	kept.Opened++
	if outcome != "first" {
		return nil
	}
	for _, folder := range n.folders {
		if _, err := w.Asker.RequestFolderSync(ctx, folder, knowledge.ModeIncremental, "due"); err != nil {
			return err
		}
		kept.FolderSyncs++
	}
	return nil
}

// need is a change log that checkpoints of folders cover.
type need struct {
	connection, log string
	folders         []string
	watcher         source.Watcher
}

// needs gives the logs of all active folders, each once, and the connections that can't tell theirs now.
func (w *Watches) needs(ctx context.Context) (needs []*need, unknown []string, err error) {
	folders, err := w.Store.WatchedFolders(ctx)
	if err != nil {
		return nil, nil, err
	}
	known := map[[2]string]*need{}
	for _, folder := range folders {
		watcher, err := w.watcher(ctx, folder.Source, folder.Connection)
		if err != nil {
			unknown = append(unknown, folder.Connection)
			continue
		}
		if watcher == nil {
			continue
		}
		for _, log := range watcher.Logs(folder.Checkpoint) {
			key := [2]string{folder.Connection, log}
			if known[key] == nil {
				known[key] = &need{connection: folder.Connection, log: log, watcher: watcher}
				needs = append(needs, known[key])
			}
			known[key].folders = append(known[key].folders, folder.FolderID)
		}
	}
	return needs, unknown, nil
}

// watcher gives the source of a connection if it can call back, nil if it can't.
func (w *Watches) watcher(ctx context.Context, name, connection string) (source.Watcher, error) {
	src, err := w.Sources.Source(ctx, name, connection)
	if err != nil {
		return nil, err
	}
	watcher, _ := src.(source.Watcher)
	return watcher, nil
}

// open opens a channel on a log that needs one now, and is due a try. The outcome is empty when none was opened.
func (w *Watches) open(ctx context.Context, n *need) (outcome string, err error) {
	address, why := knowledge.WatchAddress(w.PublicURL, n.connection)
	if why != "" {
		return "", nil
	}
	token := make([]byte, sha256.Size)
	_, _ = rand.Read(token) // it never fails
	channel := source.Channel{ID: uuid.NewString(), Address: address, Token: base64.RawURLEncoding.EncodeToString(token), Life: watchLife}
	hash := sha256.Sum256([]byte(channel.Token))
	claimed, err := w.Store.ClaimWatch(ctx, knowledge.WatchClaim{
		Connection: n.connection, Log: n.log, ChannelID: channel.ID, TokenHash: hash[:], Address: address, Life: watchLife, Lasting: claimLasting,
	})
	if err != nil || !claimed {
		return "", err
	}
	calling, cancel := context.WithTimeout(transport.WithAttempt(ctx, transport.Attempt{Lane: knowledge.LaneIncremental}), callPatience)
	defer cancel()
	watched, failed := n.watcher.Watch(calling, n.log, channel)
	noting, done := context.WithTimeout(context.WithoutCancel(ctx), notePatience)
	defer done()
	if failed != nil {
		return "", w.Store.FailWatch(noting, watchFailure(channel.ID, failed))
	}
	return w.Store.OpenWatch(noting, channel.ID, watched.ResourceID, watched.Expires)
}

// watchFailure is what is kept of an error: whether the source surely opened nothing, and the sentence that it is for people.
func watchFailure(channelID string, err error) knowledge.WatchFailure {
	failure := knowledge.WatchFailure{ChannelID: channelID, Sentence: "the source did not answer; it is asked again"}
	if errors.Is(err, transport.ErrPaused) {
		failure.Refused, failure.Sentence = true, "the connection is paused"
	}
	told, ok := errors.AsType[*source.Failure](err)
	if !ok {
		return failure
	}
	failure.Refused = told.Class != source.ClassUnavailable
	failure.RetryAfter = told.RetryAfter
	if told.Sentence != "" {
		failure.Sentence = told.Sentence
	}
	return failure
}

// retire gives up the channels of logs that no folder needs any more.
func (w *Watches) retire(ctx context.Context, needs []*need, unknown []string) error {
	connections, logs := make([]string, len(needs)), make([]string, len(needs))
	for i, n := range needs {
		connections[i], logs[i] = n.connection, n.log
	}
	return w.Store.RetireWatches(ctx, connections, logs, unknown)
}

// stop closes channels that were given up or replaced. One that can't be closed now is due again later, and ends by itself at last.
func (w *Watches) stop(ctx context.Context, kept *KeptWatches) error {
	idle, err := w.Store.TakeIdleChannels(ctx, idleBatch)
	if err != nil {
		return err
	}
	for _, channel := range idle {
		watcher, err := w.watcher(ctx, channel.Source, channel.Connection)
		if err != nil || watcher == nil || w.unwatch(ctx, watcher, channel) != nil {
			continue
		}
		if err := w.Store.StopChannel(ctx, channel.ChannelID); err != nil {
			return err
		}
		kept.Stopped++
	}
	return nil
}

// unwatch asks as a check does: the connection may be paused, which is why the channel has to go.
func (w *Watches) unwatch(ctx context.Context, watcher source.Watcher, channel knowledge.IdleChannel) error {
	calling, cancel := context.WithTimeout(transport.WithAttempt(ctx, transport.Attempt{Lane: knowledge.LaneIncremental, Check: true}), callPatience)
	defer cancel()
	return watcher.Unwatch(calling, channel.ChannelID, channel.ResourceID)
}
