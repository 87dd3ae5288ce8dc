package local

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// superuser is the role that owns a private cluster.
const superuser = "loresync"

var (
	errOtherVersion  = errors.New("made by another major version of Postgres")
	errUnreachable   = errors.New("the account that runs Postgres may not run it there")
	errNoPassword    = errors.New("the cluster's password file has an unknown form")
	errInitdbRefused = errors.New("initdb refused")
)

// cluster is the files of a private Postgres, and who may touch them.
type cluster struct {
	binDir  string
	place   string
	account *account
	durable bool
	// host is the address that the server listens on, walSegmentMB the size of the files of its log.
	host         string
	walSegmentMB int
	// log takes what initdb says.
	log string
}

// dir is the folder of the cluster's files.
func (c cluster) dir() string {
	return filepath.Join(c.place, clusterDir)
}

// prepare makes the cluster if there is none and returns its password.
func (c cluster) prepare(ctx context.Context) (string, error) {
	runs, err := c.account.canEnter(ctx, filepath.Join(c.binDir, "postgres"))
	if err != nil {
		return "", err
	}
	if !runs {
		return "", fmt.Errorf("use %s as %s: %w", c.binDir, c.account.name, errUnreachable)
	}
	if !exists(c.dir()) {
		return c.create(ctx)
	}
	if err := c.checkVersion(ctx); err != nil {
		return "", err
	}
	return c.readPassword()
}

// checkVersion compares the cluster with the server programs: only the same major version reads it.
func (c cluster) checkVersion(ctx context.Context) error {
	text, err := os.ReadFile(filepath.Join(c.dir(), "PG_VERSION"))
	if err != nil {
		return fmt.Errorf("read the version of the cluster: %w", err)
	}
	version, err := checkPostgres(ctx, c.binDir)
	if err != nil {
		return err
	}
	if made := strings.TrimSpace(string(text)); made != strconv.Itoa(version) {
		return fmt.Errorf("%s (version %s) can't be run by %s (version %d): %w", c.dir(), made, c.binDir, version, errOtherVersion)
	}
	return nil
}

// create makes the cluster under another name and moves it into place when it is whole, so that one whose making was
// interrupted is made again.
func (c cluster) create(ctx context.Context) (string, error) {
	fresh := c.dir() + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return "", fmt.Errorf("clear an unfinished cluster: %w", err)
	}
	if err := os.Mkdir(fresh, 0o700); err != nil {
		return "", fmt.Errorf("make the cluster: %w", err)
	}
	if err := c.account.own(fresh); err != nil {
		return "", err
	}
	password, err := c.writePassword()
	if err != nil {
		return "", err
	}
	if err := c.initdb(ctx, fresh, password); err != nil {
		return "", err
	}
	if err := c.admitNeighbours(fresh); err != nil {
		return "", err
	}
	if err := os.Rename(fresh, c.dir()); err != nil {
		return "", fmt.Errorf("make the cluster: %w", err)
	}
	return password, nil
}

// initdb runs the program of that name. C.UTF-8 sorts the same everywhere; where the system has no such locale (older
// macOS), the C order with a UTF-8 notion of letters comes closest.
func (c cluster) initdb(ctx context.Context, dir, password string) error {
	secret, err := c.lendSecret(password)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(secret) }()
	output, err := c.runInitdb(ctx, dir, secret, "--locale=C.UTF-8")
	if err != nil && strings.Contains(output, "invalid locale name") {
		output, err = c.runInitdb(ctx, dir, secret, "--locale=C", "--lc-ctype=en_US.UTF-8")
	}
	if err != nil {
		return fmt.Errorf("make the cluster in %s: %w: %w: %s", dir, errInitdbRefused, err, lastLines(output, 4))
	}
	return nil
}

func (c cluster) runInitdb(ctx context.Context, dir, secret string, locale ...string) (string, error) {
	args := append([]string{
		"--pgdata=" + dir, "--username=" + superuser, "--encoding=UTF8",
		"--auth=scram-sha-256", "--pwfile=" + secret, "--wal-segsize=" + strconv.Itoa(c.walSegmentMB),
	}, locale...)
	if !c.durable {
		args = append(args, "--no-sync")
	}
	p, err := command{
		path: filepath.Join(c.binDir, "initdb"), args: args, env: postgresEnv(), dir: "/",
		log: c.log, account: c.account, deathSignal: syscall.SIGTERM,
	}.start(ctx)
	if err != nil {
		return "", err
	}
	err = p.finish(ctx, time.Minute, func(time.Duration) {})
	return p.Output(), err
}

// admitNeighbours lets in, with the password, whoever is on the network of an address that isn't this machine's own.
func (c cluster) admitNeighbours(dir string) error {
	if c.host == host {
		return nil
	}
	rules, err := os.OpenFile(filepath.Join(dir, "pg_hba.conf"), os.O_APPEND|os.O_WRONLY, 0) //nolint:gosec // our own cluster
	if err != nil {
		return fmt.Errorf("admit neighbours to the cluster: %w", err)
	}
	_, err = rules.WriteString(strings.Join([]string{"host", "all", "all", "samenet", "scram-sha-256"}, " ") + "\n")
	if err := errors.Join(err, rules.Close()); err != nil {
		return fmt.Errorf("admit neighbours to the cluster: %w", err)
	}
	return nil
}

// lendSecret puts the password where initdb, running as the account, can read it for a moment.
func (c cluster) lendSecret(password string) (string, error) {
	path := filepath.Join(c.place, "initdb.secret")
	if err := os.WriteFile(path, []byte(password+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("lend initdb the password: %w", err)
	}
	return path, c.account.own(path)
}

// passwordFile has the form of a .pgpass file, so that psql can use it: PGPASSFILE=….
func (c cluster) passwordFile() string {
	return filepath.Join(c.place, "pgpass")
}

func (c cluster) writePassword() (string, error) {
	password := rand.Text()
	line := strings.Join([]string{c.host, "*", "*", superuser, password}, ":")
	if err := os.WriteFile(c.passwordFile(), []byte(line+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write the cluster's password: %w", err)
	}
	return password, nil
}

func (c cluster) readPassword() (string, error) {
	text, err := os.ReadFile(c.passwordFile())
	if err != nil {
		return "", fmt.Errorf("read the cluster's password: %w", err)
	}
	fields := strings.Split(strings.TrimSpace(string(text)), ":")
	if len(fields) != 5 || fields[4] == "" {
		return "", fmt.Errorf("read %s: %w", c.passwordFile(), errNoPassword)
	}
	return fields[4], nil
}

// postgresEnv is our environment without the variables that Postgres reads its own settings from, and with messages in
// English, since some of them are recognised.
func postgresEnv() []string {
	var env []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "PG") && !strings.HasPrefix(entry, "LC_") && !strings.HasPrefix(entry, "LANG") {
			env = append(env, entry)
		}
	}
	return append(env, "LC_ALL=C")
}
