package main

import (
	"context"
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// takeTerminal makes this program the one that Ctrl-C reaches, where `go run` started it at a terminal, and gives a function
// that hands the terminal back. Otherwise the same Ctrl-C would interrupt `make` and `go run` too, which then end as failed
// although everything was ended in order. Who stops the foreground with Ctrl-Z would stop this program alone, and wait for it
// for ever: it is ignored.
func takeTerminal(ctx context.Context) (giveBack func()) {
	none := func() {}
	terminal, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return none // nobody sits there
	}
	fd, group := int(terminal.Fd()), unix.Getpgrp()
	shown, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	if err != nil || shown != group || group == os.Getpid() || programOf(ctx, os.Getppid()) != "go" || unix.Setpgid(0, 0) != nil {
		_ = terminal.Close()
		return none
	}
	// A program in the background is stopped when it takes the terminal, unless it ignores that.
	signal.Ignore(unix.SIGTTOU, unix.SIGTSTP)
	_ = unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, os.Getpid())
	return func() {
		_ = unix.IoctlSetPointerInt(fd, unix.TIOCSPGRP, group)
		_ = terminal.Close()
	}
}
