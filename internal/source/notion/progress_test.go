package notion_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

// shelf is a Memo in memory.
type shelf struct {
	mu     sync.Mutex
	values map[string][]byte
	loads  int
	// broken makes it fail at everything.
	broken bool
}

var errShelf = errors.New("the shelf is broken")

func newShelf() *shelf { return &shelf{values: map[string][]byte{}} }

func (s *shelf) Load(ctx context.Context, key string) ([]byte, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loads++
	if err := s.trouble(ctx); err != nil {
		return nil, false, err
	}
	value, found := s.values[key]
	return value, found, nil
}

func (s *shelf) Save(ctx context.Context, key string, value []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.trouble(ctx); err != nil {
		return err
	}
	s.values[key] = value
	return nil
}

func (s *shelf) trouble(ctx context.Context) error {
	if s.broken {
		return errShelf
	}
	return ctx.Err()
}

// breakAfter answers so many requests for blocks, and no more.
func (s *space) breakAfter(n int) {
	s.server.Break(notiontest.Fault{
		Match: notiontest.OfKind(notiontest.KindChildren), After: n, Effects: []notiontest.Effect{notiontest.GatewayTimeout()},
	})
}

// attempt reads a page with what former attempts left, and tells how many requests for blocks were answered.
func (s *space) attempt(id string, memo source.Memo) (page source.Page, answered int, err error) {
	s.t.Helper()
	root := s.root
	root.Memo, root.At = memo, time.Now()
	s.server.ResetLog()
	page, err = s.src.Fetch(s.t.Context(), root, id)
	for _, r := range s.server.Requests(notiontest.KindChildren) {
		if r.Status == 200 {
			answered++
		}
	}
	return page, answered, err
}

var requestID = regexp.MustCompile(`"request_id":"[^"]*"`)

// samePage demands that two reads gave the same, but for the number that each answer bears.
func samePage(tb require.TestingT, want, got source.Page) {
	for _, page := range []*source.Page{&want, &got} {
		page.Raw = requestID.ReplaceAll(page.Raw, nil)
	}
	// Pages of 20,000 blocks are no reading matter: what differs is only named.
	payload, markdown := bytes.Equal(want.Raw, got.Raw), want.Markdown == got.Markdown
	require.True(tb, payload, "the payload is the same")
	require.True(tb, markdown, "the Markdown is the same")
	require.True(tb, reflect.DeepEqual(want, got), "all else is the same")
}

// lostInFlight is how many answers may be on their way, and lost, when a read breaks off.
const lostInFlight = 4

func toggles(n, each int) []notiontest.Block {
	blocks := make([]notiontest.Block, n)
	for i := range blocks {
		blocks[i] = notiontest.Toggle(words(fmt.Sprintf("toggle %d", i))...).With(paragraphs(fmt.Sprintf("inner %d of", i), each)...)
	}
	return blocks
}

func TestR067_AReadOfALargePageThatBreaksOffIsGoneOnWith(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	const all, before = 202, 121
	id := s.page("", "Long", toggles(200, 99)...)
	uninterrupted := s.fetch(id)
	memo := newShelf()

	s.breakAfter(before)
	_, answered, err := s.attempt(id, memo)
	assert.Equal(t, source.ClassUnavailable, failureOf(t, err).Class)
	require.Equal(t, before, answered)
	s.server.Heal()
	page, answered, err := s.attempt(id, memo)
	require.NoError(t, err)
	assert.LessOrEqual(t, answered, all-before+lostInFlight, "it costs the rest")
	assert.GreaterOrEqual(t, answered, all-before)
	samePage(t, uninterrupted, page)
}

func TestAnEditBetweenTwoAttemptsStartsOver(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Long", toggles(40, 3)...)
	memo := newShelf()
	s.breakAfter(30)
	_, _, err := s.attempt(id, memo)
	require.Error(t, err)
	s.server.Heal()

	s.clock.Advance(time.Minute)
	s.append(id, paragraph("a new end"))
	page, answered, err := s.attempt(id, memo)
	require.NoError(t, err)
	assert.Equal(t, 41, answered)
	assert.Contains(t, page.Markdown, "a new end")
}

func TestNothingIsKeptOfSmallAndOfJustEditedPages(t *testing.T) {
	t.Parallel()
	t.Run("small", func(t *testing.T) {
		t.Parallel()
		s := plainSpace(t)
		memo := newShelf()
		_, answered, err := s.attempt(s.page("", "Small", toggles(19, 1)...), memo)
		require.NoError(t, err)
		assert.Equal(t, 20, answered)
		assert.Empty(t, memo.values)
		assert.Equal(t, 1, memo.loads, "one look tells that there is nothing")
	})
	t.Run("one request more", func(t *testing.T) {
		t.Parallel()
		s := plainSpace(t)
		memo := newShelf()
		_, _, err := s.attempt(s.page("", "Larger", toggles(20, 1)...), memo)
		require.NoError(t, err)
		assert.Len(t, memo.values, 21, "the first ones too")
	})
	t.Run("just edited", func(t *testing.T) {
		t.Parallel()
		s := plainSpace(t)
		s.clock.Advance(time.Since(s.clock.Now()))
		memo := newShelf()
		_, _, err := s.attempt(s.page("", "Long", toggles(40, 1)...), memo)
		require.NoError(t, err)
		assert.Empty(t, memo.values, "a second edit in the same minute would look the same")
	})
}

func TestAKeptCursorThatExpiredIsNoDeadEnd(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Flat", paragraphs("p", 3000)...)
	uninterrupted := s.fetch(id)
	memo := newShelf()
	s.breakAfter(25)
	_, _, err := s.attempt(id, memo)
	require.Error(t, err)
	s.server.Heal()
	s.server.Fail(notiontest.OfKind(notiontest.KindChildren), 1, notiontest.Invalid("start_cursor"))
	page, answered, err := s.attempt(id, memo)
	require.NoError(t, err)
	assert.Equal(t, 30, answered, "the list is read once more from its start")
	samePage(t, uninterrupted, page)
}

func TestAMemoThatFailsCostsRequestsOnly(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	id := s.page("", "Long", toggles(40, 3)...)
	page, answered, err := s.attempt(id, &shelf{broken: true})
	require.NoError(t, err)
	assert.Equal(t, 41, answered)
	samePage(t, s.fetch(id), page)
}

func TestBrokenReadsAddUpToAnUninterruptedOne(t *testing.T) {
	t.Parallel()
	s := plainSpace(t)
	rapid.Check(t, func(r *rapid.T) {
		blocks := append(toggles(rapid.IntRange(0, 30).Draw(r, "toggles"), 2), paragraphs("p", rapid.IntRange(0, 250).Draw(r, "paragraphs"))...)
		id := s.page("", "Page", blocks...)
		uninterrupted := s.fetch(id)
		memo := newShelf()
		for attempt := range rapid.IntRange(1, 4).Draw(r, "attempts") {
			s.breakAfter(rapid.IntRange(0, 50).Draw(r, fmt.Sprintf("answers in attempt %d", attempt)))
			page, _, err := s.attempt(id, memo)
			s.server.Heal()
			if err == nil {
				samePage(r, uninterrupted, page)
			}
		}
		page, _, err := s.attempt(id, memo)
		require.NoError(r, err)
		samePage(r, uninterrupted, page)
	})
}
