package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// launcherCheck is how often the launcher is looked for.
const launcherCheck = 500 * time.Millisecond

// watchLauncher ends everything when the `go run` that started this program is gone. It doesn't pass signals on: whoever kills
// it means us, and would otherwise be left with servers that hold the data directory. Anything else that started us may end.
func watchLauncher(ctx context.Context, stop context.CancelCauseFunc) {
	program, err := os.Executable()
	if err != nil || !isFromGoRun(program) {
		return
	}
	launcher := os.Getppid()
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

var errLauncherGone = errors.New("the `go run` that started this is gone")

// isFromGoRun knows the folder that `go run` builds into: …/go-build123/b001/exe/dev.
func isFromGoRun(program string) bool {
	exe := filepath.Dir(program)
	return filepath.Base(exe) == "exe" && strings.Contains(exe, string(filepath.Separator)+"go-build")
}
