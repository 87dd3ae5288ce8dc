package extract

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// parentVariable asks this test binary to be the parent of a child and to wait for its end.
const parentVariable = "LORESYNC_EXTRACT_TEST_PARENT"

const soon = 30 * time.Second

// endless draws so much that no machine is through with it in time.
const endless = "0 0 m 1 1 l S "

func playParent() {
	e := New(Options{})
	if _, err := e.Extract(context.Background(), "text/html", "", strings.NewReader("<p>x")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, pidOf(e))
	select {}
}

// pidOf is the process id of the child; 0 when there is none.
func pidOf(e *Extractor) int {
	c := <-e.slot
	defer func() { e.slot <- c }()
	if c.process == nil {
		return 0
	}
	return c.process.handle.Pid
}

func isAlive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

// ending is a file that does something once all of it has been read.
type ending struct {
	io.Reader

	do func()
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if errors.Is(err, io.EOF) {
		e.do()
	}
	return n, err
}

func fine(t *testing.T, e *Extractor) {
	t.Helper()
	assert.Equal(t, "fine\n", extract(t, e, "application/pdf", "", textPDF("fine").bytes()).Text)
}

// TestChild tells one story after another with the same extractor.
func TestChild(t *testing.T) {
	t.Parallel()
	e := extractor(t, Options{Idle: time.Hour})
	t.Run("serves one file after another, and many at a time wait for each other", func(t *testing.T) {
		fine(t, e)
		pid := pidOf(e)
		var group sync.WaitGroup
		for i := range 20 {
			group.Go(func() {
				text := "file " + strconv.Itoa(i)
				result, err := e.Extract(t.Context(), "application/pdf", "", bytes.NewReader(textPDF(text).bytes()))
				if !assert.NoError(t, err) { //nolint:testifylint // require would end the goroutine only
					return
				}
				assert.Equal(t, text+"\n", result.Text)
			})
		}
		group.Wait()
		assert.Equal(t, pid, pidOf(e))
	})
	t.Run("gets nothing of the environment", func(t *testing.T) {
		environment, err := os.ReadFile("/proc/" + strconv.Itoa(pidOf(e)) + "/environ")
		if os.IsNotExist(err) {
			t.Skip("only Linux shows a process's environment")
		}
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprintf(`%s={"memory":%d,"cache_dir":%q}`+"\x00", childVariable, DefaultMemory, cacheDir), string(environment))
	})
	t.Run("reads 200 pages within its bound", func(t *testing.T) {
		file := textPDF(slicesOf(200, strings.Repeat(strings.Repeat("word ", 15)+"\n", 45)+"%d")...).bytes()
		for _, start := range []string{"present", "fresh, from the cache"} {
			result := extract(t, e, "application/pdf", "", file)
			assert.Equal(t, 200, result.Pages)
			assert.True(t, result.Searchable)
			c := <-e.slot
			t.Logf("the %s child's peak is %d MB, its text has %d bytes", start, c.peak>>20, len(result.Text))
			assert.Less(t, c.peak, int64(400<<20))
			c.end()
			e.slot <- c
		}
		fine(t, e)
	})
	t.Run("is killed when a file takes too long", func(t *testing.T) {
		c := <-e.slot
		c.options.Timeout = 100 * time.Millisecond
		e.slot <- c
		assert.Equal(t, Result{Reason: "too slow: reading it takes longer than 100ms"},
			extract(t, e, "application/pdf", "", bombPDF(t, "BT /F1 9 Tf (aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) Tj ET ", 24<<20)))
		assert.Zero(t, pidOf(e))
		c = <-e.slot
		c.options.Timeout = DefaultTimeout
		e.slot <- c
		fine(t, e)
	})
	t.Run("ends with the context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		pid := pidOf(e)
		_, err := e.Extract(ctx, "application/pdf", "", &ending{bytes.NewReader(bombPDF(t, endless, 24<<20)), cancel})
		require.ErrorIs(t, err, context.Canceled)
		assert.False(t, isAlive(pid))
	})
	t.Run("being killed from outside is no fault of the file", func(t *testing.T) {
		fine(t, e)
		pid := pidOf(e)
		kill := func() { _ = syscall.Kill(pid, syscall.SIGKILL) }
		_, err := e.Extract(t.Context(), "application/pdf", "", &ending{bytes.NewReader(bombPDF(t, endless, 24<<20)), kill})
		require.ErrorContains(t, err, "child process")
		require.ErrorContains(t, err, "signal: killed")
		fine(t, e)
	})
	t.Run("being killed between two files goes unseen", func(t *testing.T) {
		c := <-e.slot
		p := c.process
		e.slot <- c
		require.NotNil(t, p)
		require.NoError(t, p.handle.Kill())
		<-p.done
		fine(t, e)
	})
}

func TestChild_survives_what_unpacks_to_more_than_its_memory(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("each of these costs a child")
	}
	e := extractor(t, Options{})
	for _, drawing := range []string{endless, "[", "BT /F1 9 Tf (a) Tj ET "} {
		result := extract(t, e, "application/pdf", "", bombPDF(t, drawing, 400<<20))
		assert.Equal(t, ReasonMemory, result.Reason, drawing)
		assert.False(t, result.Searchable)
		assert.Zero(t, pidOf(e))
	}
	result := extract(t, e, "text/html", "", []byte(strings.Repeat("<i>a</i>", 3<<20)))
	assert.Equal(t, Result{Reason: ReasonMemory}, result)
	fine(t, e)
}

func TestChild_ends_when_it_has_no_work(t *testing.T) {
	t.Parallel()
	e := extractor(t, Options{Idle: 50 * time.Millisecond})
	assert.Equal(t, "x\n", extract(t, e, "text/html", "", []byte("<p>x")).Text)
	require.Eventually(t, func() bool { return pidOf(e) == 0 }, soon, 5*time.Millisecond)
	assert.Equal(t, "x\n", extract(t, e, "text/html", "", []byte("<p>x")).Text)
}

func TestChild_ends_with_a_parent_that_is_killed(t *testing.T) {
	t.Parallel()
	parent := exec.CommandContext(t.Context(), os.Args[0])
	parent.Env = append(os.Environ(), parentVariable+"=1")
	output, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	var pid int
	_, err = fmt.Fscan(output, &pid)
	require.NoError(t, err)
	assert.True(t, isAlive(pid))
	require.NoError(t, parent.Process.Kill())
	_ = parent.Wait()
	require.Eventually(t, func() bool { return !isAlive(pid) }, soon, 5*time.Millisecond)
}

func TestChild_is_refused_a_bound_below_what_it_needs(t *testing.T) {
	t.Parallel()
	e := New(Options{Memory: 128 << 20})
	t.Cleanup(e.Close)
	_, err := e.Extract(t.Context(), "application/pdf", "", bytes.NewReader(textPDF("x").bytes()))
	require.ErrorContains(t, err, "child process")
}

func TestChild_works_without_a_cache_that_can_be_written(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	e := New(Options{CacheDir: filepath.Join(file, "below")})
	t.Cleanup(e.Close)
	fine(t, e)
}

func TestServe_refuses_a_program_that_parses_although_it_is_a_child(t *testing.T) {
	t.Setenv(childVariable, "1")
	_, err := start(t.Context(), charge{Memory: DefaultMemory})
	require.ErrorIs(t, err, errNested)
}
