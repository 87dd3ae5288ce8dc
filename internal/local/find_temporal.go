package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// The oldest server that has all that loresync uses.
const (
	minTemporalMajor = 1
	minTemporalMinor = 27
)

// ErrNoTemporal says that there is no usable Temporal CLI and that none can be built.
var ErrNoTemporal = errors.New("no Temporal CLI with a server of 1.27 or newer: install it (https://docs.temporal.io/cli, or `brew install temporal`), " +
	"or install Go so that it can be built")

var (
	errOldTemporal     = errors.New("its server is older than 1.27")
	errNoServerVersion = errors.New("it names no server version")
)

// serverVersion finds the server in what `temporal --version` prints: "temporal version 1.5.1 (Server 1.29.1, UI 2.42.1)".
var serverVersion = regexp.MustCompile(`\bServer (\d+)\.(\d+)`)

// TemporalSearch says where to look for the Temporal CLI.
type TemporalSearch struct {
	// CLI is the path of the one to use; empty means search. One that is named but unusable is an error.
	CLI string
	// BinDir keeps the one that was built, so that it is built once. It is made when needed.
	BinDir string
	// Progress takes a line for people now and then while something takes long. Nil means silence.
	Progress io.Writer
}

// temporalFinder is one search; its fields stand for the machine it runs on.
type temporalFinder struct {
	TemporalSearch
	lookPath func(name string) (string, error)
	// every is how often a long build says that it still lives.
	every time.Duration
}

// FindTemporal returns the path of a Temporal CLI whose development server is 1.27 or newer: the one named, the one on
// PATH, the one built before, or one that it builds now, which takes minutes. Any number of processes may
// search at once: one builds, the others wait for it.
func FindTemporal(ctx context.Context, search TemporalSearch) (string, error) {
	finder := &temporalFinder{TemporalSearch: search, lookPath: exec.LookPath, every: 10 * time.Second}
	return finder.find(ctx)
}

func (f *temporalFinder) find(ctx context.Context) (string, error) {
	if f.CLI != "" {
		return f.named(ctx)
	}
	if path, err := f.lookPath("temporal"); err == nil {
		if err := checkTemporal(ctx, path); err == nil {
			return path, nil
		} else if ctx.Err() == nil {
			f.say("%s is left alone: %v", path, err)
		}
	}
	if f.BinDir == "" {
		return "", ErrNoTemporal
	}
	if checkTemporal(ctx, f.built()) == nil {
		return f.built(), nil
	}
	return f.build(ctx)
}

// named checks the CLI that the caller insists on.
func (f *temporalFinder) named(ctx context.Context) (string, error) {
	path, err := f.lookPath(f.CLI)
	if err != nil {
		return "", fmt.Errorf("use the Temporal CLI %s: %w", f.CLI, err)
	}
	if err := checkTemporal(ctx, path); err != nil {
		return "", fmt.Errorf("use the Temporal CLI %s: %w", f.CLI, err)
	}
	return path, nil
}

// built is where the CLI lies after it was built.
func (f *temporalFinder) built() string {
	return filepath.Join(f.BinDir, "temporal")
}

func (f *temporalFinder) say(format string, args ...any) {
	say(f.Progress, format, args...)
}

// checkTemporal runs the CLI and returns why it can't be used, or nil.
func checkTemporal(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("look at the Temporal CLI: %w", err)
	}
	// A cold 250 MB binary on a busy disk takes its time.
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	output, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return fmt.Errorf("ask %s for its version: %w", path, err)
	}
	return checkServerVersion(string(output))
}

// checkServerVersion judges what `temporal --version` printed.
func checkServerVersion(output string) error {
	match := serverVersion.FindStringSubmatch(output)
	if match == nil {
		return errNoServerVersion
	}
	major, errMajor := strconv.Atoi(match[1])
	minor, errMinor := strconv.Atoi(match[2])
	if errMajor != nil || errMinor != nil {
		return errNoServerVersion
	}
	if major < minTemporalMajor || (major == minTemporalMajor && minor < minTemporalMinor) {
		return fmt.Errorf("server %s.%s: %w", match[1], match[2], errOldTemporal)
	}
	return nil
}

// say writes one line for people. Progress that can't be shown never stops the work.
func say(w io.Writer, format string, args ...any) {
	if w != nil {
		_, _ = fmt.Fprintf(w, format+"\n", args...)
	}
}
