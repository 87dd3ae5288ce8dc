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
	"slices"
	"strconv"
	"time"
)

// minPostgres is the oldest major version that loresync works with.
const minPostgres = 14

// ErrNoPostgres says that there are no usable Postgres server programs and that none could be installed.
var ErrNoPostgres = errors.New("no Postgres server of version 14 or newer: install it (Debian, Ubuntu: apt-get install postgresql; " +
	"Fedora: dnf install postgresql-server; macOS: brew install postgresql@17), or give the URL of a running one")

var (
	errNoVersion   = errors.New("it names no version")
	errOldPostgres = errors.New("older than 14")
)

// postgresVersion finds the major version in what `postgres --version` prints: "postgres (PostgreSQL) 15.14 (Debian …)".
var postgresVersion = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// postgresFolders are where distributions put the server programs, most of them off PATH.
var postgresFolders = []string{
	"/usr/lib/postgresql/*/bin",                       // Debian, Ubuntu
	"/usr/pgsql-*/bin",                                // the PostgreSQL project's RPMs
	"/usr/libexec/postgresql*",                        // Alpine
	"/opt/homebrew/opt/postgresql@*/bin",              // Homebrew, Apple silicon
	"/usr/local/opt/postgresql@*/bin",                 // Homebrew, Intel
	"/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin", // Homebrew, Linux
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// PostgresSearch says where to look for Postgres, and where to put it when it has to be fetched.
type PostgresSearch struct {
	// BinDir keeps server programs that were downloaded. It is made when needed; empty means that nothing is downloaded.
	BinDir string
	// NoInstall keeps the search from installing or downloading anything.
	NoInstall bool
	// Progress takes a line for people now and then while something takes long. Nil means silence.
	Progress io.Writer
}

// postgresFinder is one search; its other fields stand for the machine it runs on.
type postgresFinder struct {
	PostgresSearch
	lookPath func(name string) (string, error)
	folders  []string
	// etc is /etc.
	etc string
	// repository is where embedded-postgres downloads from.
	repository string
	isRoot     bool
}

// FindPostgres returns the folder that holds `initdb` and `postgres` of version 14 or newer: those on PATH, the newest of
// the usual folders, those it downloaded before; else it installs the distribution's package on Debian and Ubuntu when it
// may (as root, or by sudo without a password), or downloads the binaries of embedded-postgres.
func FindPostgres(ctx context.Context, search PostgresSearch) (string, error) {
	finder := &postgresFinder{
		PostgresSearch: search, lookPath: exec.LookPath, folders: postgresFolders, etc: "/etc",
		repository: "https://repo1.maven.org/maven2", isRoot: os.Geteuid() == 0,
	}
	return finder.find(ctx)
}

func (f *postgresFinder) find(ctx context.Context) (string, error) {
	if dir := f.installed(ctx); dir != "" {
		return dir, nil
	}
	if f.NoInstall {
		return "", ErrNoPostgres
	}
	err := f.installPackage(ctx)
	if err == nil {
		if dir := f.installed(ctx); dir != "" {
			return dir, nil
		}
	}
	dir, downloadErr := f.download(ctx)
	if downloadErr == nil {
		return dir, nil
	}
	if ctx.Err() != nil {
		return "", fmt.Errorf("find Postgres: %w", context.Cause(ctx))
	}
	return "", fmt.Errorf("%w (tried: %w)", ErrNoPostgres, errors.Join(err, downloadErr))
}

// installed returns the folder of server programs that are there already, or nothing.
func (f *postgresFinder) installed(ctx context.Context) string {
	if dir := f.onPath(); dir != "" {
		if _, err := checkPostgres(ctx, dir); err == nil {
			return dir
		}
	}
	best, bestVersion := "", 0
	for _, dir := range f.candidates() {
		if version, err := checkPostgres(ctx, dir); err == nil && version > bestVersion {
			best, bestVersion = dir, version
		}
	}
	return best
}

// onPath returns the folder that `postgres` on PATH really lies in: its libraries and initdb are found from there, and
// PATH often has just a link.
func (f *postgresFinder) onPath() string {
	path, err := f.lookPath("postgres")
	if err != nil {
		return ""
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return ""
	}
	return filepath.Dir(path)
}

// candidates lists the folders to look into, in a fixed order.
func (f *postgresFinder) candidates() []string {
	var dirs []string
	for _, pattern := range append(slices.Clone(f.folders), filepath.Join(f.downloadDir(), "bin")) {
		found, err := filepath.Glob(pattern)
		if err == nil {
			dirs = append(dirs, found...)
		}
	}
	return dirs
}

// checkPostgres returns the major version of the server programs in a folder, or why they can't be used.
func checkPostgres(ctx context.Context, dir string) (int, error) {
	if _, err := os.Stat(filepath.Join(dir, "initdb")); err != nil {
		return 0, fmt.Errorf("look for initdb: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	output, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output() //nolint:gosec // a fixed name in a known folder
	if err != nil {
		return 0, fmt.Errorf("ask postgres for its version: %w", err)
	}
	match := postgresVersion.FindSubmatch(output)
	if match == nil {
		return 0, errNoVersion
	}
	version, err := strconv.Atoi(string(match[1]))
	if err != nil {
		return 0, errNoVersion
	}
	if version < minPostgres {
		return 0, fmt.Errorf("postgres %d: %w", version, errOldPostgres)
	}
	return version, nil
}
