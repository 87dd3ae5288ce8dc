package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"
)

// options are the flags.
type options struct {
	pages       int
	memoryPages int
	seed        uint64
	skip        []string
	out         string
	dataDir     string
	binDir      string
	profileDir  string
}

var errUsage = errors.New("wrong usage")

// parse reads the flags and refuses what makes no sense.
func parse(args []string, out io.Writer) (options, error) {
	var o options
	var skip string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&o.pages, "pages", 2000, "pages of the folder that is synced, and workflows of the floor")
	flags.IntVar(&o.memoryPages, "memory-pages", 20000, "pages of the folder with which the worker's memory is measured")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the generated pages")
	flags.StringVar(&skip, "skip", "", "measures to leave out, with commas between: "+strings.Join(measureNames(), ", "))
	flags.StringVar(&o.out, "out", "bench/README.md", "file that takes the figures; empty for none")
	flags.StringVar(&o.dataDir, "data-dir", ".loresync/bench", "directory for the servers' data and the pages; removed at the end")
	flags.StringVar(&o.binDir, "bin-dir", ".loresync/bin", "directory of server programs that were built or downloaded")
	flags.StringVar(&o.profileDir, "profile", "", "directory that takes a processor profile of each worker, for go tool pprof; empty for none")
	if err := flags.Parse(args); err != nil {
		return o, fmt.Errorf("read the flags: %w", err)
	}
	o.skip = strings.FieldsFunc(skip, func(r rune) bool { return r == ',' || r == ' ' })
	return o, o.check(flags.Args())
}

func (o options) check(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("%w: %q is no flag", errUsage, rest[0])
	}
	if o.pages < 20 || o.memoryPages < 1 {
		return fmt.Errorf("%w: --pages must be 20 or more and --memory-pages 1 or more", errUsage)
	}
	for _, name := range o.skip {
		if !slices.Contains(measureNames(), name) {
			return fmt.Errorf("%w: there is no measure %q to skip: there are %s", errUsage, name, strings.Join(measureNames(), ", "))
		}
	}
	return nil
}
