//go:build !linux

package subprocess

import "syscall"

// setDeathSignal does nothing: only Linux ties a child's life to its parent's.
func setDeathSignal(*syscall.SysProcAttr, syscall.Signal) {}
