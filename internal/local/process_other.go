//go:build !linux

package local

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// setDeathSignal does nothing: only Linux ties a child's life to its parent's. The next start ends what was left.
func setDeathSignal(*syscall.SysProcAttr, syscall.Signal) {}

// commandLine returns the command line of a running process, or nothing when there is none.
func commandLine(pid int) string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	text, err := exec.CommandContext(ctx, "ps", "-ww", "-o", "args=", "-p", strconv.Itoa(pid)).Output() //nolint:gosec // a number
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
