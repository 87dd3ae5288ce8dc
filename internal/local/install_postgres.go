package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// downloadVersion is what is fetched where nothing can be installed.
const downloadVersion = embeddedpostgres.V17

// downloadPatience bounds the download: about 30 MB, or a network that swallows packets.
const downloadPatience = 3 * time.Minute

var (
	errNotDebian  = errors.New("this is no Debian or Ubuntu")
	errNotAllowed = errors.New("installing a package needs root, or sudo without a password")
	errNoBinDir   = errors.New("no folder was given to download to")
)

// installPackage installs the distribution's Postgres on Debian and Ubuntu. The package must not set up and start a
// cluster of its own, so its settings say so before it comes; settings that exist belong to the operator and stay.
func (f *postgresFinder) installPackage(ctx context.Context) error {
	aptGet, err := f.lookPath("apt-get")
	if err != nil || !exists(filepath.Join(f.etc, "debian_version")) {
		return errNotDebian
	}
	elevate, err := f.elevation(ctx)
	if err != nil {
		return err
	}
	say(f.Progress, "Installing Postgres with apt-get. This takes about a minute.")
	settings := filepath.Join(f.etc, "postgresql-common", "createcluster.conf")
	const keepOurs = `test -e "$1" || { mkdir -p "$(dirname "$1")" && echo "create_main_cluster = false" > "$1"; }`
	steps := [][]string{
		{"sh", "-c", keepOurs, "sh", settings},
		{aptGet, "-o", "DPkg::Lock::Timeout=120", "update"},
		{aptGet, "-o", "DPkg::Lock::Timeout=120", "-o", "Dpkg::Options::=--force-confold", "install", "-y", "--no-install-recommends", "postgresql"},
	}
	for _, step := range steps {
		if err := runQuietly(ctx, append(elevate, step...)); err != nil {
			return fmt.Errorf("install Postgres: %w", err)
		}
	}
	return nil
}

// elevation is what a command has to begin with to run as root without asking anybody anything.
func (f *postgresFinder) elevation(ctx context.Context) ([]string, error) {
	quiet := []string{"env", "DEBIAN_FRONTEND=noninteractive", "UCF_FORCE_CONFFOLD=1"}
	if f.isRoot {
		return quiet, nil
	}
	sudo, err := f.lookPath("sudo")
	if err != nil {
		return nil, errNotAllowed
	}
	if err := exec.CommandContext(ctx, sudo, "-n", "true").Run(); err != nil { //nolint:gosec // found on PATH
		return nil, errNotAllowed
	}
	return append([]string{sudo, "-n"}, quiet...), nil
}

// runQuietly runs a command to its end; its last lines become part of the error.
func runQuietly(ctx context.Context, line []string) error {
	output, err := exec.CommandContext(ctx, line[0], line[1:]...).CombinedOutput() //nolint:gosec // fixed commands
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(line, " "), err, lastLines(string(output), 3))
	}
	return nil
}

// downloadDir is where downloaded programs lie. What root downloads must be open to the ordinary account that runs it,
// which a checkout below a closed home directory isn't.
func (f *postgresFinder) downloadDir() string {
	name := "postgres-" + string(downloadVersion)
	if f.isRoot && f.BinDir != "" && !exists(filepath.Join(f.BinDir, name)) {
		return filepath.Join("/var/lib/loresync", name)
	}
	return filepath.Join(f.BinDir, name)
}

// download fetches and unpacks the binaries of embedded-postgres and returns their folder.
func (f *postgresFinder) download(ctx context.Context) (string, error) {
	if f.BinDir == "" {
		return "", errNoBinDir
	}
	dir := f.downloadDir()
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // programs, not secrets
		return "", fmt.Errorf("download Postgres: %w", err)
	}
	lock, err := waitLock(ctx, dir+".lock", 10*time.Second, func() { say(f.Progress, "Waiting for another process that downloads Postgres …") })
	if err != nil {
		return "", fmt.Errorf("download Postgres: %w", err)
	}
	defer lock.release()
	bin := filepath.Join(dir, "bin")
	if _, err := checkPostgres(ctx, bin); err == nil {
		return bin, nil
	}
	say(f.Progress, "Downloading Postgres (about 30 MB) into %s.", dir)
	if err := f.fetch(ctx, dir); err != nil {
		return "", fmt.Errorf("download Postgres: %w", err)
	}
	if _, err := checkPostgres(ctx, bin); err != nil {
		return "", fmt.Errorf("download Postgres: %w", err)
	}
	return bin, nil
}

// fetch has embedded-postgres download and unpack its binaries. The library can only do that on the way to a start, so it
// is given a data folder that looks ready and isn't: nothing is initialised, and the start ends at once. What counts is
// whether the programs are there afterwards. The library knows no context; when ours ends, it is left to finish alone.
func (f *postgresFinder) fetch(ctx context.Context, dir string) error {
	scratch, err := os.MkdirTemp(filepath.Dir(dir), ".postgres-download-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() { _ = os.RemoveAll(scratch) }()
	major, _, _ := strings.Cut(string(downloadVersion), ".")
	if err := os.WriteFile(filepath.Join(scratch, "PG_VERSION"), []byte(major), 0o600); err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	port, err := FreePort()
	if err != nil {
		return err
	}
	config := embeddedpostgres.DefaultConfig().Version(downloadVersion).Port(uint32(port)).
		BinaryRepositoryURL(f.repository).CachePath(scratch).RuntimePath(dir).DataPath(scratch).Logger(io.Discard)
	return f.awaitFetch(ctx, embeddedpostgres.NewDatabase(config), filepath.Join(dir, "bin", "postgres"))
}

func (f *postgresFinder) awaitFetch(ctx context.Context, library *embeddedpostgres.EmbeddedPostgres, program string) error {
	ctx, cancel := context.WithTimeout(ctx, downloadPatience)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- library.Start() }()
	select {
	case err := <-ended:
		if exists(program) {
			return nil
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func exists(path string) bool {
	_, err := os.Stat(path) //nolint:gosec // paths of our own, or what they name, for root and owner alike
	return err == nil
}
