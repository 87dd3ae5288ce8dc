package gdrive

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/api/drive/v3"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/transport"
)

func TestTrusted_hosts_are_Google_and_the_endpoint(t *testing.T) {
	t.Parallel()
	endpoint, err := url.Parse("http://127.0.0.1:8080/drive/v3/")
	require.NoError(t, err)
	for address, want := range map[string]bool{
		"http://127.0.0.1:8080/export?id=x": true, "https://docs.google.com/document/export?id=x": true,
		"https://www.googleapis.com/drive/v3/files": true, "https://doc-0s.googleusercontent.com/x": true, "https://DOCS.GOOGLE.COM/x": true,
		"http://docs.google.com/x": false, "http://127.0.0.1:8081/": false, "https://127.0.0.1:8080/": false, "https://evilgoogle.com/": false,
		"https://google.com.example.org/": false, "https://example.org/?google.com": false,
	} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		assert.Equal(t, want, (&authorized{endpoint: endpoint}).trusted(u), address)
	}
}

func TestVerdict_reads_both_forms_of_refusals(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]transport.Verdict{
		`{"error":{"errors":[{"reason":"userRateLimitExceeded"}]}}`: {Reason: "userRateLimitExceeded", Treat: transport.TreatAsRateLimit},
		`{"error":{"status":"PERMISSION_DENIED","details":[{},{"reason":"SERVICE_DISABLED"}]}}`: {
			Code: "PERMISSION_DENIED", Reason: "SERVICE_DISABLED",
		},
		`{"error":{"status":"UNAUTHENTICATED"}}`:                          {Code: "UNAUTHENTICATED", Reason: "UNAUTHENTICATED"},
		`{"error":{"errors":[{"reason":"insufficientFilePermissions"}]}}`: {Reason: "insufficientFilePermissions"},
		`<html>`: {}, ``: {}, `{"error":"invalid"}`: {},
	} {
		assert.Equal(t, want, verdictOf(http.StatusForbidden, nil, []byte(body)), body)
	}
	daily := verdictOf(http.StatusForbidden, nil, []byte(`{"error":{"errors":[{"reason":"dailyLimitExceeded"}]}}`))
	assert.Equal(t, transport.TreatAsRateLimit, daily.Treat)
	assert.Positive(t, daily.RetryAfter)
}

func TestUntilReset_is_midnight_in_California_in_summer_and_winter(t *testing.T) {
	t.Parallel()
	for at, want := range map[string]time.Duration{
		"2026-07-04T06:59:59Z": time.Second, "2026-07-04T07:00:00Z": 24 * time.Hour, "2026-12-01T07:59:00Z": time.Minute,
		"2026-03-08T08:00:00Z": 23 * time.Hour, "2026-11-01T07:00:00Z": 25 * time.Hour,
	} {
		now, err := time.Parse(time.RFC3339, at)
		require.NoError(t, err)
		assert.Equal(t, want, untilReset(now), at)
	}
}

func TestNews_the_latest_word_on_a_file_wins(t *testing.T) {
	t.Parallel()
	const early, late = "2026-12-01T09:00:00Z", "2026-12-01T09:00:01Z"
	there := func(at, name string) *drive.Change {
		return &drive.Change{ChangeType: "file", FileId: "x", Time: at, File: &drive.File{Name: name}}
	}
	gone := func(at string) *drive.Change {
		return &drive.Change{ChangeType: "file", FileId: "x", Time: at, Removed: true}
	}
	for what, c := range map[string]struct {
		changes []*drive.Change
		name    string
		gone    bool
	}{
		"edited twice":                     {[]*drive.Change{there(early, "a"), there(late, "b")}, "b", false},
		"the other log is older":           {[]*drive.Change{there(late, "b"), there(early, "a")}, "b", false},
		"removed after an edit":            {[]*drive.Change{there(early, "a"), gone(late)}, "", true},
		"back after a removal":             {[]*drive.Change{gone(early), there(late, "a")}, "a", false},
		"gone from one log, into another":  {[]*drive.Change{gone(late), there(late, "a")}, "a", false},
		"there in one log, gone from next": {[]*drive.Change{there(late, "a"), gone(late)}, "a", false},
		"an older removal":                 {[]*drive.Change{there(late, "a"), gone(early)}, "a", false},
		"no id":                            {[]*drive.Change{{ChangeType: "file", Removed: true}}, "", false},
	} {
		n := newNews()
		for _, change := range c.changes {
			n.add(change)
		}
		assert.Equal(t, c.name, n.files["x"].name, what)
		assert.Equal(t, c.gone, n.gone["x"], what)
		assert.Equal(t, c.name != "" || c.gone, n.told("x"), what)
	}
}

func TestMatches_goes_by_the_strongest_checksum(t *testing.T) {
	t.Parallel()
	const (
		md5Sum    = "900150983cd24fb0d6963f7d28e17f72"
		sha256Sum = "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"
	)
	for what, c := range map[string]struct {
		file file
		body string
		want bool
	}{
		"sha256": {file{sha256: sha256Sum, md5: "wrong"}, "abc", true}, "another sha256": {file{sha256: sha256Sum, md5: md5Sum}, "abd", false},
		"md5": {file{md5: md5Sum}, "abc", true}, "another md5": {file{md5: md5Sum, size: 3}, "abd", false},
		"size": {file{size: 3}, "abc", true}, "another size": {file{size: 4}, "abc", false},
	} {
		assert.Equal(t, c.want, c.file.matches([]byte(c.body)), what)
	}
}

func TestRemembered_files_are_used_once_and_not_for_ever(t *testing.T) {
	t.Parallel()
	root, r := source.Root{FolderID: "hr", Ref: "x"}, newRemembered()
	r.keep(root, placed{file: file{id: "a", name: "A"}})
	_, ok := r.take(source.Root{FolderID: "it", Ref: "x"}, "a")
	assert.False(t, ok, "another folder asks by itself")
	got, ok := r.take(root, "a")
	assert.True(t, ok)
	assert.Equal(t, "A", got.name)
	_, ok = r.take(root, "a")
	assert.False(t, ok)
	r.known[keyOf(root, "old")] = rememberedFile{until: time.Now().Add(-time.Second)}
	_, ok = r.take(root, "old")
	assert.False(t, ok)
	for i := range maxRemembered {
		r.known[rememberedKey{id: string(rune('a' + i))}] = rememberedFile{until: time.Now().Add(time.Hour)}
	}
	r.keep(root, placed{file: file{id: "beyond"}})
	assert.LessOrEqual(t, len(r.known), maxRemembered)
}

func TestCursor_stays_small_with_as_many_logs_as_it_may_bear(t *testing.T) {
	t.Parallel()
	logs := checkpoint{userLog: "12345678901234567890"}
	for i := range maxLogs - 1 {
		logs["0A"+string(rune('a'+i%26))+"0123456789abcde"+string(rune('a'+i/26))] = "12345678901234567890"
	}
	require.Len(t, logs, maxLogs)
	var said string
	b := &batches{size: 1, logs: logs, yield: func(batch source.Batch) error {
		said = batch.Cursor
		return nil
	}}
	for _, id := range []string{"1C_gsdOsNIk5bGW5Jl49gBPm9lCKnE5Tj2SbjWB4d77s", "2"} {
		require.NoError(t, b.add(t.Context(), lastPhase, 99, source.Entry{SourceID: id}))
	}
	require.NotEmpty(t, said)
	assert.LessOrEqual(t, len(said), 4096)
	assert.Equal(t, logs, parseCursor(said).Logs)
}
