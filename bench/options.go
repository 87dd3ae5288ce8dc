package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// options are the flags.
type options struct {
	pages       int
	memoryPages int
	notionPages int
	crowd       int
	seed        uint64
	skip        []string
	only        []string
	out         string
	dataDir     string
	binDir      string
	profileDir  string
}

var errUsage = errors.New("wrong usage")

// parse reads the flags and refuses what makes no sense.
func parse(args []string, out io.Writer) (options, error) {
	var o options
	var skip, only string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.IntVar(&o.pages, "pages", 2000, "pages of the folder that is synced, and workflows of the floor")
	flags.IntVar(&o.memoryPages, "memory-pages", 20000, "pages of the folder with which the worker's memory is measured")
	flags.IntVar(&o.notionPages, "notion-pages", 10_000, "pages of the stand-in of Notion whose crawl shows the rate budget, 10,000 at most")
	flags.IntVar(&o.crowd, "crowd", 50, "syncs of one page that stand before its delete where designs are compared, 50 at most")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of the generated pages")
	flags.StringVar(&skip, "skip", "", "measures to leave out, with commas between: "+strings.Join(measureNames(), ", "))
	flags.StringVar(&only, "only", "", "measures to take, with commas between; the figures of the others stay in the file as they are")
	flags.StringVar(&o.out, "out", "bench/README.md", "file that takes the figures; empty for none")
	flags.StringVar(&o.dataDir, "data-dir", ".loresync/bench", "directory for the servers' data and the pages; removed at the end")
	flags.StringVar(&o.binDir, "bin-dir", ".loresync/bin", "directory of server programs that were built or downloaded")
	flags.StringVar(&o.profileDir, "profile", "", "directory that takes a processor profile of each worker, for go tool pprof; empty for none")
	if err := flags.Parse(args); err != nil {
		return o, fmt.Errorf("read the flags: %w", err)
	}
	o.skip, o.only = names(skip), names(only)
	if o.binDir != "" {
		// The servers run in a directory of their own, from which a relative path leads nowhere.
		var err error
		if o.binDir, err = filepath.Abs(o.binDir); err != nil {
			return o, fmt.Errorf("find the directory of server programs: %w", err)
		}
	}
	return o, o.check(flags.Args())
}

func names(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
}

// chartFile is where the chart goes: beside the figures, under the name by which they refer to it. It is empty without figures.
func (o options) chartFile() string {
	if o.out == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(o.out), chartName)
}

// takes tells whether a measure is to be taken.
func (o options) takes(name string) bool {
	return !slices.Contains(o.skip, name) && (len(o.only) == 0 || slices.Contains(o.only, name))
}

func (o options) check(rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("%w: %q is no flag", errUsage, rest[0])
	}
	if o.pages < 20 || o.memoryPages < 1 {
		return fmt.Errorf("%w: --pages must be 20 or more and --memory-pages 1 or more", errUsage)
	}
	if o.notionPages < leastNotionPages || o.notionPages > mostNotionPages {
		return fmt.Errorf("%w: --notion-pages must be from %d to %d", errUsage, leastNotionPages, mostNotionPages)
	}
	if o.crowd < 1 || o.crowd > mostCrowd {
		return fmt.Errorf("%w: --crowd must be from 1 to %d", errUsage, mostCrowd)
	}
	for _, name := range slices.Concat(o.skip, o.only) {
		if !slices.Contains(measureNames(), name) {
			return fmt.Errorf("%w: there is no measure %q: there are %s", errUsage, name, strings.Join(measureNames(), ", "))
		}
	}
	return nil
}
