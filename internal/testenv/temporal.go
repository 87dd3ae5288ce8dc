package testenv

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"google.golang.org/protobuf/types/known/durationpb"
)

// namespacePatience is how long a server may take to know a namespace that was just registered.
const namespacePatience = 30 * time.Second

// The state of one test binary: its Temporal, and how many namespaces it has given out.
var (
	theTemporal = sync.OnceValues(openTemporal)
	namespaces  atomic.Int64
)

// Temporal returns host and port of the Temporal that the tests share. Use Namespace to be alone on it.
func Temporal(t testing.TB) string {
	t.Helper()
	address, err := theTemporal()
	if err != nil {
		t.Fatalf("testenv: %v", err)
	}
	return address
}

// openTemporal uses the shared Temporal, or starts one for this test binary.
func openTemporal() (string, error) {
	if address := os.Getenv(TemporalVariable); address != "" {
		return address, nil
	}
	ctx, cancel := startContext()
	defer cancel()
	return startTemporal(ctx, &atEnd)
}

// Namespace registers a namespace for the test alone and returns its name once workflows can be started in it. It goes
// with the server.
func Namespace(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("%s-%d", prefix(), namespaces.Add(1))
	ctx, cancel := context.WithTimeout(t.Context(), namespacePatience)
	defer cancel()
	if err := register(ctx, Client(t, name), name); err != nil {
		t.Fatalf("testenv: %v", err)
	}
	return name
}

// Client returns a client for a namespace of the shared Temporal. It is closed after the test and logs nothing.
func Client(t testing.TB, namespace string) client.Client {
	t.Helper()
	c, err := client.NewLazyClient(client.Options{
		HostPort: Temporal(t), Namespace: namespace, Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		t.Fatalf("testenv: make a Temporal client: %v", err)
	}
	t.Cleanup(c.Close)
	return c
}

// register registers a namespace and waits until the server's caches know it, which a list of its workflows needs.
func register(ctx context.Context, c client.Client, name string) error {
	_, err := c.WorkflowService().RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace: name, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour),
	})
	if err != nil {
		return fmt.Errorf("register namespace %s: %w", name, err)
	}
	for {
		_, err := c.WorkflowService().CountWorkflowExecutions(ctx, &workflowservice.CountWorkflowExecutionsRequest{Namespace: name})
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for namespace %s: %w", name, errors.Join(ctx.Err(), err))
		case <-time.After(20 * time.Millisecond):
		}
	}
}
