package children

import "syscall"

// setDeathSignal has the kernel kill the child when the thread that started it ends. A killed parent takes the servers with
// it, so there is nothing left that a child could tidy up with.
func setDeathSignal(attributes *syscall.SysProcAttr) { attributes.Pdeathsig = syscall.SIGKILL }
