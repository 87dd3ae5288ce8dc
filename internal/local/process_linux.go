package local

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// commandLine returns the command line of a running process, or nothing when there is none. A process that has ended
// and waits to be collected has none either, which is how it should count.
func commandLine(pid int) string {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil {
		return ""
	}
	return strings.Join(strings.Split(strings.TrimRight(string(text), "\x00"), "\x00"), " ")
}
