package gdrive_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/gdrive"
	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
	"github.com/loresync/loresync/internal/source/transport"
)

func TestFaultR010_Limits_pass_and_permissions_skip_one_file(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	limited, forbidden := s.doc(s.root.Ref, "Limited", "text"), s.doc(s.root.Ref, "Forbidden", "text")
	for _, kind := range []drivetest.Kind{drivetest.KindGet, drivetest.KindExport} {
		s.Fail(drivetest.Both(drivetest.OfKind(kind), drivetest.About(limited)), 2, drivetest.Refuse(drivetest.UserRateLimit))
	}
	s.Fail(drivetest.Both(drivetest.OfKind(drivetest.KindExport), drivetest.About(forbidden)), 0, drivetest.Refuse(drivetest.InsufficientFile))
	assert.Equal(t, "text\n", s.fetch(limited).Markdown, "a quota is waited for")
	s.ResetLog()
	assert.Equal(t, "forbidden", s.skipped(forbidden))
	assert.Equal(t, 1, s.Count(drivetest.KindExport), "what isn't permitted isn't tried again")
	assert.ElementsMatch(t, []string{limited, forbidden}, s.list(s.root).ids(), "both stay")
}

func TestErrors_are_classified_by_their_reason(t *testing.T) {
	t.Parallel()
	for reason, c := range map[drivetest.Reason]struct {
		class source.Class
		skip  string
	}{
		drivetest.SharingRateLimit:    {class: source.ClassRateLimited},
		drivetest.RateLimitExceeded:   {class: source.ClassRateLimited},
		drivetest.DailyLimit:          {class: source.ClassRateLimited},
		drivetest.DownloadQuota:       {class: source.ClassUnavailable},
		drivetest.InsufficientFile:    {source.ClassInvalid, "forbidden"},
		drivetest.AppNotAuthorized:    {source.ClassInvalid, "forbidden"},
		drivetest.DomainPolicy:        {source.ClassInvalid, "forbidden"},
		drivetest.TeamDriveMembership: {source.ClassInvalid, "forbidden"},
		drivetest.CannotExport:        {source.ClassInvalid, "no_download"},
		drivetest.CannotDownload:      {source.ClassInvalid, "no_download"},
		drivetest.Abusive:             {source.ClassInvalid, "abusive"},
		drivetest.NotDownloadable:     {source.ClassInvalid, "unsupported"},
		drivetest.NotExportable:       {source.ClassInvalid, "unsupported"},
		drivetest.AuthError:           {class: source.ClassUnauthorized},
		drivetest.InsufficientScope:   {class: source.ClassUnauthorized},
		drivetest.NotFound:            {class: source.ClassNotFound},
		drivetest.BackendError:        {class: source.ClassUnavailable},
		drivetest.Invalid:             {class: source.ClassInvalid},
		"someFutureReason":            {class: source.ClassInvalid},
	} {
		t.Run(string(reason), func(t *testing.T) {
			t.Parallel()
			s := newOffice(t, drivetest.Options{})
			id := s.doc(s.root.Ref, "Page", "text")
			s.Fail(drivetest.OfKind(drivetest.KindExport), 0, drivetest.Refuse(reason))
			failure := s.refused(id)
			assert.Equal(t, c.class, failure.Class)
			if c.skip == "" {
				assert.Nil(t, failure.Skip, "the page isn't given up")
			} else {
				require.NotNil(t, failure.Skip)
				assert.Equal(t, c.skip, failure.Skip.Class)
			}
			assertDiscreet(t, s, failure, id)
		})
	}
}

// assertDiscreet checks that an error names no file, no token and nothing that was sent or answered.
func assertDiscreet(t *testing.T, s *office, failure *source.Failure, id string) {
	t.Helper()
	for _, said := range []string{failure.Error(), failure.Sentence, failure.Doing} {
		for _, secret := range []string{id, s.URL(), "Bearer", "ya29", "fields=", "<html", "message"} {
			assert.NotContains(t, said, secret)
		}
	}
}

func TestErrors_of_a_daily_limit_wait_for_midnight_in_California(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	id := s.doc(s.root.Ref, "Page", "text")
	s.Fail(drivetest.OfKind(drivetest.KindGet), 0, drivetest.Refuse(drivetest.DailyLimit))
	failure := s.refused(id)
	assert.Equal(t, source.ClassRateLimited, failure.Class)
	pacific, err := time.LoadLocation("America/Los_Angeles")
	require.NoError(t, err)
	reset := time.Now().Add(failure.RetryAfter).In(pacific)
	assert.Zero(t, reset.Round(time.Minute).Hour())
	assert.Zero(t, reset.Round(time.Minute).Minute())
	assert.LessOrEqual(t, failure.RetryAfter, 25*time.Hour)
	assert.Equal(t, 1, s.Count(drivetest.KindGet), "nothing more is sent")
	_, err = s.src.Presence(t.Context(), s.root, id)
	assert.Equal(t, source.ClassRateLimited, failureOf(t, err).Class, "a limit says nothing of a page, and is seen")
}

