package notiontest_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

func TestErrorsOnDemand(t *testing.T) {
	t.Parallel()
	date := time.Date(2026, 12, 24, 18, 0, 0, 0, time.UTC).Format(http.TimeFormat)
	cases := []struct {
		name       string
		effect     notiontest.Effect
		status     int
		code       any
		retryAfter string
		reason     any
	}{
		{"429 with seconds", notiontest.TooManyRequests("3"), 429, "rate_limited", "3", "public_api_request_rate_limit"},
		{"429 with a fraction", notiontest.TooManyRequests("0.5"), 429, "rate_limited", "0.5", "public_api_request_rate_limit"},
		{"429 with a date", notiontest.TooManyRequests(date), 429, "rate_limited", date, "public_api_request_rate_limit"},
		{"429 without a time", notiontest.TooManyRequests(""), 429, "rate_limited", "", "public_api_request_rate_limit"},
		{"429 of the workspace", notiontest.WorkspaceLimited("90"), 429, "rate_limited", "90", "public_api_space_request_rate_limit"},
		{"429 of a blocked connection", notiontest.Blocked(), 429, "rate_limited", "", "public_api_request_blocked"},
		{"529", notiontest.Overloaded("2"), 529, "service_overload", "2", nil},
		{"409", notiontest.Conflict(), 409, "conflict_error", "", nil},
		{"500", notiontest.Status(500), 500, "internal_server_error", "", nil},
		{"503", notiontest.Status(503), 503, "service_unavailable", "", nil},
		{"401", notiontest.Revoked(), 401, "unauthorized", "", nil},
		{"403", notiontest.Restricted(), 403, "restricted_resource", "", nil},
		{"400", notiontest.Invalid("Block type ai_block is not supported via the API."), 400, "validation_error", "", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t, notiontest.ServerOptions{})
			s.Fail(nil, 1, c.effect)
			got := s.get("/v1/users/me")
			assert.Equal(t, c.status, got.status)
			assert.Equal(t, c.code, got.code())
			assert.Equal(t, c.retryAfter, got.header.Get("Retry-After"))
			assert.NotEmpty(t, got.body["request_id"])
			additional, _ := got.body["additional_data"].(object)
			assert.Equal(t, c.reason, additional["rate_limit_reason"])
			assert.Equal(t, http.StatusOK, s.get("/v1/users/me").status, "the fault was for one request")
		})
	}
}

func TestTheEdge(t *testing.T) {
	t.Parallel()

	t.Run("502 is a page of HTML without the API's id", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		s.Fail(nil, 1, notiontest.BadGateway())
		got := s.get("/v1/users/me")
		assert.Equal(t, http.StatusBadGateway, got.status)
		assert.Contains(t, string(got.raw), "<html>")
		assert.NotEmpty(t, got.header.Get("Cf-Ray"))
		assert.Empty(t, got.header.Get("X-Notion-Request-Id"))
	})

	t.Run("504 has no body", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		s.Fail(nil, 1, notiontest.GatewayTimeout())
		got := s.get("/v1/users/me")
		assert.Equal(t, http.StatusGatewayTimeout, got.status)
		assert.Empty(t, got.raw)
	})

	t.Run("a cut body ends in the middle", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		s.Fail(nil, 1, notiontest.CutBody())
		_, err := trySend(s.request(newest, http.MethodGet, "/v1/users/me", nil))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Equal(t, 1, s.Statuses()[http.StatusOK])
	})

	t.Run("a reset gives no answer at all", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		s.Fail(nil, 0, notiontest.Reset())
		_, err := trySend(s.request(newest, http.MethodPost, "/v1/search", object{}))
		require.Error(t, err)
		assert.True(t, errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF), err)
	})

	t.Run("a delay outlasts the client's patience", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		s.Fail(nil, 1, notiontest.Delay(time.Hour))
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := trySend(s.request(newest, http.MethodGet, "/v1/users/me", nil).WithContext(ctx))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		s.Fail(nil, 1, notiontest.Delay(time.Millisecond))
		assert.Equal(t, http.StatusOK, s.get("/v1/users/me").status)
	})
}

