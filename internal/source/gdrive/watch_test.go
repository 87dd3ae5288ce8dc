package gdrive_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

func TestWatch_is_called_back_until_it_is_closed(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"user", "a shared drive"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newOffice(t, drivetest.Options{})
			log, folder := "user", s.root.Ref
			if what != log {
				var err error
				log, err = s.AddDrive("Company")
				require.NoError(t, err)
				folder = log
			}
			calls := make(chan http.Header, 10)
			callback := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { calls <- r.Header }))
			t.Cleanup(callback.Close)
			channel := source.Channel{ID: uuid.NewString(), Address: callback.URL, Token: "a secret", Life: 2 * time.Hour}
			watched, err := s.src.Watch(t.Context(), log, channel)
			require.NoError(t, err)
			assert.NotEmpty(t, watched.ResourceID)
			assert.WithinDuration(t, time.Now().Add(2*time.Hour), watched.Expires, 10*time.Minute)
			first := <-calls
			assert.Equal(t, "sync", first.Get("X-Goog-Resource-State"))
			s.doc(folder, "Page", "x")
			second := <-calls
			assert.Equal(t, "change", second.Get("X-Goog-Resource-State"))
			assert.Equal(t, channel.ID, second.Get("X-Goog-Channel-Id"))
			assert.Equal(t, watched.ResourceID, second.Get("X-Goog-Resource-Id"))
			assert.Equal(t, "a secret", second.Get("X-Goog-Channel-Token"))
			require.NoError(t, s.src.Unwatch(t.Context(), channel.ID, watched.ResourceID))
			assert.Empty(t, s.Channels())
			require.NoError(t, s.src.Unwatch(t.Context(), channel.ID, watched.ResourceID), "a closed channel is no error")
		})
	}
}

func TestWatch_asks_for_no_longer_than_Drive_gives(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	callback := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(callback.Close)
	for _, life := range []time.Duration{0, 30 * 24 * time.Hour} {
		watched, err := s.src.Watch(t.Context(), "user", source.Channel{ID: uuid.NewString(), Address: callback.URL, Token: "t", Life: life})
		require.NoError(t, err)
		assert.WithinDuration(t, time.Now().Add(7*24*time.Hour), watched.Expires, time.Hour)
	}
}

func TestWatch_tells_what_was_refused(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	channel := source.Channel{ID: uuid.NewString(), Address: "http://127.0.0.1:9/", Token: "a secret", Life: time.Hour}
	_, err := s.src.Watch(t.Context(), driveID, channel)
	assert.Equal(t, source.ClassNotFound, failureOf(t, err).Class)
	s.Fail(drivetest.OfKind(drivetest.KindWatch), 0, drivetest.Refuse(drivetest.ChannelIDNotUnique))
	_, err = s.src.Watch(t.Context(), "user", channel)
	failure := failureOf(t, err)
	assert.Equal(t, source.ClassInvalid, failure.Class)
	assert.NotContains(t, failure.Error(), "a secret")
	s.Fail(drivetest.OfKind(drivetest.KindStop), 0, drivetest.Unavailable())
	assert.Equal(t, source.ClassUnavailable, failureOf(t, s.src.Unwatch(t.Context(), channel.ID, "resource")).Class)
}
