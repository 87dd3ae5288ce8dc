package storm

import "syscall"

func mountSmall(dir string) error { return syscall.Mount("tmpfs", dir, "tmpfs", 0, diskSize) }

func unmount(dir string) error { return syscall.Unmount(dir, 0) }
