package storm

import (
	"os"
	"syscall"
)

// nobody is the user that processes run as when the storm is root's, whom no file would be unreadable to.
const nobody = 65534

func childAttributes() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		attributes.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return attributes
}
