package drivetest_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

// TestManyAtOnce reads and changes a Drive from all sides. It is meant for the race detector.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{Clock: drivetest.WallClock()})
	folder := drivetest.Must(s.AddFolder("", "folder"))
	service := s.account()
	at := token(t, service, "")
	const callers, each = 8, 12
	failures := make(chan error, 2*callers*each)
	var running sync.WaitGroup
	for i := range callers {
		running.Go(func() {
			for j := range each {
				id, err := s.AddDoc(folder, fmt.Sprint(i, "/", j), "# Text")
				failures <- errors.Join(err, s.Rename(id, "new"), s.Trash(id))
				_, err = service.Files.List().Q("fullText contains 'text'").Do()
				failures <- err
			}
		})
	}
	running.Wait()
	close(failures)
	for err := range failures {
		require.NoError(t, err)
	}
	got, _ := changesSince(t, service, "", at, nil)
	assert.Len(t, got, callers*each)
	assert.Equal(t, callers*each, strings.Count(strings.Join(got, "\n"), "trashed new"))
}

func TestClose(t *testing.T) {
	t.Parallel()
	s := drivetest.New(drivetest.Options{})
	held := s.Hold(nil)
	client := s.HTTPClient(s.Owner())
	done := make(chan error, 1)
	go func() {
		r, err := http.NewRequest(http.MethodGet, s.Endpoint()+"files", http.NoBody)
		if err == nil {
			var answer *http.Response
			if answer, err = client.Do(r); err == nil {
				err = answer.Body.Close()
			}
		}
		done <- err
	}()
	require.NoError(t, held.Await(t.Context(), 1))
	s.Close()
	t.Log("whether an answer came before the connection was cut is a matter of chance:", <-done)
	_, err := net.Dial("tcp", strings.TrimPrefix(s.URL(), "http://"))
	require.Error(t, err)
	address := strings.TrimPrefix(s.URL(), "http://")
	again := drivetest.Start(t, drivetest.Options{Address: address})
	assert.Equal(t, s.URL(), again.URL(), "an address may be chosen")
	assert.Panics(t, func() { drivetest.New(drivetest.Options{Address: address}) })
}

func TestClocks(t *testing.T) {
	t.Parallel()
	standing := drivetest.NewClock(start())
	standing.Advance(time.Minute)
	assert.Equal(t, start().Add(time.Minute), standing.Now())
	running := drivetest.WallClock()
	running.Set(start())
	running.Advance(-time.Hour)
	now := running.Now()
	assert.False(t, now.Before(start().Add(-time.Hour)))
	require.Eventually(t, func() bool { return running.Now().After(now) }, time.Minute, time.Nanosecond)
	assert.Equal(t, time.UTC, now.Location())
}

func TestMust(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 1, drivetest.Must(1, nil))
	assert.Panics(t, func() { drivetest.Must(1, errors.New("no")) })
}
