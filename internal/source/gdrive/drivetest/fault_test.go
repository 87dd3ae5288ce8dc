package drivetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/api/googleapi"

	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

// TestErrorsAreShapedAsDrives compares every error with a payload of Drive's.
func TestErrorsAreShapedAsDrives(t *testing.T) {
	t.Parallel()
	effects := map[string]drivetest.Effect{
		"abusive_403": drivetest.Refuse(drivetest.Abusive), "app_not_authorized_403": drivetest.Refuse(drivetest.AppNotAuthorized),
		"auth_401": drivetest.Refuse(drivetest.AuthError), "backend_500": drivetest.Refuse(drivetest.BackendError),
		"backend_503": drivetest.Status(503), "cannot_export_403": drivetest.Refuse(drivetest.CannotExport),
		"daily_limit_403": drivetest.Refuse(drivetest.DailyLimit), "domain_policy_403": drivetest.Refuse(drivetest.DomainPolicy),
		"download_quota_403": drivetest.Refuse(drivetest.DownloadQuota), "empty_503": drivetest.Unavailable(),
		"export_blob_403": drivetest.Refuse(drivetest.NotExportable), "export_size_403": drivetest.Refuse(drivetest.ExportTooLarge),
		"html_502": drivetest.BadGateway(), "insufficient_perm_403": drivetest.Refuse(drivetest.InsufficientFile),
		"invalid_page_token_400": drivetest.Refuse(drivetest.Invalid), "invalid_q_400": drivetest.Refuse(drivetest.Invalid),
		"media_on_doc_403": drivetest.Refuse(drivetest.NotDownloadable), "not_found_404": drivetest.Refuse(drivetest.NotFound),
		"rate_limit_403": drivetest.Refuse(drivetest.RateLimitExceeded), "sharing_rate_limit_403": drivetest.Refuse(drivetest.SharingRateLimit),
		"too_many_requests_429": drivetest.TooManyRequests(time.Second), "user_rate_limit_403": drivetest.Refuse(drivetest.UserRateLimit),
	}
	const id = "1AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	for name, effect := range effects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var want struct {
				Status  int               `json:"status"`
				Headers map[string]string `json:"headers"`
				Body    map[string]any    `json:"body"`
				Raw     string            `json:"raw_body"`
			}
			require.NoError(t, json.Unmarshal(readFixture(t, "made-here/errors/"+name+".json"), &want))
			s := newStand(t, drivetest.Options{})
			s.Fail(nil, 1, effect)
			_, err := s.owner().Files.Get(id).Do()
			var got *googleapi.Error
			require.ErrorAs(t, err, &got)
			assert.Equal(t, want.Status, got.Code)
			for header, value := range want.Headers {
				assert.True(t, strings.HasPrefix(got.Header.Get(header), value), header)
			}
			if want.Body == nil {
				assert.Equal(t, want.Raw, got.Body)
				return
			}
			var body map[string]any
			require.NoError(t, json.Unmarshal([]byte(got.Body), &body))
			assert.Equal(t, want.Body, body)
		})
	}
	files, err := filepath.Glob(filepath.Join(fixtures, "made-here/errors/*.json"))
	require.NoError(t, err)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		assert.True(t, effects[name] != nil || name == "truncated_200", "%s isn't compared", name)
	}
	_, err = os.Stat(fixtures)
	assert.Equal(t, err == nil, len(files) > 0)
}

func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	id := drivetest.Must(s.AddFile("", "file", "text/plain", []byte("0123456789")))
	owner := s.owner()
	read := func() (string, error) {
		got, err := owner.Files.Get(id).Download()
		if err != nil {
			return "", err
		}
		defer func() { _ = got.Body.Close() }()
		raw, err := io.ReadAll(got.Body)
		return string(raw), err
	}
	media := drivetest.OfKind(drivetest.KindMedia)

	s.Fail(nil, 1, drivetest.CutBody())
	_, err := owner.Files.List().Do()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "truncated JSON")
	s.Fail(media, 1, drivetest.CutBody())
	got, err := read()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "truncated media")
	assert.Equal(t, "01234", got)
	s.Fail(media, 1, drivetest.ShortBody())
	got, err = read()
	require.NoError(t, err)
	assert.Equal(t, "01234", got, "nothing tells but the size")
	s.Fail(media, 1, drivetest.Corrupt())
	got, err = read()
	require.NoError(t, err)
	assert.Len(t, got, 10)
	assert.NotEqual(t, "0123456789", got)
	s.Fail(media, 2, drivetest.Reset())
	_, err = read()
	require.Error(t, err)
	s.Heal()
	assert.True(t, errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF), err)
	got, err = read()
	require.NoError(t, err)
	assert.Equal(t, "0123456789", got, "each fault was for one request")

	right, err := owner.Files.Get(id).Fields("md5Checksum").Do()
	require.NoError(t, err)
	s.Fail(nil, 2, drivetest.WrongChecksum())
	wrong, err := owner.Files.Get(id).Fields("md5Checksum", "id").Do()
	require.NoError(t, err)
	assert.NotEqual(t, right.Md5Checksum, wrong.Md5Checksum)
	listed, err := owner.Files.List().Fields("files(md5Checksum)").Do()
	require.NoError(t, err)
	assert.Equal(t, wrong.Md5Checksum, listed.Files[0].Md5Checksum)
	s.Fail(nil, 1, drivetest.EachFile(func(file drivetest.Object) { file["size"] = "many" }))
	_, err = owner.Files.List().Fields("files(size)").Do()
	require.Error(t, err, "a number that isn't one")
}

