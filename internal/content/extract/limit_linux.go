package extract

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// setDeathSignal has the kernel kill the child when the thread that started it ends. A child that is deep in a hostile file
// may be unable to notice by itself that its parent is gone.
func setDeathSignal(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGKILL }

// peakMemory is the most memory that this process has had resident, in bytes. The usual system call would count what the
// parent had when it made this process.
func peakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "VmHWM:" {
			kilobytes, _ := strconv.ParseInt(fields[1], 10, 64)
			return kilobytes << 10
		}
	}
	return 0
}
