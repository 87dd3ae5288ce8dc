//go:build !linux

package local

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

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