// TestWhichRequestsAreHit goes by kind, file, user, count and chance.
func TestWhichRequestsAreHit(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{Seed: 3})
	one, two := drivetest.Must(s.AddFolder("", "one")), drivetest.Must(s.AddFolder("", "two"))
	get := func(id string) error {
		_, err := s.owner().Files.Get(id).Do()
		return err
	}
	heal := s.Break(drivetest.Fault{
		Match: drivetest.Both(drivetest.OfKind(drivetest.KindGet), drivetest.About(one), drivetest.By(s.Owner())),
		After: 1, Times: 2, Effects: []drivetest.Effect{drivetest.Refuse(drivetest.InsufficientFile)},
	})
	require.NoError(t, get(one))
	require.NoError(t, get(two))
	_, err := s.account().Files.Get(one).Do()
	require.NoError(t, err)
	for range 2 {
		requireStatus(t, get(one), 403, drivetest.InsufficientFile)
	}
	require.NoError(t, get(one))
	heal()
	heal = s.Break(drivetest.Fault{Share: 0.5, Effects: drivetest.Weather()})
	var failed int
	for range 100 {
		if get(two) != nil {
			failed++
		}
	}
	assert.Greater(t, failed, 20)
	assert.Less(t, failed, 80)
	heal()
	require.NoError(t, get(two))
	s.Fail(nil, 0, drivetest.Status(500))
	require.Error(t, get(two))
	s.Heal()
	require.NoError(t, get(two))
}

func TestGates(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	id := drivetest.Must(s.AddFolder("", "before"))
	owner := s.owner()
	held := s.Hold(drivetest.About(id))
	answered := make(chan string, 1)
	go func() {
		got, err := owner.Files.Get(id).Do()
		if err != nil {
			answered <- err.Error()
			return
		}
		answered <- got.Name
	}()
	require.NoError(t, held.Await(t.Context(), 1))
	assert.Equal(t, 1, held.Waiting())
	_, err := owner.Files.List().Do()
	require.NoError(t, err, "others pass")
	require.NoError(t, s.Rename(id, "after"))
	held.Release()
	held.Release()
	assert.Equal(t, "after", <-answered, "what is true when it is let go")
	assert.Equal(t, 0, held.Waiting())

	again := s.Hold(nil)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := owner.Files.Get(id).Context(ctx).Do()
		gone <- err
	}()
	require.NoError(t, again.Await(t.Context(), 1))
	cancel()
	require.ErrorIs(t, <-gone, context.Canceled)
	require.Eventually(t, func() bool { return again.Waiting() == 0 }, time.Minute, time.Millisecond)
	late := s.Hold(nil)
	require.ErrorIs(t, late.Await(ctx, 1), context.Canceled)
}

// TestDelays end when the client has gone.
func TestDelays(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	s.Fail(nil, 1, drivetest.Delay(time.Hour))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	owner := s.owner()
	go func() {
		_, err := owner.Files.List().Context(ctx).Do()
		done <- err
	}()
	require.Eventually(t, func() bool { return s.Count() == 1 }, time.Minute, time.Millisecond)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	s.Fail(nil, 1, drivetest.Delay(time.Nanosecond))
	_, err := owner.Files.List().Do()
	require.NoError(t, err)
}

func TestRateLimits(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{RateLimit: drivetest.RateLimit{Requests: 2, Window: time.Hour}})
	list := func(email string) error {
		_, err := s.as(email).Files.List().Do()
		return err
	}
	for range 2 {
		require.NoError(t, list(s.Owner()))
	}
	err := list(s.Owner())
	requireStatus(t, err, 403, drivetest.UserRateLimit)
	require.NoError(t, list(s.ServiceAccount()), "each user has a share")
	s.SetRateLimit(drivetest.RateLimit{Project: 3, Window: time.Hour})
	requireStatus(t, list(s.ServiceAccount()), 403, drivetest.RateLimitExceeded)
	s.SetRateLimit(drivetest.RateLimit{Project: 3, Window: time.Hour, TooMany: true})
	err = list(s.Owner())
	requireStatus(t, err, http.StatusTooManyRequests, drivetest.RateLimitExceeded)
	var e *googleapi.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "3600", e.Header.Get("Retry-After"))
	s.SetRateLimit(drivetest.RateLimit{})
	require.NoError(t, list(s.Owner()))
	assert.Equal(t, 7, s.MaxInWindow(time.Hour))
	assert.Equal(t, map[int]int{200: 4, 403: 2, 429: 1}, s.Statuses())
}

// TestTheLog knows every request and no secret.
func TestTheLog(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	team := drivetest.Must(s.AddDrive("Team"))
	_, err := s.who(s.key(""))
	require.NoError(t, err)
	_, err = everywhere(s.account().Files.List()).Corpora("drive").DriveId(team).Q("trashed = false").Do()
	require.NoError(t, err)
	_, err = s.account().Files.Get("1x").Do()
	notFound(t, err)
	status, _ := s.get("files?access_token=secret&key=secret")
	require.Equal(t, 200, status)
	status, _ = s.get("nothing/here")
	require.Equal(t, 404, status)
	requests := s.Requests()
	require.Len(t, requests, 6)
	assert.NotContains(t, fmt.Sprint(requests), "secret")
	assert.NotContains(t, fmt.Sprint(requests), "ya29.")
	assert.Equal(t, team, requests[2].ID)
	assert.Equal(t, "trashed = false", requests[2].Query.Get("q"))
	assert.Equal(t, s.ServiceAccount(), requests[2].User)
	assert.Equal(t, "1x", requests[3].ID)
	assert.Equal(t, 404, requests[3].Status)
	assert.Equal(t, map[drivetest.Kind]int{
		drivetest.KindToken: 1, drivetest.KindAbout: 1, drivetest.KindList: 2, drivetest.KindGet: 1, drivetest.KindUnknown: 1,
	}, s.Counts())
	s.ResetLog()
	assert.Zero(t, s.Count())
}
