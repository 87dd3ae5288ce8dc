package subprocess

import "syscall"

// setDeathSignal asks the kernel to signal the child when the thread that started it ends.
func setDeathSignal(attributes *syscall.SysProcAttr, signal syscall.Signal) {
	attributes.Pdeathsig = signal
}
