package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
)

const (
	// temporalPatience is how long a server may take to answer; on an idle machine it is ready after 0.15 s.
	temporalPatience = 90 * time.Second
	readyPoll        = 20 * time.Millisecond
)

var errNotReady = errors.New("it did not become ready in time")

// awaitTemporal waits until the server answers for all its namespaces, or has ended.
func awaitTemporal(ctx context.Context, p *process, address string, namespaces []string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, temporalPatience, errNotReady)
	defer cancel()
	// gRPC waits a second after a refused connection, so the port is watched by plain connections first.
	listening := func(ctx context.Context) error { return dial(ctx, address) }
	if err := awaitProcess(ctx, p, listening); err != nil {
		return err
	}
	c, err := client.NewLazyClient(client.Options{HostPort: address, Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	defer c.Close()
	for _, namespace := range namespaces {
		request := &workflowservice.DescribeNamespaceRequest{Namespace: namespace}
		described := func(ctx context.Context) error {
			_, err := c.WorkflowService().DescribeNamespace(ctx, request)
			return err
		}
		if err := awaitProcess(ctx, p, described); err != nil {
			return err
		}
	}
	return nil
}

// awaitProcess tries until the probe succeeds, and gives up when the process ends or the context does.
func awaitProcess(ctx context.Context, p *process, probe func(context.Context) error) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, 2*time.Second)
		err := probe(attempt)
		cancel()
		if p.Ended() {
			return p.died()
		}
		if err == nil {
			return nil
		}
		if waitErr := sleep(ctx, readyPoll); waitErr != nil {
			return fmt.Errorf("wait for it to answer: %w: %w", waitErr, err)
		}
	}
}

func dial(ctx context.Context, address string) error {
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return connection.Close()
}
