package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// temporalModule is the newest CLI known to install this way: v1.9.1 has replace directives, which `go install` refuses.
const temporalModule = "github.com/temporalio/cli/cmd/temporal@v1.5.1"

var errBuild = errors.New("the build ended with an error")

// build makes the CLI with `go install`, unless another process made it while this one waited for its turn.
func (f *temporalFinder) build(ctx context.Context) (string, error) {
	if err := os.MkdirAll(f.BinDir, 0o755); err != nil { //nolint:gosec // programs, not secrets
		return "", fmt.Errorf("build the Temporal CLI: %w", err)
	}
	lock, err := waitLock(ctx, f.built()+".lock", f.every, func() { f.say("Waiting for another process that builds the Temporal CLI …") })
	if err != nil {
		return "", fmt.Errorf("build the Temporal CLI: %w", err)
	}
	defer lock.release()
	if checkTemporal(ctx, f.built()) == nil {
		return f.built(), nil
	}
	goTool, err := f.lookPath("go")
	if err != nil {
		return "", ErrNoTemporal
	}
	if err := f.install(ctx, goTool); err != nil {
		return "", fmt.Errorf("build the Temporal CLI: %w", err)
	}
	return f.built(), nil
}

// install builds into a folder of its own and moves the result into place, so that a build that was killed never leaves
// half a program under the final name. The caller holds the lock, so older folders of this kind belong to nobody.
func (f *temporalFinder) install(ctx context.Context, goTool string) error {
	const prefix = ".temporal-build-"
	stale, _ := filepath.Glob(filepath.Join(f.BinDir, prefix+"*"))
	for _, dir := range stale {
		_ = os.RemoveAll(dir)
	}
	dir, err := os.MkdirTemp(f.BinDir, prefix)
	if err != nil {
		return fmt.Errorf("make a build folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("make a build folder: %w", err)
	}
	f.say("Building the Temporal CLI into %s. The first time takes two to four minutes.", f.BinDir)
	started := time.Now()
	if err := f.goInstall(ctx, goTool, dir); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(dir, "temporal"), f.built()); err != nil {
		return fmt.Errorf("put it in place: %w", err)
	}
	f.say("Built the Temporal CLI in %s.", time.Since(started).Round(time.Second))
	return checkTemporal(ctx, f.built())
}

// withoutDebugInfo makes the build and its link shorter, and the file smaller. Stack traces stay whole. The Makefile compiles
// with the same -gcflags, so that the standard library is there already.
var withoutDebugInfo = []string{"-ldflags=-s -w", "-gcflags=all=-dwarf=false"}

// fewCores is up to how many cores one compiler to a core is faster than several threads in each.
const fewCores = 4

// spareCompilers makes the compilers of a build collect less often and, on few cores, keep to one thread each: on two cores
// the build takes a third less time. One more than there are cores works while another waits for the disk.
func spareCompilers(cores int) (flags, env []string) {
	flags, env = []string{"-p", strconv.Itoa(cores + 1)}, []string{"GOGC=400"}
	if cores <= fewCores {
		env = append(env, "GOMAXPROCS=1")
	}
	return flags, env
}

// goInstall runs the build with GOBIN=dir and says every few seconds that it goes on.
func (f *temporalFinder) goInstall(ctx context.Context, goTool, dir string) error {
	flags, env := spareCompilers(runtime.NumCPU())
	build, err := command{
		path: goTool, args: slices.Concat([]string{"install"}, flags, withoutDebugInfo, []string{temporalModule}),
		env: append(installEnv(os.Environ(), dir), env...), dir: dir,
		log: filepath.Join(f.BinDir, "temporal-build.log"), deathSignal: syscall.SIGTERM,
	}.start(ctx)
	if err != nil {
		return err
	}
	err = build.finish(ctx, f.every, func(since time.Duration) {
		f.say("Still building the Temporal CLI (%s) …", since.Round(time.Second))
	})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: %w: %s", errBuild, err, lastLines(build.Output(), 5))
	}
	return err
}

// installEnv is the environment for `go install` of a module that isn't ours: without the workspace, the vendor or
// read-only mode and the cross-compilation that may be set for the checkout, and with GOBIN.
func installEnv(environ []string, gobin string) []string {
	env := make([]string, 0, len(environ)+2)
	for _, entry := range environ {
		key, value, _ := strings.Cut(entry, "=")
		switch key {
		case "GOBIN", "GOOS", "GOARCH", "GOWORK":
		case "GOFLAGS":
			env = append(env, "GOFLAGS="+withoutModFlags(value))
		default:
			env = append(env, entry)
		}
	}
	return append(env, "GOBIN="+gobin, "GOWORK=off")
}

// withoutModFlags drops -mod and -modfile from the value of GOFLAGS.
func withoutModFlags(flags string) string {
	var kept []string
	for flag := range strings.FieldsSeq(flags) {
		name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
		if name != "mod" && name != "modfile" {
			kept = append(kept, flag)
		}
	}
	return strings.Join(kept, " ")
}
