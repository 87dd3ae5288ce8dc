package gdrive

import (
	"context"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
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

func TestNote_keeps_all_that_a_read_needs(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 1, 9, 0, 0, 123_000_000, time.UTC)
	want := placed{
		file: file{
			id: "x", name: "A <b> \x00", mime: mimeDoc, parents: []string{"p", "q"}, drive: "d", version: 7, md5: "m", sha256: "s", size: 9, url: "u",
			edited: at, created: at.Add(-time.Hour), key: "k", sharedWithMe: true, locked: true, owner: "o", editor: "e",
			grants: []grant{{Type: "user", Role: "reader", Email: "e@example.org", Domain: "example.org", Discoverable: true}}, told: true,
		},
		parent: "p", hidden: true, path: "Guides/A", depth: 2,
	}
	// Whoever adds a field decides whether a read needs it.
	for what, v := range map[string]reflect.Value{"file": reflect.ValueOf(want.file), "placed": reflect.ValueOf(want)} {
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if !slices.Contains([]string{"trashed", "target", "skip"}, name) {
				assert.False(t, v.Field(i).IsZero(), "%s.%s has no value in this test", what, name)
			}
		}
	}
	one, other := &Source{client: &client{}}, &Source{client: &client{}}
	one.client.keys.note("x", "k")
	said := one.note(want, source.Entry{Kind: source.KindDocument})
	require.NotEmpty(t, said)
	assert.Empty(t, one.note(want, source.Entry{Kind: source.KindContainer}))
	assert.Empty(t, one.note(want, source.Entry{Kind: source.KindDocument, Skip: &source.Skip{}}))
	root := source.Root{Note: func(context.Context, string) ([]byte, bool, error) { return said, true, nil }}
	got, found := other.noted(t.Context(), root, "x")
	require.True(t, found)
	assert.Equal(t, want, got)
	assert.Equal(t, "k", other.client.keys.of("x"), "the process that reads learns the key")
	_, found = other.noted(t.Context(), root, "y")
	assert.False(t, found, "a note on another file")
}

func TestBatches_note_so_many_files_and_no_more(t *testing.T) {
	t.Parallel()
	kept := 0
	b := &batches{size: 100, notes: countedNotes{&kept}, yield: func(source.Batch) error { return nil }}
	for i := range maxNotes + 500 {
		require.NoError(t, b.add(t.Context(), 0, 1, source.Entry{SourceID: strconv.Itoa(i)}, []byte("x")))
	}
	require.NoError(t, b.end(t.Context()))
	assert.Equal(t, maxNotes, kept)
}

// countedNotes counts notes.
type countedNotes struct{ n *int }

func (c countedNotes) Keep(_ context.Context, notes map[string][]byte) error {
	*c.n += len(notes)
	return nil
}

func (countedNotes) Drop(context.Context, []string) error { return nil }

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
		require.NoError(t, b.add(t.Context(), lastPhase, 99, source.Entry{SourceID: id}, nil))
	}
	require.NotEmpty(t, said)
	assert.LessOrEqual(t, len(said), 4096)
	assert.Equal(t, logs, parseCursor(said).Logs)
}