func TestStrangeLists(t *testing.T) {
	t.Parallel()
	// read follows a list to its end, or to the tenth answer, as a client without guards would.
	read := func(s stand, path string) (ids []string, answers []answer) {
		cursor := ""
		for range 10 {
			got := s.get(path + cursor)
			answers = append(answers, got)
			ids = append(ids, got.ids()...)
			next, ok := got.body["next_cursor"].(string)
			if !ok {
				break
			}
			cursor = "&start_cursor=" + next
		}
		return ids, answers
	}
	open := func(t *testing.T) (stand, string, []string) {
		t.Helper()
		s := newStand(t, notiontest.ServerOptions{})
		page := s.page("Page", paragraphs(5)...)
		path := "/v1/blocks/" + page + "/children?page_size=2"
		ids, answers := read(s, path)
		require.Len(t, ids, 5)
		require.Len(t, answers, 3)
		return s, path, ids
	}

	t.Run("an empty part in the middle loses nothing", func(t *testing.T) {
		t.Parallel()
		s, path, want := open(t)
		s.Break(notiontest.Fault{After: 1, Times: 1, Effects: []notiontest.Effect{notiontest.EmptyPage()}})
		ids, answers := read(s, path)
		assert.Equal(t, want, ids)
		require.Len(t, answers, 4)
		assert.Empty(t, answers[1].results())
		assert.Equal(t, true, answers[1].body["has_more"])
	})

	t.Run("duplicates stand at the ends of two parts", func(t *testing.T) {
		t.Parallel()
		s, path, want := open(t)
		s.Fail(nil, 1, notiontest.Duplicates())
		ids, _ := read(s, path)
		assert.Equal(t, append([]string{want[0], want[1]}, want[1:]...), ids)
	})

	t.Run("a null cursor says that there is more", func(t *testing.T) {
		t.Parallel()
		s, path, _ := open(t)
		s.Fail(nil, 1, notiontest.NullCursor())
		got := s.get(path)
		assert.Nil(t, got.body["next_cursor"])
		assert.Equal(t, true, got.body["has_more"])
	})

	t.Run("a repeated cursor leads nowhere", func(t *testing.T) {
		t.Parallel()
		s, path, _ := open(t)
		s.Fail(nil, 0, notiontest.RepeatedCursor())
		_, answers := read(s, path)
		require.Len(t, answers, 10)
		assert.Equal(t, answers[1].body["next_cursor"], answers[9].body["next_cursor"])
	})

	t.Run("a null stands among the results", func(t *testing.T) {
		t.Parallel()
		s, path, _ := open(t)
		s.Fail(nil, 1, notiontest.NullResult())
		results, _ := s.get(path).body["results"].([]any)
		require.Len(t, results, 3)
		assert.Nil(t, results[0])
	})

	t.Run("blocks lose their type", func(t *testing.T) {
		t.Parallel()
		s, path, want := open(t)
		s.Fail(nil, 1, notiontest.TypelessBlock())
		assert.Equal(t, []object{{"object": "block", "id": want[0]}, {"object": "block", "id": want[1]}}, s.get(path).results())
	})

	t.Run("blocks are of a type that nobody knows", func(t *testing.T) {
		t.Parallel()
		s, path, _ := open(t)
		s.Fail(nil, 1, notiontest.UnknownBlock("hologram"))
		block := s.get(path).results()[0]
		assert.Equal(t, "hologram", block["type"])
		assert.Contains(t, block, "hologram")
		assert.NotContains(t, block, "paragraph")
	})

	t.Run("pages have a property of a type that nobody knows, alone and in lists", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		page := s.page("Page")
		s.Fail(nil, 2, notiontest.UnknownProperty("Mood", "mood"))
		alone, _ := s.get("/v1/pages/" + page).body["properties"].(object)
		listed, _ := s.post("/v1/search", nil).results()[0]["properties"].(object)
		for _, properties := range []object{alone, listed} {
			mood, _ := properties["Mood"].(object)
			assert.Equal(t, "mood", mood["type"])
		}
	})
}

func TestWhichRequestsAreHit(t *testing.T) {
	t.Parallel()

	t.Run("one page always answers 500 and its blocks and others don't", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		bad, good := s.page("Bad"), s.page("Good")
		heal := s.Fail(notiontest.Both(notiontest.OfKind(notiontest.KindPage), notiontest.About(bad)), 0, notiontest.Status(500))
		for range 3 {
			assert.Equal(t, 500, s.get("/v1/pages/"+strings.ReplaceAll(bad, "-", "")).status)
		}
		assert.Equal(t, 200, s.get("/v1/blocks/"+bad+"/children").status)
		assert.Equal(t, 200, s.get("/v1/pages/"+good).status)
		heal()
		assert.Equal(t, 200, s.get("/v1/pages/"+bad).status)
	})

	t.Run("a share is hit, the same for the same seed", func(t *testing.T) {
		t.Parallel()
		pattern := func() (statuses []int) {
			s := newStand(t, notiontest.ServerOptions{Seed: 3})
			s.Break(notiontest.Fault{Share: 0.3, Effects: []notiontest.Effect{notiontest.Status(500), notiontest.Status(503)}})
			for range 200 {
				statuses = append(statuses, s.get("/v1/users/me").status)
			}
			return statuses
		}
		first := pattern()
		assert.Equal(t, first, pattern())
		counts := map[int]int{}
		for _, status := range first {
			counts[status]++
		}
		assert.InDelta(t, 140, counts[200], 30)
		assert.Positive(t, counts[500])
		assert.Positive(t, counts[503])
	})

	t.Run("bad weather passes when requests are repeated", func(t *testing.T) {
		t.Parallel()
		s := newStand(t, notiontest.ServerOptions{})
		s.Break(notiontest.Fault{Share: 0.5, Effects: notiontest.Weather()})
		good := 0
		for range 100 {
			if got, err := trySend(s.request(newest, http.MethodGet, "/v1/users/me", nil)); err == nil && got.status == 200 {
				good++
			}
		}
		assert.InDelta(t, 50, good, 20)
		s.Heal()
		assert.Equal(t, 200, s.get("/v1/users/me").status)
	})
}