func TestFaultR035_Errors_of_the_edge_and_the_line_are_tried_again_whatever_their_body(t *testing.T) {
	t.Parallel()
	for what, effect := range map[string]drivetest.Effect{
		"502 in HTML": drivetest.BadGateway(), "503 without a body": drivetest.Unavailable(), "504 in HTML": drivetest.GatewayTimeout(),
		"500 in JSON": drivetest.Status(http.StatusInternalServerError), "a body that breaks off": drivetest.CutBody(),
		"a reset connection": drivetest.Reset(), "429": drivetest.TooManyRequests(0),
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newOffice(t, drivetest.Options{})
			id := s.file(s.root.Ref, "page.txt", "text/plain", "the whole text of the file")
			api := drivetest.OfKind(drivetest.KindGet, drivetest.KindMedia, drivetest.KindList, drivetest.KindChanges, drivetest.KindStartToken)
			s.Fail(api, 2, effect)
			assert.Equal(t, "the whole text of the file", s.fetch(id).Markdown)
			s.Fail(api, 2, effect)
			all := s.list(s.root)
			assert.Equal(t, []string{id}, all.ids())
			s.Fail(api, 2, effect)
			assert.Empty(t, s.changes(s.root, all).ids())
			s.Fail(api, 0, effect)
			failure := s.refused(id)
			assert.Contains(t, []source.Class{source.ClassUnavailable, source.ClassRateLimited}, failure.Class)
			assertDiscreet(t, s, failure, id)
			if failure.Class == source.ClassUnavailable {
				assert.Equal(t, source.PresenceUnknown, s.presence(id), "which counts as alive")
			}
		})
	}
}

// fixture is one of the recorded bodies of refusals.
type fixture struct {
	Status  int               `json:"status"`
	Class   string            `json:"class"`
	Body    json.RawMessage   `json:"body"`
	Raw     string            `json:"raw_body"`
	Headers map[string]string `json:"headers"`
}

// answerWith sends what a fixture says.
func (f fixture) answerWith(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	for name, value := range f.Headers {
		w.Header().Set(name, value)
	}
	w.WriteHeader(f.Status)
	body := f.Body
	if len(body) == 0 {
		body = json.RawMessage(f.Raw)
	}
	_, _ = w.Write(body)
}

// classes says what becomes of each kind of fixture. An answer that means one thing for an export means it for a read.
func (f fixture) classes(name string) []source.Class {
	switch {
	case strings.HasPrefix(name, "domain_policy"):
		return []source.Class{source.ClassInvalid}
	case f.Class == "retry":
		return []source.Class{source.ClassUnavailable, source.ClassRateLimited}
	case f.Class == "retry-late", f.Class == "stop":
		return []source.Class{source.ClassRateLimited, source.ClassUnavailable}
	case f.Class == "refresh-token":
		return []source.Class{source.ClassUnauthorized}
	case f.Class == "gone-or-no-access":
		return []source.Class{source.ClassNotFound}
	}
	return []source.Class{source.ClassInvalid}
}

func TestErrors_every_recorded_refusal_has_a_class(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.FromSlash("../../../../shared/fixtures/drive/made-here/errors/*.json"))
	require.NoError(t, err)
	if len(names) == 0 {
		t.Skip("the recorded refusals are not here: they are looked for in ../shared/fixtures/drive, and aren't part of the repository")
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(name)
			require.NoError(t, err)
			var f fixture
			require.NoError(t, json.Unmarshal(raw, &f))
			s := newOffice(t, drivetest.Options{}, func(o *gdrive.Options) {
				config := gdrive.Transport("gdrive", nil)
				config.Backoff, config.MaxBackoff, config.Patience = time.Millisecond, time.Millisecond, 10*time.Millisecond
				o.Transport = transport.New(config)
			})
			id := s.doc(s.root.Ref, "Page", "text")
			s.Fail(drivetest.About(id), 0, f.answerWith)
			failure := s.refused(id)
			assert.Contains(t, f.classes(filepath.Base(name)), failure.Class, failure.Error())
			if f.Class == "skip-file" || failure.Class == source.ClassInvalid && f.Status == http.StatusForbidden {
				assert.NotNil(t, failure.Skip, "what holds for one file skips it")
			} else {
				assert.Nil(t, failure.Skip)
			}
			assertDiscreet(t, s, failure, id)
		})
	}
}

func TestErrors_without_a_transport_of_ours_have_the_same_classes(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{}, func(o *gdrive.Options) { o.Transport = nil })
	id := s.doc(s.root.Ref, "Page", "text")
	for class, effect := range map[source.Class]drivetest.Effect{
		source.ClassRateLimited: drivetest.Refuse(drivetest.UserRateLimit), source.ClassUnavailable: drivetest.CutBody(),
		source.ClassUnauthorized: drivetest.Refuse(drivetest.AuthError),
	} {
		heal := s.Fail(drivetest.OfKind(drivetest.KindGet), 0, effect)
		assert.Equal(t, class, s.refused(id).Class)
		heal()
	}
	var own *gdrive.Error
	s.Fail(drivetest.OfKind(drivetest.KindGet), 1, drivetest.BadGateway())
	failure := s.refused(id)
	require.ErrorAs(t, failure, &own)
	assert.Equal(t, "read a file's metadata: Drive answered 502", own.Error())
}
