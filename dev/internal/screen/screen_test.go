package screen

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// shown is a writer that a stage and the test use at once.
type shown struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *shown) Write(content []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(content)
}

func (s *shown) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func TestStage(t *testing.T) {
	t.Parallel()
	t.Run("says what it did and how long it took", func(t *testing.T) {
		t.Parallel()
		var to shown
		s := Screen{to: &to, width: 80}
		stage := s.Begin("Temporal", "starting")
		stage.began = stage.began.Add(-400 * time.Millisecond)
		stage.Done("ready at 127.0.0.1:1")
		assert.Regexp(t, `^✓ Temporal    ready at 127\.0\.0\.1:1 in 0\.\d s\n$`, to.String())
	})
	t.Run("says what it does after two seconds", func(t *testing.T) {
		t.Parallel()
		var to shown
		s := Screen{to: &to, width: 80}
		stage := s.Begin("Postgres", "making a new cluster")
		assert.Eventually(t, func() bool { return strings.Contains(to.String(), "  Postgres: making a new cluster  2.") }, 5*time.Second, 10*time.Millisecond)
		stage.Fail()
	})
	t.Run("draws a bar on a terminal and takes it away", func(t *testing.T) {
		t.Parallel()
		var to shown
		s := Screen{to: &to, width: 80, terminal: true}
		stage := s.Begin("Sample", "listing")
		stage.Progress("reading pages", 5, 10)
		assert.Eventually(t, func() bool {
			return strings.Contains(to.String(), strings.Repeat("█", 12)+strings.Repeat("░", 12)+"  5 of 10")
		}, 5*time.Second, 10*time.Millisecond)
		s.Line("a line in between")
		stage.Done("synced")
		assert.Contains(t, to.String(), eraseLine+"a line in between\n")
		assert.Contains(t, to.String(), "synced")
	})
}

func TestRows(t *testing.T) {
	t.Parallel()
	var to shown
	s := Screen{to: &to, width: 80}
	s.Rows([]Row{{"Status", "http://127.0.0.1:1/"}, {"Empty", ""}, {"Temporal UI", "http://127.0.0.1:2"}})
	assert.Equal(t, "  Status       http://127.0.0.1:1/\n  Temporal UI  http://127.0.0.1:2\n", to.String())
}

func TestTook(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "0.4 s", Took(400*time.Millisecond))
	assert.Equal(t, "3m20s", Took(200*time.Second+time.Millisecond))
}
