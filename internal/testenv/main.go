package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

// The settings that name servers started for all packages together.
const (
	// DatabaseVariable holds the URL of any database of the shared Postgres, as a superuser.
	DatabaseVariable = "LORESYNC_TEST_DATABASE_URL"
	// TemporalVariable holds host and port of the shared Temporal.
	TemporalVariable = "LORESYNC_TEST_TEMPORAL_ADDRESS"
	// cliVariable names the Temporal CLI to use instead of searching for one.
	cliVariable = "LORESYNC_TEMPORAL_CLI"
)

// startPatience bounds the first start: it may have to build the Temporal CLI, which takes minutes.
const startPatience = 9 * time.Minute

// closers end what this test binary started, the last first.
type closers struct {
	mu  sync.Mutex
	all []func() error
}

// atEnd is what Main closes.
var atEnd closers

func (c *closers) add(end func() error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, end)
}

func (c *closers) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var err error
	for _, end := range slices.Backward(c.all) {
		err = errors.Join(err, end())
	}
	c.all = nil
	return err
}

// Main runs the tests of a package and ends the servers that they started. After a panic or a timeout it isn't reached;
// then the servers end with the process, and the next run removes their files.
func Main(m *testing.M) {
	m.Run()
	if err := atEnd.close(); err != nil {
		fmt.Fprintln(os.Stderr, "testenv:", err)
	}
}

// startContext bounds the start of something that outlives the test that asked for it first.
func startContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), startPatience)
}
