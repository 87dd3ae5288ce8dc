package notiontest_test

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

func TestRateLimit(t *testing.T) {
	t.Parallel()

	t.Run("what exceeds a window is refused with the time to wait", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{RateLimit: notiontest.RateLimit{Requests: 3, Window: time.Minute}})
		for range 3 {
			assert.Equal(t, http.StatusOK, s.get("/v1/users/me").status)
		}
		got := s.get("/v1/users/me")
		assert.Equal(t, http.StatusTooManyRequests, got.status)
		assert.Equal(t, "rate_limited", got.code())
		seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
		require.NoError(t, err)
		assert.InDelta(t, 60, seconds, 2)
		additional, _ := got.body["additional_data"].(object)
		assert.Equal(t, "public_api_request_rate_limit", additional["rate_limit_reason"])
		assert.Equal(t, got.header.Get("Retry-After"), additional["retry_after"])
		s.SetRateLimit(notiontest.RateLimit{})
		assert.Equal(t, http.StatusOK, s.get("/v1/users/me").status)
	})

	t.Run("waiting as told is enough", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{RateLimit: notiontest.RateLimit{Requests: 2, Window: 200 * time.Millisecond}})
		require.Eventually(t, func() bool { return s.get("/v1/users/me").status == 429 }, 5*time.Second, time.Millisecond)
		assert.Eventually(t, func() bool { return s.get("/v1/users/me").status == 200 }, 5*time.Second, 20*time.Millisecond)
	})

	t.Run("a burst is refused before the window is full", func(t *testing.T) {
		t.Parallel()
		limit := notiontest.FreePlan()
		limit.Burst = 2
		s := newStand(t, notiontest.ServerOptions{RateLimit: limit})
		statuses := map[int]int{}
		for range 3 {
			statuses[s.get("/v1/users/me").status]++
		}
		assert.Equal(t, map[int]int{200: 2, 429: 1}, statuses)
	})

	t.Run("faults and downloads don't count", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{RateLimit: notiontest.RateLimit{Requests: 1}})
		assert.Equal(t, http.StatusForbidden, s.get("/files/"+s.Bot()+"/x").status)
		assert.Equal(t, http.StatusOK, s.get("/v1/users/me").status)
	})
}

func TestLog(t *testing.T) {
	t.Parallel()
	s := newStand(t, notiontest.ServerOptions{})
	page := s.page("Page")
	s.get("/v1/pages/" + page)
	s.get("/v1/pages/" + page)
	s.get("/v1/blocks/" + page + "/children?page_size=1")
	s.post("/v1/search", nil)
	s.get("/v1/nothing")
	s.get("/files/" + page + "/x")
	assert.Equal(t, map[notiontest.Kind]int{
		notiontest.KindPage: 2, notiontest.KindChildren: 1, notiontest.KindSearch: 1, notiontest.KindUnknown: 1, notiontest.KindFile: 1,
	}, s.Counts())
	assert.Equal(t, 3, s.Count(notiontest.KindPage, notiontest.KindSearch))
	assert.Equal(t, 5, s.MaxInWindow(time.Minute), "downloads don't go to the API")
	assert.Equal(t, 1, s.MaxInWindow(time.Nanosecond))
	children := s.Requests(notiontest.KindChildren)[0]
	assert.Equal(t, page, children.ID)
	assert.Equal(t, "/v1/blocks/"+page+"/children", children.Path)
	assert.Equal(t, http.MethodGet, children.Method)
	assert.WithinDuration(t, time.Now(), children.Time, time.Minute)
	assert.Eventually(t, func() bool { return s.Statuses()[200] == 4 && s.Statuses()[400] == 1 }, 5*time.Second, time.Millisecond)
	s.ResetLog()
	assert.Zero(t, s.Count())
}

func TestGate(t *testing.T) {
	t.Parallel()
	s := newStand(t, notiontest.ServerOptions{})
	page, other := s.page("Page"), s.page("Other")
	held := s.Hold(notiontest.About(page))
	answers := make(chan answer, 2)
	for range 2 {
		go func() {
			got, err := trySend(s.request(newest, http.MethodGet, "/v1/pages/"+page, nil))
			assert.NoError(t, err)
			answers <- got
		}()
	}
	require.NoError(t, held.Await(t.Context(), 2))
	assert.Equal(t, 2, held.Waiting())
	assert.Equal(t, http.StatusOK, s.get("/v1/pages/"+other).status, "others pass")
	require.NoError(t, s.Trash(page))
	held.Release()
	for range 2 {
		assert.Equal(t, true, (<-answers).body["in_trash"], "what is held is answered with what is true by then")
	}
	assert.Equal(t, http.StatusOK, s.get("/v1/pages/"+page).status)
	assert.Zero(t, held.Waiting())
}

func TestFiles(t *testing.T) {
	t.Parallel()
	s := newStand(t, notiontest.ServerOptions{FileLife: time.Hour})
	file := s.AddFile("a picture.png", "image/png", []byte("picture"))
	page := s.page("Page", notiontest.Uploaded("image", file))
	require.NoError(t, s.SetIcon(page, notiontest.UploadedIcon(file)))
	read := func() (address, expiry string) {
		image, _ := s.get("/v1/blocks/" + page + "/children").results()[0]["image"].(object)
		signed, _ := image["file"].(object)
		address, _ = signed["url"].(string)
		expiry, _ = signed["expiry_time"].(string)
		return address, expiry
	}
	fetch := func(address string) answer {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
		require.NoError(t, err)
		return s.send(r)
	}
	first, expiry := read()
	second, _ := read()
	assert.NotEqual(t, first, second, "a URL is signed anew at every read")
	assert.Equal(t, "2026-07-04T10:08:57.778Z", expiry)
	for _, address := range []string{first, second} {
		got := fetch(address)
		assert.Equal(t, "picture", string(got.raw))
		assert.Equal(t, "image/png", got.header.Get("Content-Type"))
	}
	assert.Equal(t, http.StatusForbidden, fetch(first+"0").status, "another signature")
	s.Clock().Advance(time.Hour)
	assert.Equal(t, http.StatusForbidden, fetch(first).status, "too late")
	third, _ := read()
	assert.Equal(t, http.StatusOK, fetch(third).status)
	icon, _ := s.get("/v1/pages/" + page).body["icon"].(object)
	assert.Equal(t, "file", icon["type"])
	assert.Contains(t, icon["file"], "expiry_time")
}
