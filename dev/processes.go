package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/loresync/loresync/dev/internal/children"
)

const (
	// gatewayPatience is how long a gateway may take to be ready.
	gatewayPatience = 30 * time.Second
	readyPoll       = 50 * time.Millisecond
)

var errNotReady = errors.New("the gateway did not become ready")

// startProcesses starts the workers and the gateway, and waits until the gateway says that it is ready.
func (d *dev) startProcesses(ctx context.Context) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	stage := d.screen.Begin("Workers", "starting")
	for n := range d.options.workers {
		worker, err := d.startChild(ctx, children.Spec{
			Name: fmt.Sprintf("worker %d", n+1), Program: program, Args: []string{childArgument, roleWorker},
			Log: filepath.Join(d.dir, fmt.Sprintf("worker-%d.log", n+1)),
		})
		if err != nil {
			stage.Fail()
			return err
		}
		d.workers = append(d.workers, worker)
	}
	stage.Done("started, " + d.pids())
	return d.startGateway(ctx, program)
}

func (d *dev) startGateway(ctx context.Context, program string) error {
	stage := d.screen.Begin("Gateway", "starting")
	var err error
	d.gateway, err = d.startChild(ctx, children.Spec{
		Name: roleGateway, Program: program, Args: []string{childArgument, roleGateway},
		Log: filepath.Join(d.dir, "gateway.log"),
	})
	if err == nil {
		err = d.awaitGateway(ctx)
	}
	if err != nil {
		stage.Fail()
		return err
	}
	stage.Done("ready at " + d.settings[publicVariable])
	return nil
}

// startChild starts a child and ends everything should it have to be given up.
func (d *dev) startChild(ctx context.Context, spec children.Spec) (*children.Child, error) {
	child, err := children.Start(ctx, spec, d.screen.Trouble)
	if err != nil {
		return nil, err
	}
	go func() {
		select {
		case err := <-child.Failed():
			d.fail(err)
		case <-ctx.Done():
		}
	}()
	return child, nil
}

// pids names the workers' processes, for whoever wants to look at one or kill it.
func (d *dev) pids() string {
	pids := make([]string, len(d.workers))
	for i, worker := range d.workers {
		pids[i] = strconv.Itoa(worker.Pid())
	}
	if len(pids) == 1 {
		return "process " + pids[0]
	}
	return "processes " + strings.Join(pids, ", ")
}

func (d *dev) awaitGateway(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, gatewayPatience, fmt.Errorf("%w: see %s", errNotReady, filepath.Join(d.dir, "gateway.log")))
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.settings[publicVariable]+"/readyz", http.NoBody)
	if err != nil {
		return fmt.Errorf("ask the gateway: %w", err)
	}
	for {
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(readyPoll):
		}
	}
}

// stopProcesses ends the workers at once, and the gateway after them.
func (d *dev) stopProcesses() {
	var stopping sync.WaitGroup
	for _, worker := range d.workers {
		stopping.Go(func() { worker.Stop(d.hurry) })
	}
	stopping.Wait()
	if d.gateway != nil {
		d.gateway.Stop(d.hurry)
	}
}
