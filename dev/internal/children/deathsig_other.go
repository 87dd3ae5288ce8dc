//go:build !linux

package children

import "syscall"

// setDeathSignal does nothing here: the lifeline alone ends the child with its parent.
func setDeathSignal(*syscall.SysProcAttr) {}
