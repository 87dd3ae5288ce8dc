//go:build !linux && !dragonfly && !openbsd && !solaris && !illumos && !darwin && !freebsd && !netbsd

package files

import "io/fs"

// changeStamp is zero where the system has no such thing: there, size and time of the last write must do.
func changeStamp(fs.FileInfo) (nanos int64, inode uint64) { return 0, 0 }
