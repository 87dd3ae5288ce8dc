package local

import (
	"net"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/durationpb"
)

func startTemporal(t *testing.T, options TemporalOptions) *Temporal {
	t.Helper()
	options.CLI = temporalCLI(t)
	server, err := StartTemporal(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Stop()) })
	return server
}

func register(t *testing.T, server *Temporal, namespace string) {
	t.Helper()
	c, err := client.NewNamespaceClient(client.Options{HostPort: server.Address()})
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.Register(t.Context(), &workflowservice.RegisterNamespaceRequest{
		Namespace: namespace, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	}))
}

func knows(t *testing.T, server *Temporal, namespace string) bool {
	t.Helper()
	c, err := client.NewNamespaceClient(client.Options{HostPort: server.Address()})
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Describe(t.Context(), namespace)
	return err == nil
}

func TestTemporal(t *testing.T) {
	t.Parallel()
	t.Run("keeps its data over a crash and a stop", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		server := startTemporal(t, TemporalOptions{DataDir: dir, UI: true, Namespaces: []string{"given"}})
		assert.True(t, knows(t, server, "given"))
		register(t, server, "mine")
		requireUI(t, server)
		address, killed := server.Address(), server.Done()
		require.NoError(t, server.Kill())
		requireClosed(t, killed)
		require.NoError(t, server.Restart(t.Context()))
		assert.Equal(t, address, server.Address())
		assert.True(t, knows(t, server, "mine"))
		require.NoError(t, server.Stop())
		assert.False(t, alive(server.Pid()))
		second := startTemporal(t, TemporalOptions{DataDir: dir})
		assert.True(t, knows(t, second, "mine"))
	})
	t.Run("refuses a data directory that is in use and names its owner", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		startTemporal(t, TemporalOptions{DataDir: dir, InMemory: true})
		_, err := StartTemporal(t.Context(), TemporalOptions{CLI: temporalCLI(t), DataDir: dir})
		var inUse *InUseError
		require.ErrorAs(t, err, &inUse)
		assert.Equal(t, os.Getpid(), inUse.PID)
		assert.Contains(t, err.Error(), strconv.Itoa(os.Getpid()))
	})
	t.Run("ends the server that a dead owner left", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		orphan := startTemporal(t, TemporalOptions{DataDir: dir})
		orphan.lock.release() // as the kernel does when an owner dies
		second := startTemporal(t, TemporalOptions{DataDir: dir})
		requireClosed(t, orphan.Done())
		assert.True(t, alive(second.Pid()))
	})
	t.Run("says that a port is taken", func(t *testing.T) {
		t.Parallel()
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = listener.Close() }()
		_, text, err := net.SplitHostPort(listener.Addr().String())
		require.NoError(t, err)
		port, err := strconv.Atoi(text)
		require.NoError(t, err)
		_, err = StartTemporal(t.Context(), TemporalOptions{CLI: temporalCLI(t), DataDir: t.TempDir(), InMemory: true, Port: port})
		require.ErrorIs(t, err, ErrDied)
		assert.Contains(t, err.Error(), "already in use")
	})
}

func requireUI(t *testing.T, server *Temporal) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.UIURL(), http.NoBody)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		response, err := http.DefaultClient.Do(request)
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
	}, eventually, soon)
}

func TestFreePort(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for range 300 {
		port, err := FreePort()
		require.NoError(t, err)
		require.False(t, seen[port], "a port is promised once")
		seen[port] = true
	}
}
