// Bench measures loresync as a whole on servers of its own and writes the figures, each beside its target, into
// bench/README.md. Figures of different machines don't compare, so what counts is measured as a ratio within one run.
//
// The benchmarks of single steps are ordinary ones: go test -run '^$' -bench . ./bench
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if err := begin(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// begin measures, or plays the role of a child.
func begin(args []string) error {
	if len(args) == 2 && isRole(args[0]) {
		// A child ends when its parent does, or asks it to: Ctrl-C reaches both, and is the parent's to answer.
		signal.Ignore(os.Interrupt)
		return play(context.Background(), args[0], args[1], os.Stdin, os.Stdout)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, args, os.Stdout)
}

// run measures what was asked for. A measure that fails is reported as such, and the others go on.
func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	lab, err := openLab(ctx, o, out)
	if err != nil {
		return err
	}
	defer lab.close(context.WithoutCancel(ctx))
	figures, failed := lab.measure(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	total, missed := figures.Targets()
	if o.out != "" {
		write := figures.WriteFile
		if len(o.only) > 0 {
			write = figures.UpdateFile
		}
		if err := write(o.out); err != nil {
			return err
		}
		lab.say("The figures are in %s.", o.out)
	}
	lab.say("%d of %d targets are met.", total-missed, total)
	return failed
}
