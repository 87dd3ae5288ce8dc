//go:build unix

package files

import (
	"os"
	"syscall"
)

// readFlags keep an open from waiting for a writer, should the file have become a pipe since it was looked at.
const readFlags = os.O_RDONLY | syscall.O_NONBLOCK
