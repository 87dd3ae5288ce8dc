package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// launcherCheck is how often the launcher is looked for.
const launcherCheck = 500 * time.Millisecond

var errLauncherGone = errors.New("the `go run` that started this is gone")

// watchLauncher ends everything when the `go run` that started this program is gone. It doesn't pass signals on: whoever kills
// it means us, and would otherwise be left with servers that hold the data directory. Anything else that started us may end.
func watchLauncher(ctx context.Context, stop context.CancelCauseFunc) {
	launcher := os.Getppid()
	if programOf(ctx, launcher) != "go" {
		return
	}
	ticker := time.NewTicker(launcherCheck)
	defer ticker.Stop()
	for os.Getppid() == launcher {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
	stop(errLauncherGone)
}

// programOf is the name of a running program, empty when it can't be told.
func programOf(ctx context.Context, pid int) string {
	name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm"))
	if err != nil { // no such file system, as on macOS
		name, err = exec.CommandContext(ctx, "ps", "-o", "comm=", "-p", strconv.Itoa(pid)).Output() //nolint:gosec // a number
	}
	if err != nil {
		return ""
	}
	return filepath.Base(strings.TrimSpace(string(name)))
}
