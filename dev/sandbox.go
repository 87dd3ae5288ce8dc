package main

import (
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/loresync/loresync/dev/internal/sandbox"
)

// startSandbox runs the stand-in, at its last address where that is free.
func (d *dev) startSandbox() error {
	if !d.options.sandbox {
		return nil
	}
	files, err := sample()
	if err != nil {
		return err
	}
	stage := d.screen.Begin("Sandbox", "starting a stand-in Notion")
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(d.last.port(notionVariable)))
	if d.sandbox, err = sandbox.Start(files, address); err != nil {
		stage.Fail()
		return fmt.Errorf("start the sandbox: %w", err)
	}
	stage.Done("a stand-in Notion is at " + d.sandbox.URL())
	return nil
}

// subscribeSandbox has the stand-in tell the gateway of changes, as Notion's own webhooks do.
func (d *dev) subscribeSandbox(ctx context.Context) error {
	if d.sandbox == nil {
		return nil
	}
	return d.sandbox.Subscribe(ctx, d.settings[publicVariable]+"/webhooks/notion")
}
