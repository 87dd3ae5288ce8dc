package drivetest_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/api/drive/v3"

	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

// receiver is an address that notifications come to.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []http.Header
	bodies int
	// answers are the statuses of the first answers; 204 follows.
	answers []int
}

func newReceiver(t *testing.T, answers ...int) *receiver {
	t.Helper()
	r := &receiver{answers: answers}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bodies += len(body)
	r.got = append(r.got, request.Header)
	status := http.StatusNoContent
	if len(r.answers) > 0 {
		status, r.answers = r.answers[0], r.answers[1:]
	}
	w.WriteHeader(status)
}

// headers gives one header of all notifications.
func (r *receiver) headers(name string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := make([]string, 0, len(r.got))
	for _, h := range r.got {
		found = append(found, h.Get(name))
	}
	return found
}

func watch(t *testing.T, s stand, of string, ch *drive.Channel) (*drive.Channel, error) {
	t.Helper()
	call := s.account().Changes.Watch(token(t, s.account(), of), ch).SupportsAllDrives(true).IncludeItemsFromAllDrives(true)
	if of != "" {
		call.DriveId(of)
	}
	return call.Do()
}

func TestChannels(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	file := drivetest.Must(s.AddFile("", "file", "text/plain", nil))
	r := newReceiver(t)
	ch, err := watch(t, s, "", &drive.Channel{Id: "one", Type: "web_hook", Address: r.URL + "/hook", Token: "secret"})
	require.NoError(t, err)
	assert.Equal(t, start().Add(time.Hour).UnixMilli(), ch.Expiration)
	assert.Equal(t, "secret", ch.Token)
	require.NoError(t, s.AwaitDeliveries(t.Context(), 1))
	require.NoError(t, s.Rename(file, "new"))
	require.NoError(t, s.AwaitDeliveries(t.Context(), 2))
	assert.Equal(t, []string{"sync", "change"}, r.headers("X-Goog-Resource-State"))
	assert.Equal(t, []string{"1", "2"}, r.headers("X-Goog-Message-Number"))
	for name, want := range map[string]string{
		"X-Goog-Channel-ID": "one", "X-Goog-Channel-Token": "secret", "X-Goog-Resource-ID": ch.ResourceId,
		"X-Goog-Resource-URI": ch.ResourceUri, "X-Goog-Channel-Expiration": "Sat, 04 Jul 2026 10:08:57 GMT",
	} {
		assert.Equal(t, []string{want, want}, r.headers(name))
	}
	assert.Zero(t, r.bodies)

	_, err = watch(t, s, "", &drive.Channel{Id: "one", Type: "web_hook", Address: r.URL})
	requireStatus(t, err, 400, drivetest.ChannelIDNotUnique)
	stop := func(id, resource string) error {
		return s.account().Channels.Stop(&drive.Channel{Id: id, ResourceId: resource}).Do()
	}
	notFound(t, stop("one", "other"))
	require.NoError(t, stop("one", ch.ResourceId))
	notFound(t, stop("one", ch.ResourceId))
	assert.Empty(t, s.Channels())
}

// TestWhatIsNotified goes by who opened the channel, and for which log.
func TestWhatIsNotified(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{Private: true})
	team := drivetest.Must(s.AddDrive("Team", s.ServiceAccount()))
	secret := drivetest.Must(s.AddFolder("", "secret"))
	r := newReceiver(t)
	_, err := watch(t, s, team, &drive.Channel{Id: "team", Type: "web_hook", Address: r.URL})
	require.NoError(t, err)
	require.Len(t, s.Channels(), 1)
	assert.Equal(t, team, s.Channels()[0].Drive)
	require.NoError(t, s.AwaitDeliveries(t.Context(), 1))
	require.NoError(t, s.Rename(secret, "more secret"))
	file := drivetest.Must(s.AddFile(team, "file", "text/plain", nil))
	require.NoError(t, s.AwaitDeliveries(t.Context(), 2))
	require.NoError(t, s.Trash(file))
	require.NoError(t, s.AwaitDeliveries(t.Context(), 3))
	assert.Equal(t, []string{"1", "2", "3"}, r.headers("X-Goog-Message-Number"), "nothing for what the account can't see")
}

func TestDuplicatesRetriesAndLosses(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	file := drivetest.Must(s.AddFile("", "file", "text/plain", nil))
	r := newReceiver(t, 503, 500, 204, 404)
	s.SetPush(drivetest.PushOptions{Backoff: func(int) time.Duration { return 0 }})
	_, err := watch(t, s, "", &drive.Channel{Id: "one", Type: "web_hook", Address: r.URL})
	require.NoError(t, err)
	require.NoError(t, s.AwaitDeliveries(t.Context(), 1))
	assert.Len(t, s.Deliveries(), 3, "what the receiver couldn't take comes again")
	s.SetPush(drivetest.PushOptions{Copies: 3})
	require.NoError(t, s.Touch(file))
	require.NoError(t, s.AwaitDeliveries(t.Context(), 3))
	assert.Equal(t, []string{"1", "1", "1", "2", "2", "2"}, r.headers("X-Goog-Message-Number"), "404 is an answer, and copies bear one number")
	s.SetPush(drivetest.PushOptions{Drop: func(d drivetest.Delivery) bool { return d.Number == 3 }})
	require.NoError(t, s.Touch(file))
	s.Notify()
	require.Eventually(t, func() bool {
		numbers := r.headers("X-Goog-Message-Number")
		return numbers[len(numbers)-1] == "4"
	}, time.Minute, time.Millisecond)
	assert.NotContains(t, r.headers("X-Goog-Message-Number"), "3")
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	clock := drivetest.NewClock(start())
	s := newStand(t, drivetest.Options{Clock: clock})
	file := drivetest.Must(s.AddFile("", "file", "text/plain", nil))
	r := newReceiver(t)
	first, err := watch(t, s, "", &drive.Channel{Id: "short", Type: "web_hook", Address: r.URL, Expiration: start().Add(time.Minute).UnixMilli()})
	require.NoError(t, err)
	assert.Equal(t, start().Add(time.Minute).UnixMilli(), first.Expiration)
	long, err := watch(t, s, "", &drive.Channel{Id: "long", Type: "web_hook", Address: r.URL, Expiration: start().AddDate(1, 0, 0).UnixMilli()})
	require.NoError(t, err)
	assert.Equal(t, start().AddDate(0, 0, 7).UnixMilli(), long.Expiration, "a week at most")
	require.NoError(t, s.AwaitDeliveries(t.Context(), 2))
	clock.Advance(time.Hour)
	require.Len(t, s.Channels(), 1)
	require.NoError(t, s.Touch(file))
	require.NoError(t, s.AwaitDeliveries(t.Context(), 3))
	last := s.Deliveries()[2]
	assert.Equal(t, "long", last.ChannelID)

	for name, ch := range map[string]*drive.Channel{
		"past":    {Id: "a", Type: "web_hook", Address: r.URL, Expiration: start().UnixMilli()},
		"no id":   {Type: "web_hook", Address: r.URL},
		"type":    {Id: "b", Type: "mail", Address: r.URL},
		"address": {Id: "c", Type: "web_hook", Address: "not an address"},
	} {
		_, err := watch(t, s, "", ch)
		status, _, _ := refused(t, err)
		assert.Contains(t, []int{400, 401}, status, name+" "+strconv.Itoa(status))
	}
}
