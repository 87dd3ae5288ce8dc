//go:build !linux

package extract

import "syscall"

// setDeathSignal does nothing here: the end of its input alone ends the child with its parent.
func setDeathSignal(*syscall.SysProcAttr) {}

// peakMemory is unknown here.
func peakMemory() int64 { return 0 }
