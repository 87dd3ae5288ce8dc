package config

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/files"
)

// refusing is a source that refuses the credentials whatever it is asked.
type refusing struct{ *files.Source }

var errRefused = &source.Failure{Class: source.ClassUnauthorized, Doing: "ask", Sentence: "the token is refused"}

func (refusing) Changes(context.Context, source.Root, string, func([]source.Entry, []string) error) (source.Listed, error) {
	return source.Listed{}, errRefused
}

type refusingWatcher struct{ refusing }

func (refusingWatcher) Logs(string) []string { return []string{"user"} }

func (refusingWatcher) Watch(context.Context, string, source.Channel) (source.Watched, error) {
	return source.Watched{}, errRefused
}

func (refusingWatcher) Unwatch(context.Context, string, string) error { return errRefused }

// pauses counts how often a connection was paused.
type pauses struct{ n int }

func (p *pauses) PauseConnection(context.Context, string, bool, string, string) (bool, error) {
	p.n++
	return true, nil
}

func unnamed(context.Context) string { return "mend them" }

func TestTheGuardHidesNothingThatASourceCan(t *testing.T) {
	t.Parallel()
	plain := guard(files.New(files.Options{}), "c", &pauses{}, unnamed)
	_, feeds := plain.(source.ChangeFeed)
	assert.False(t, feeds)
	feed := guard(refusing{}, "c", &pauses{}, unnamed)
	_, feeds = feed.(source.ChangeFeed)
	assert.True(t, feeds)
	_, watches := feed.(source.Watcher)
	assert.False(t, watches)
	watcher, watches := guard(refusingWatcher{}, "c", &pauses{}, unnamed).(source.Watcher)
	require.True(t, watches)
	assert.Equal(t, []string{"user"}, watcher.Logs(""))
}

func TestARefusedChannelPausesNothing(t *testing.T) {
	t.Parallel()
	paused := &pauses{}
	watcher, ok := guard(refusingWatcher{}, "c", paused, unnamed).(source.Watcher)
	require.True(t, ok)
	_, err := watcher.Watch(t.Context(), "user", source.Channel{})
	require.ErrorIs(t, err, errRefused)
	require.ErrorIs(t, watcher.Unwatch(t.Context(), "id", "resource"), errRefused)
	assert.Zero(t, paused.n)
	_, err = watcher.Changes(t.Context(), source.Root{}, "", nil)
	require.ErrorIs(t, err, errRefused)
	assert.Equal(t, 1, paused.n, "a refused listing does")
}
