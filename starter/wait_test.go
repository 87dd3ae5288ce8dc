package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/starter/internal/out"
)

func untilDone(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestCtrlCWhileWaitingTellsThatItGoesOn(t *testing.T) {
	t.Parallel()
	for line, says := range map[string]string{
		"sync folder hr --wait":                   "the sync goes on; starter runs cancel folder/hr/sync/1 cancels it",
		"sync all --wait":                         "starter runs cancel folder/hr/sync/1 cancels it",
		"sync page hr a.md --wait":                "starter page show hr a.md tells how it ended",
		"delete page hr a.md --wait":              "the delete goes on; undo it: starter restore page hr a.md",
		"folder delete hr --wait":                 "undo it: starter folder restore hr",
		"folder delete hr --wait --now":           "the delete goes on",
		"restore page hr 出張/a.md --wait":          "starter page show hr '出張/a.md'",
		"delete page hr a.md --subtree --wait":    "starter restore page hr a.md --subtree",
		"sync folder hr --dry-run --wait --json":  "the dry run goes on",
		"delete page hr a.md --now --wait --json": "the delete goes on",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			ctx, interrupt := context.WithCancel(t.Context())
			d := furnished()
			d.wait = func(ctx context.Context) error {
				interrupt()
				return untilDone(ctx)
			}
			got := call{}.run(ctx, t, d, strings.Fields(line)...)
			assert.Equal(t, exitFailed, got.code)
			assert.Contains(t, got.err, "error: stopped waiting: ")
			assert.Contains(t, got.err, says)
			assert.Zero(t, got.connections)
			if strings.Contains(line, "--json") {
				assert.Equal(t, "folder/hr/sync/1", document[control.Answer](t, got.out).WorkflowID, "what was accepted is told")
			}
		})
	}
}

func TestAServerThatGoesAwayWhileWaitingLeavesTheAcceptedAnswer(t *testing.T) {
	t.Parallel()
	d := furnished()
	d.answer.Warnings = []string{"Temporal can't be reached"}
	d.wait = func(context.Context) error {
		return &control.Error{Kind: control.KindUnreachable, Code: "temporal_unreachable", Sentence: "Temporal can't be reached."}
	}
	got := run1(t, d, "delete", "page", "hr", "a.md", "--wait", "--json")
	assert.Equal(t, exitUnreachable, got.code)
	assert.NotNil(t, document[control.Answer](t, got.out).AcceptedAt)
	assert.Equal(t, "warning: Temporal can't be reached\nerror: Temporal can't be reached.\n", got.err)
}

func TestADeleteWhileTemporalIsDownSucceedsWithAWarning(t *testing.T) {
	t.Parallel()
	d := furnished()
	d.answer.Warnings = []string{"its cleanup starts by itself"}
	got := run1(t, d, "delete", "page", "hr", "a.md", "--json")
	assert.Equal(t, exitDone, got.code)
	assert.Equal(t, "warning: its cleanup starts by itself\n", got.err)
	assert.Len(t, document[control.Answer](t, got.out).Warnings, 1)
}

func TestCtrlCDuringAnythingElseIsToldAsStopped(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	d := &canned{err: &control.Error{Kind: control.KindUnreachable, Sentence: "Temporal can't be reached."}}
	got := call{}.run(ctx, t, d, "sync", "folder", "hr")
	assert.Equal(t, exitFailed, got.code)
	assert.Equal(t, "error: stopped\n", got.err)
}

func TestALongWaitShowsALineEveryFiveSecondsWithoutATerminal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := furnished()
		d.wait = func(context.Context) error {
			<-time.After(11 * time.Second)
			return errors.New("enough")
		}
		got := run1(t, d, "sync", "folder", "hr", "--wait")
		assert.Equal(t, "hr  waiting  5s\nhr  waiting  10s\nerror: enough\n", got.err)
	})
}

func TestStatusIsRedrawnEverySecondUntilCtrlC(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, interrupt := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer interrupt()
		got := call{terminals: out.Terminals{Out: true, Width: 80}}.run(ctx, t, furnished(), "status", "--watch")
		assert.Equal(t, exitDone, got.code)
		assert.Equal(t, 3, strings.Count(got.out, "\x1b[H"))
		assert.Empty(t, got.err)
	})
}

func TestNowIsConfirmedByNameOnATerminalOnly(t *testing.T) {
	t.Parallel()
	sitting := out.Terminals{In: true}
	for name, c := range map[string]struct {
		terminals out.Terminals
		typed     string
		args      string
		code      int
	}{
		"the_folder's_id":         {sitting, "hr\n", "folder delete hr --now", exitDone},
		"the_page's_title":        {sitting, "出張と電車\n", "delete page hr p2 --now", exitDone},
		"something_else":          {sitting, "yes\n", "folder delete hr --now", exitRefused},
		"another_title":           {sitting, "p2\n", "delete page hr p2 --now --json", exitRefused},
		"nothing":                 {sitting, "", "folder delete hr --now", exitRefused},
		"yes_asks_nothing":        {sitting, "", "folder delete hr --now --yes", exitDone},
		"a_script_is_not_asked":   {out.Terminals{}, "", "delete page hr p2 --now", exitDone},
		"an_undoable_one_neither": {sitting, "", "folder delete hr", exitDone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := furnished()
			got := call{terminals: c.terminals, typed: c.typed}.run(t.Context(), t, d, strings.Fields(c.args)...)
			assert.Equal(t, c.code, got.code)
			assert.Equal(t, c.code == exitDone, len(d.asked) == 1)
			if c.code == exitRefused {
				assert.Contains(t, got.err, "nothing was deleted")
				assert.Empty(t, got.out)
			}
		})
	}
}

func TestCtrlCAtTheQuestionDeletesNothing(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	d := furnished()
	got := call{terminals: out.Terminals{In: true}}.run(ctx, t, d, "folder", "delete", "hr", "--now")
	assert.NotEqual(t, exitDone, got.code)
	assert.Empty(t, d.asked)
}
