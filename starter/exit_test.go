package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/schema"
)

func TestErrorsOfControlBecomeExitCodesAndOneSentence(t *testing.T) {
	t.Parallel()
	known := func(kind control.Kind) error {
		return fmt.Errorf("sync: %w", &control.Error{Kind: kind, Code: "x", Sentence: "It is so.\nReally.", Err: errors.New("inside")})
	}
	for name, c := range map[string]struct {
		err  error
		code int
		says string
	}{
		"usage":         {known(control.KindUsage), exitUsage, "error: It is so. Really.\n"},
		"not_found":     {known(control.KindNotFound), exitNotFound, "error: It is so. Really.\n"},
		"refused":       {known(control.KindRefused), exitRefused, "error: It is so. Really.\n"},
		"unreachable":   {known(control.KindUnreachable), exitUnreachable, "error: It is so. Really.\n"},
		"failed":        {known(control.KindFailed), exitFailed, "error: It is so. Really.\n"},
		"postgres_away": {fmt.Errorf("list: %w", store.ErrUnreachable), exitUnreachable, "error: list: postgres is not reachable\n"},
		"row_missing":   {fmt.Errorf("search: %w", store.ErrNotFound), exitNotFound, "error: search: not found\n"},
		"a_bug":         {errors.New("nil map\x1b[31m"), exitFailed, "error: nil map\n"},
		"stopped":       {fmt.Errorf("ask: %w", context.Canceled), exitFailed, "error: stopped\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := run1(t, &canned{err: c.err}, "sync", "folder", "hr", "--json")
			assert.Equal(t, c.code, got.code)
			assert.Equal(t, c.says, got.err)
			assert.Empty(t, got.out)
			assert.Zero(t, got.connections, "the session is closed")
		})
	}
}

func TestNoConnectionIsToldByItsExitCode(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		code int
	}{
		{&endedError{code: exitUsage, sentence: "LORESYNC_DATABASE_URL is missing"}, exitUsage},
		{fmt.Errorf("connect: %w", store.ErrUnreachable), exitUnreachable},
		{fmt.Errorf("check: %w", schema.ErrOutdated), exitRefused},
		{fmt.Errorf("check: %w", schema.ErrNewer), exitRefused},
	} {
		for _, line := range []string{"folder list", "migrate"} {
			got := call{connect: c.err}.run(t.Context(), t, nil, strings.Fields(line)...)
			assert.Equal(t, c.code, got.code, c.err)
			assert.Equal(t, "error: "+c.err.Error()+"\n", got.err)
			assert.Empty(t, got.out)
		}
	}
}

func TestVersionAndHelpNeedNoConnection(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"version", "version --json", "--help", "sync folder --help", "help delete page", "completion bash"} {
		got := call{connect: errors.New("nothing is there")}.run(t.Context(), t, nil, strings.Fields(line)...)
		assert.Equal(t, exitDone, got.code, line)
		assert.NotEmpty(t, got.out, line)
		assert.Empty(t, got.err, line)
	}
}

func TestAWaitedSyncEndsWithTheExitCodeOfItsStatus(t *testing.T) {
	t.Parallel()
	for status, code := range map[string]int{
		"completed": exitDone, "partial": exitFailed, "failed": exitFailed, "cancelled": exitFailed, "refused": exitRefused,
	} {
		t.Run(status, func(t *testing.T) {
			t.Parallel()
			d := furnished()
			d.waited = control.Answer{WorkflowID: "w", RunID: "r", FolderID: "hr", Status: status, Reason: "so it is"}
			got := run1(t, d, "sync", "folder", "hr", "--wait", "--json")
			assert.Equal(t, code, got.code)
			answer := document[map[string]any](t, got.out)
			assert.Equal(t, status, answer["status"])
			assert.Equal(t, false, answer["joined"])
			counts, ok := answer["counts"].(map[string]any)
			require.True(t, ok)
			for key := range strings.FieldsSeq("listed new changed unchanged skipped excluded failed moved removed held revived") {
				assert.Contains(t, counts, key)
			}
			if code != exitDone {
				assert.Equal(t, "error: the sync of hr ended as "+status+": so it is\n", got.err)
			}
		})
	}
}

func TestHeldAndSkippedPagesAreNoFailure(t *testing.T) {
	t.Parallel()
	d := furnished()
	d.waited.Counts = &knowledge.Counts{Listed: 5, Skipped: 5, Held: 9}
	assert.Equal(t, exitDone, run1(t, d, "sync", "all", "--wait").code)
}

func TestFsckEndsWith1WhileSomethingIsLeft(t *testing.T) {
	t.Parallel()
	d := furnished()
	assert.Equal(t, exitDone, run1(t, d, "fsck").code)
	d.fsck = []control.Difference{{Kind: "stale", Sentence: "a row", Repaired: true}}
	assert.Equal(t, exitDone, run1(t, d, "fsck", "--repair").code)
	d.fsck = append(d.fsck, control.Difference{Kind: "stale", Sentence: "another"})
	got := run1(t, d, "fsck", "--json")
	assert.Equal(t, exitFailed, got.code)
	assert.Len(t, document[[]any](t, got.out), 2)
	assert.Equal(t, "error: 1 difference left\n", got.err)
}

func TestStatusWithoutTemporalIsPrintedAndEndsWith5(t *testing.T) {
	t.Parallel()
	d := furnished()
	d.status.TemporalOK = false
	got := run1(t, d, "status", "--json")
	assert.Equal(t, exitUnreachable, got.code)
	assert.NotEmpty(t, document[map[string]any](t, got.out))
}

func TestAnUnreadableRootFailsTheConnectionCheck(t *testing.T) {
	t.Parallel()
	d := furnished()
	d.checks = []control.ConnectionCheck{{Folder: "hr", Root: "/srv/hr", OK: true}, {Folder: "ops", Root: "/gone", Sentence: "There is no such directory."}}
	got := run1(t, d, "connection", "check", "files", "--json")
	assert.Equal(t, exitFailed, got.code)
	assert.Len(t, document[[]any](t, got.out), 2)
}

func TestWhyOfSomethingUnknownIsNotFound(t *testing.T) {
	t.Parallel()
	d := furnished()
	d.why = nil
	got := run1(t, d, "why", "nowhere.md", "--json")
	assert.Equal(t, exitNotFound, got.code)
	assert.Equal(t, "[]\n", got.out)
}

// document checks that a text is exactly one JSON document, and decodes it.
func document[T any](t *testing.T, content string) T {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(content))
	var decoded T
	require.NoError(t, decoder.Decode(&decoded), content)
	require.False(t, decoder.More(), content)
	return decoded
}
