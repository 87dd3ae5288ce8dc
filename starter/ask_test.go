package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFlagsReachControl(t *testing.T) {
	t.Parallel()
	for line, asked := range map[string]string{
		"sync folder hr":                  "sync hr incremental",
		"sync folder hr --full":           "sync hr full",
		"sync folder hr --full --dry-run": "sync hr dry_run",
		"sync page hr travel/trains.md":   "sync page hr travel/trains.md",
		"retry hr --class Unavailable":    "retry hr Unavailable",
		"runs hr":                         "runs hr",
		"runs":                            "runs ",
		"search train ticket --folder hr": "search train ticket hr",
		"schedule set --timezone UTC":     "schedule  UTC",
		"schedule set --jitter 0":         "schedule   0s",
		"schedule set --jitter 5m":        "schedule   5m0s",
		"holds show h1":                   "hold h1",
		"connection resume mine":          "resume mine",
		"connection resume mine --force":  "force mine",
		"maintenance on":                  "maintenance on",
		"delete page hr -- -odd-name.md":  "delete page hr -odd-name.md",
		"delete page hr travel --subtree": "delete page hr travel with what is below",
		"restore page hr p2 --wait":       "wait live hr p2",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			d := furnished()
			got := run1(t, d, strings.Fields(line)...)
			require.Equal(t, exitDone, got.code, got.err)
			assert.Equal(t, asked, strings.Join(d.asked, " "))
		})
	}
}

func TestControlLearnsWhoAsksAndThroughWhat(t *testing.T) {
	t.Parallel()
	d := furnished()
	require.Equal(t, exitDone, run1(t, d, "folder", "add", "hr", "--source", "files", "--root", "/srv/hr").code)
	assert.Equal(t, []string{"add hr files /srv/hr mika@desk cli"}, d.asked)
}

func TestFolderSetKeepsWhatIsNotGiven(t *testing.T) {
	t.Parallel()
	d := furnished()
	got := run1(t, d, "folder", "set", "hr", "--interval", "30m", "--readers", "support,sales", "--limits", "max_bytes=1000", "--owner", "")
	require.Equal(t, exitDone, got.code, got.err)
	assert.Nil(t, d.patch.Root)
	assert.Nil(t, d.patch.Title)
	require.NotNil(t, d.patch.Owner)
	assert.Empty(t, *d.patch.Owner)
	assert.Equal(t, 30*time.Minute, *d.patch.Interval)
	assert.JSONEq(t, `["support","sales"]`, string(*d.patch.Readers))
	assert.JSONEq(t, `{"max_bytes":1000}`, string(*d.patch.Limits))

	d = furnished()
	require.Equal(t, exitDone, run1(t, d, "folder", "set", "hr", "--limits", "max_bytes=5,comments=true").code)
	assert.JSONEq(t, `{"max_bytes":5,"comments":true}`, string(*d.patch.Limits), "limits that allow something are set too")

	d = furnished()
	require.Equal(t, exitDone, run1(t, d, "folder", "set", "hr", "--readers", "").code)
	assert.JSONEq(t, `[]`, string(*d.patch.Readers))
}

func TestCompletionOffersFoldersAndWords(t *testing.T) {
	t.Parallel()
	for line, words := range map[string][]string{
		"sync folder ":           {"hr\t人事ハンドブック", "wiki\tWiki"},
		"pages hr --state ":      {"live", "tombstoned", "held"},
		"folder add x --source ": {"files", "notion", "gdrive"},
		"delete ":                {"page"},
		"maintenance ":           {"on", "off"},
		"delete page hr ":        {":4"},
		"folder list --":         {"--json"},
	} {
		args := strings.Split(line, " ")
		got := run1(t, furnished(), append([]string{"__complete"}, args...)...)
		assert.Equal(t, exitDone, got.code, line)
		for _, word := range words {
			assert.Contains(t, got.out, word, line)
		}
		assert.Zero(t, got.connections)
	}
	got := call{connect: errors.New("away")}.run(t.Context(), t, nil, "__complete", "sync", "folder", "")
	assert.Equal(t, exitDone, got.code, "a shell is never shown an error")
}

func TestAnAnswerThatCannotBeWrittenIsNoSuccess(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no /dev/full")
	}
	defer func() { assert.NoError(t, full.Close()) }()
	var said strings.Builder
	for _, line := range []string{"folder list", "folder list --json", "version"} {
		d := furnished()
		err = execute(t.Context(), deps{
			out: full, err: &said, now: time.Now, connect: func(context.Context) (*session, error) {
				return &session{door: d, searcher: d, close: func() {}}, nil
			},
		}, strings.Fields(line))
		assert.Equal(t, exitFailed, exitCode(err))
	}
	assert.Contains(t, said.String(), "error: write the answer")
}
