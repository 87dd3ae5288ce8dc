package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/loresync/loresync/dev/internal/sandbox"
)

// startSandbox runs the stand-ins, at their last addresses where those are free.
func (d *dev) startSandbox() error {
	if !d.options.sandbox {
		return nil
	}
	files, err := sample()
	if err != nil {
		return err
	}
	stage := d.screen.Begin("Sandbox", "starting stand-ins of Notion and Google Drive")
	if d.sandbox, err = sandbox.Start(files, d.lastAddress(notionVariable), d.lastAddress(driveVariable)); err != nil {
		stage.Fail()
		return fmt.Errorf("start the sandbox: %w", err)
	}
	stage.Done("stand-ins of Notion and Google Drive are at " + d.sandbox.URL())
	return nil
}

// lastAddress is where something was on this machine before, or any free port.
func (d *dev) lastAddress(variable string) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(d.last.port(variable)))
}

// sandboxSettings lead the sources to the stand-ins.
func (d *dev) sandboxSettings() error {
	for _, rate := range []string{notionRate, driveRate} {
		if d.settings[rate] == "" {
			d.settings[rate] = sandboxRate
		}
	}
	d.settings[notionVariable], d.settings[notionToken], d.settings[notionSecret] = d.sandbox.URL(), d.sandbox.Token(), d.sandbox.WebhookSecret()
	key := filepath.Join(d.dir, "sandbox-drive.json")
	if err := os.WriteFile(key, d.sandbox.DriveCredentials(), 0o600); err != nil {
		return fmt.Errorf("write the key of the stand-in: %w", err)
	}
	d.settings[driveVariable], d.settings[driveKey], d.settings[driveSubject] = d.sandbox.DriveEndpoint(), key, ""
	return nil
}

// subscribeSandbox has the stand-in tell the gateway of changes, as Notion's own webhooks do.
func (d *dev) subscribeSandbox(ctx context.Context) error {
	if d.sandbox == nil {
		return nil
	}
	return d.sandbox.Subscribe(ctx, d.settings[publicVariable]+"/webhooks/notion")
}
