package activities

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/testsuite"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/transport"
)

// logSource is a source whose checkpoints are the names of logs.
type logSource struct {
	source.Source
	source.Watcher
}

func (logSource) Logs(checkpoint string) []string { return strings.Fields(checkpoint) }

// logged are folders of such a source, and the desk at which their syncs are asked for.
type logged struct {
	NoticeStore
	targets []knowledge.LogTarget
	asked   []string
}

func (l *logged) LogTargets(context.Context, string, []string, *time.Time, time.Duration) ([]knowledge.LogTarget, error) {
	return l.targets, nil
}

func (*logged) Source(context.Context, string, string) (source.Source, error) {
	return logSource{}, nil
}

func (*logged) ReadPageAgain(context.Context, string, string, knowledge.Lane) error {
	return errors.New("no page is asked for")
}

func (l *logged) RequestFolderSync(_ context.Context, folder string, mode knowledge.Mode, trigger string) (string, error) {
	l.asked = append(l.asked, fmt.Sprintf("%s %s %s", folder, mode, trigger))
	return "", nil
}

// looks makes the look of a pass at one folder, some time after the first one.
func (l *logged) looks(t *testing.T, pass int, since *time.Time) FollowNoticeResult {
	t.Helper()
	suite := testsuite.WorkflowTestSuite{}
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestActivityEnvironment()
	acts := &WebhookActivities{Store: l, Asker: l, Watches: &Watches{Sources: l}}
	env.RegisterActivity(acts)
	value, err := env.ExecuteActivity(acts.FollowNotice, FollowNoticeInput{
		Connection: "gdrive", Kind: knowledge.NoticeLogChanged, SourceID: "user", Pass: pass, Since: since,
	})
	require.NoError(t, err)
	var result FollowNoticeResult
	require.NoError(t, value.Get(&result))
	return result
}

func TestALogIsFollowedByOneListingAfterItsCalls(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	past, ahead := at.Add(-time.Second), at.Add(time.Second)
	target := func(change func(*knowledge.LogTarget)) knowledge.LogTarget {
		found := knowledge.LogTarget{WatchedFolder: knowledge.WatchedFolder{FolderID: "hr", Checkpoint: "user drive-1"}, At: at}
		if change != nil {
			change(&found)
		}
		return found
	}
	listing := func(l *knowledge.LogTarget) { l.Listing = true }
	for name, c := range map[string]struct {
		target         knowledge.LogTarget
		pass           int
		since          *time.Time
		asked, waiting bool
	}{
		"the first look gathers calls":                   {target(nil), 0, nil, false, true},
		"so do others before the window is over":         {target(nil), 1, &ahead, false, true},
		"then a sync is asked for":                       {target(nil), 2, &past, true, false},
		"a listing that began since has seen it":         {target(func(l *knowledge.LogTarget) { l.Listed, l.Listing = true, true }), 2, &past, false, false},
		"nothing counts while calls are gathered":        {target(func(l *knowledge.LogTarget) { l.Listed = true }), 1, &ahead, false, true},
		"a listing that began before is waited for":      {target(listing), 2, &past, false, true},
		"but not for ever":                               {target(listing), patientPasses, &past, true, false},
		"the next sync comes some seconds after another": {target(func(l *knowledge.LogTarget) { l.Asked = true }), 2, &past, false, true},
		"a folder without the log has nothing to do": {
			target(func(l *knowledge.LogTarget) { l.Checkpoint = "drive-1" }), 2, &past, false, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &logged{targets: []knowledge.LogTarget{c.target}}
			result := l.looks(t, c.pass, c.since)
			assert.Equal(t, c.waiting, len(result.Waiting) == 1)
			if c.asked {
				assert.Equal(t, []string{"hr incremental webhook"}, l.asked)
			} else {
				assert.Empty(t, l.asked)
			}
			if c.since == nil {
				assert.Equal(t, at.Add(knowledge.LogWindow), *result.Since)
			} else {
				assert.Equal(t, *c.since, *result.Since)
			}
		})
	}
}

func TestWhatIsKeptOfAChannelThatDidNotOpen(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err     error
		refused bool
		says    string
	}{
		"a refusal opened nothing":                {&source.Failure{Class: source.ClassInvalid, Sentence: "it is refused"}, true, "it is refused"},
		"nor did a rate limit":                    {&source.Failure{Class: source.ClassRateLimited, RetryAfter: time.Hour}, true, "asked again"},
		"a server that failed may have opened it": {&source.Failure{Class: source.ClassUnavailable, Sentence: "it is down"}, false, "it is down"},
		"so may one that didn't answer":           {fmt.Errorf("watch https://secret.example: %w", context.DeadlineExceeded), false, "did not answer"},
		"a paused connection sends nothing":       {transport.ErrPaused, true, "paused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept := watchFailure("id", c.err)
			assert.Equal(t, c.refused, kept.Refused)
			assert.Contains(t, kept.Sentence, c.says)
			assert.NotContains(t, kept.Sentence, "secret")
		})
	}
}
