package activities

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
)

func TestRecheckAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	cases := map[string]struct {
		edited      time.Time
		granularity time.Duration
		want        time.Duration
	}{
		"a page without an edit time is trusted":             {time.Time{}, time.Minute, 0},
		"a page edited long ago is trusted":                  {now.Add(-time.Hour), time.Minute, 0},
		"an edit twice the granularity ago is trusted":       {now.Add(-2 * time.Minute), time.Minute, 0},
		"an edit a moment less ago isn't":                    {now.Add(-2*time.Minute + time.Second), time.Minute, 2 * time.Minute},
		"an edit within the minute isn't":                    {now.Add(-10 * time.Second), time.Minute, 2 * time.Minute},
		"an edit in the future isn't":                        {now.Add(time.Hour), time.Minute, 2 * time.Minute},
		"a fine clock is asked again after a second at most": {now.Add(-time.Millisecond), 10 * time.Millisecond, time.Second},
		"a source without granularity is trusted":            {now.Add(-time.Millisecond), 0, 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := recheckAfter(source.Entry{EditedAt: c.edited}, source.Traits{EditGranularity: c.granularity}, now)
			if c.want == 0 {
				assert.Nil(t, got)
				return
			}
			require.NotNil(t, got)
			assert.Equal(t, c.want, *got)
		})
	}
}

func TestPick(t *testing.T) {
	t.Parallel()
	chunk := func(body, hash string) knowledge.StagedChunk {
		return knowledge.StagedChunk{Body: body, TextHash: []byte(hash)}
	}
	chunks := []knowledge.StagedChunk{chunk("one", "1"), chunk("two", "2"), chunk("one again", "1"), chunk("three", "3")}
	bodies := func(picked []knowledge.StagedChunk) []string {
		texts := make([]string, 0, len(picked))
		for _, c := range picked {
			texts = append(texts, c.Body)
		}
		return texts
	}
	assert.Empty(t, pick(chunks, nil))
	assert.Equal(t, []string{"one", "three"}, bodies(pick(chunks, [][]byte{[]byte("3"), []byte("1")})), "each text once, in the order of the page")
	assert.Empty(t, pick(chunks, [][]byte{[]byte("4")}), "what the page doesn't have")
}

func TestChunksOf(t *testing.T) {
	t.Parallel()
	assert.Empty(t, chunksOf(""))
	travel, leave := strings.Repeat("Book your train early. ", 60), strings.Repeat("有給休暇は申請が必要です。", 60)
	chunks := chunksOf("# Travel\n\n" + travel + "\n\n## 休暇\n\n" + leave + "\n")
	require.GreaterOrEqual(t, len(chunks), 2)
	first, last := chunks[0], chunks[len(chunks)-1]
	assert.Equal(t, []string{"Travel"}, first.HeadingPath)
	assert.Equal(t, []string{"Travel", "休暇"}, last.HeadingPath)
	for _, c := range chunks {
		assert.NotEmpty(t, c.Body)
		assert.Len(t, c.TextHash, 32)
	}
	assert.Contains(t, last.Terms, "travel", "a page is found by the headings above its text too")
	assert.Contains(t, last.Terms, "休暇")
	edited := chunksOf("# Travel\n\n" + travel + "\n\n## 休暇\n\n" + leave + "最後に。\n")
	assert.Equal(t, first.TextHash, edited[0].TextHash, "an edit elsewhere leaves the hash")
	renamed := chunksOf("# Trips\n\n" + travel + "\n")
	assert.NotEqual(t, first.TextHash, renamed[0].TextHash, "the heading is part of what is embedded")
}

func TestRootOf(t *testing.T) {
	t.Parallel()
	root, err := rootOf("hr", "/srv/hr", json.RawMessage(`{"max_bytes": 12}`))
	require.NoError(t, err)
	assert.Equal(t, source.Root{FolderID: "hr", Ref: "/srv/hr", Limits: source.Limits{MaxBytes: 12}}, root)
	_, err = rootOf("hr", "/srv/hr", nil)
	require.NoError(t, err)
	_, err = rootOf("hr", "/srv/hr", json.RawMessage(`[`))
	assert.ErrorContains(t, err, "read the limits of folder hr")
}

func TestTimeouts(t *testing.T) {
	t.Parallel()
	usual := Timeouts{Ladder: time.Minute, Abandoned: 2 * time.Minute, AskAgain: 3 * time.Second, Undo: 7 * 24 * time.Hour}
	assert.Equal(t, usual, Timeouts{}.WithDefaults())
	short := Timeouts{Ladder: 1, Abandoned: 2, AskAgain: 3, Undo: 4}
	assert.Equal(t, short, short.WithDefaults())
}

// publishStore is the part of the store that a publish touches.
type publishStore struct {
	PageStore
	outcome   string
	published int64
	lookup    error
	// modelsAfter is what the publish was asked to note.
	modelsAfter *time.Duration
}

func (s *publishStore) PublishStaged(_ context.Context, _ knowledge.Holder, _ int64, modelsAfter *time.Duration) (knowledge.Published, error) {
	s.modelsAfter = modelsAfter
	return knowledge.Published{Outcome: s.outcome}, nil
}

func (s *publishStore) PublishedRevision(context.Context, string, string) (int64, error) {
	return s.published, s.lookup
}

func TestPublishPage(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		store        publishStore
		modelsFailed bool
		want         knowledge.Outcome
		wantDue      *time.Duration
	}{
		"what is staged is published":                     {store: publishStore{outcome: "published"}, want: knowledge.OutcomePublished},
		"a second run finds that the first one published": {store: publishStore{outcome: "fenced", published: 7}, want: knowledge.OutcomePublished},
		"what another has overtaken is fenced":            {store: publishStore{outcome: "fenced", published: 8}, want: knowledge.OutcomeFenced},
		"what can't be looked up is fenced": {
			store: publishStore{outcome: "fenced", published: 7, lookup: errors.New("away")}, want: knowledge.OutcomeFenced,
		},
		"a delete stops it": {store: publishStore{outcome: "cancel_requested"}, want: knowledge.OutcomeCancelled},
		"a page without its models is due again with the publish": {
			store: publishStore{outcome: "published"}, modelsFailed: true, want: knowledge.OutcomePublished, wantDue: new(modelsDelay),
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			acts := &PageActivities{Store: &c.store}
			in := PublishPageInput{FolderID: "hr", PageID: "p1", Token: "f0f0f0f0-0000-4000-8000-000000000001", RevisionID: 7, ModelsFailed: c.modelsFailed}
			result, err := acts.PublishPage(t.Context(), in)
			require.NoError(t, err)
			assert.Equal(t, c.want, result.Outcome)
			assert.Equal(t, c.wantDue, c.store.modelsAfter)
		})
	}
}
