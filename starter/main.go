// Command starter is loresync's command line: folders, syncs, deletes, restores, and why a page is or isn't there. It decides
// nothing itself: every command goes through package control, and answers with what control answered.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
	_ "time/tzdata" // schedules name time zones, and containers often come without them
)

func main() {
	os.Exit(exitCode(run(context.Background())))
}

// again is how soon a second Ctrl-C counts as one: process managers send the same signal twice, to a process and its group.
const again = time.Second

// run carries out one command line. The first Ctrl-C ends what is being waited for, the second one the process.
func run(ctx context.Context) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(again, stop) })
	return execute(ctx, realDeps(), os.Args[1:])
}
