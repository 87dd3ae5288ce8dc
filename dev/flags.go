package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
)

const exitUsage = 2

// maxWorkers is far more than one machine needs.
const maxWorkers = 32

// options are the flags.
type options struct {
	dataDir                              string
	noSample, once, sandbox              bool
	listen, temporalAddress, databaseURL string
	workers                              int
}

// usageError is a command line that can't be carried out.
type usageError struct{ sentence string }

// Error gives the sentence.
func (e *usageError) Error() string { return e.sentence }

// errHelp says that help was asked for and given.
var errHelp = errors.New("help was asked for")

const usage = `Run all of loresync on this machine, with a sample handbook synced.

Usage: go run ./dev [flags]

  --data-dir DIR           where everything is kept (default .loresync)
  --once                   sync, print the result, stop all; exit code 1 if the sync failed
  --no-sample              leave the sample handbook out
  --workers N              how many worker processes to run (default 1)
  --listen HOST:PORT       the gateway's address (default: a free port of 127.0.0.1)
  --temporal-address H:P   use this Temporal instead of starting one
  --database-url URL       use this Postgres database instead of starting one
  --sandbox                sync from stand-ins of Notion and Google Drive, on whose page you change things; they forget the changes when they stop
`

// parseFlags reads the command line; help goes to the writer.
func parseFlags(args []string, help io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("dev", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&o.dataDir, "data-dir", ".loresync", "")
	flags.BoolVar(&o.noSample, "no-sample", false, "")
	flags.BoolVar(&o.once, "once", false, "")
	flags.BoolVar(&o.sandbox, "sandbox", false, "")
	flags.StringVar(&o.listen, "listen", "", "")
	flags.StringVar(&o.temporalAddress, "temporal-address", "", "")
	flags.StringVar(&o.databaseURL, "database-url", "", "")
	flags.IntVar(&o.workers, "workers", 1, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(help, usage)
		return o, errHelp
	case err != nil:
		return o, &usageError{sentence: err.Error() + "; see --help"}
	case flags.NArg() > 0:
		return o, &usageError{sentence: fmt.Sprintf("%q is not a flag; see --help", flags.Arg(0))}
	}
	return o, o.check()
}

func (o options) check() error {
	if o.dataDir == "" {
		return &usageError{sentence: "--data-dir is empty: name a directory, such as .loresync"}
	}
	if o.workers < 1 || o.workers > maxWorkers {
		return &usageError{sentence: fmt.Sprintf("--workers is %d: give a number from 1 to %d", o.workers, maxWorkers)}
	}
	for name, address := range map[string]string{"--listen": o.listen, "--temporal-address": o.temporalAddress} {
		if address == "" {
			continue
		}
		if _, port, err := net.SplitHostPort(address); err != nil || port == "" {
			return &usageError{sentence: fmt.Sprintf("%s is %q, which is not a host and port, such as 127.0.0.1:8080", name, address)}
		}
	}
	return nil
}
