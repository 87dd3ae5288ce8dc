//go:build darwin || freebsd || netbsd

package files

import (
	"io/fs"
	"syscall"
)

// changeStamp gives the time of the last change of the inode in nanoseconds, and its number. Unlike the time of the last
// write, no program can set the former back.
func changeStamp(info fs.FileInfo) (nanos int64, inode uint64) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return stat.Ctimespec.Nano(), stat.Ino
}
