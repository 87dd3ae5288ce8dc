package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const postgresServer = "postgres"

// errOrphans says that sessions of a server that crashed have not ended yet.
var errOrphans = errors.New("sessions of a crashed server still hold its memory")

// postgresLadder ends a server: fast (sessions are cut, the data is written out), immediate (recovery at the next start),
// and by force.
var postgresLadder = []grace{
	{syscall.SIGINT, 20 * time.Second}, {syscall.SIGQUIT, 5 * time.Second}, {syscall.SIGKILL, 5 * time.Second},
}

// PostgresOptions describe a private cluster.
type PostgresOptions struct {
	// BinDir is the folder that FindPostgres returned.
	BinDir string
	// DataDir is the owner's data directory. The cluster lies below it, or elsewhere: see Postgres.DataDir.
	DataDir string
	// Port is the port to listen on; 0 means a free one.
	Port int
	// Durable makes commits survive a crash of the operating system. Without it everything that only serves this is
	// switched off, which is for tests.
	Durable bool
	// MinimalWAL writes the least log that works: no replication, no backup by it.
	MinimalWAL bool
	// SharedBuffersMB is the size of the page cache; 0 means 256.
	SharedBuffersMB int
	// MaxConnections is the number of sessions at a time; 0 means 200.
	MaxConnections int
	// WALSegmentMB is the size of the files of the log, fixed when the cluster is made; 0 means 16.
	WALSegmentMB int
	// Host is the only address to listen on; empty means 127.0.0.1.
	Host string
}

// Postgres is a running private cluster. All methods may be called from any goroutine.
type Postgres struct {
	options  PostgresOptions
	cluster  cluster
	password string
	locks    []*fileLock

	mu      sync.Mutex
	process *process
}

// StartPostgres starts a private cluster, making it first if there is none, and returns when it takes connections. The
// context bounds the start only. As root the cluster belongs to, and is run by, the user postgres or nobody.
func StartPostgres(ctx context.Context, options PostgresOptions) (*Postgres, error) {
	p := &Postgres{options: options}
	if err := p.begin(ctx); err != nil {
		p.release()
		return nil, fmt.Errorf("start Postgres: %w", err)
	}
	return p, nil
}

func (p *Postgres) begin(ctx context.Context) error {
	if err := p.claim(ctx); err != nil {
		return err
	}
	if err := endPostgresLeftover(ctx, p.cluster.dir()); err != nil {
		return err
	}
	var err error
	if p.password, err = p.cluster.prepare(ctx); err != nil {
		return err
	}
	return p.startOnPort(ctx)
}

// claim settles where the cluster lies and makes us its owner. A place outside the data directory has a lock of its own:
// a copied data directory points to the same place.
func (p *Postgres) claim(ctx context.Context) error {
	dir, err := makeDataDir(p.options.DataDir)
	if err != nil {
		return err
	}
	p.options.DataDir = dir
	if err := p.lock(dir); err != nil {
		return err
	}
	place, acct, err := choosePlace(ctx, dir)
	if err != nil {
		return err
	}
	p.cluster = cluster{binDir: p.options.BinDir, place: place, account: acct, durable: p.options.Durable, log: p.LogFile()}
	p.cluster.host, p.cluster.walSegmentMB = p.host(), orDefault(p.options.WALSegmentMB, 16)
	return p.lock(place)
}

func (p *Postgres) lock(dir string) error {
	lock, err := lockServer(dir, postgresServer)
	if err != nil {
		return err
	}
	p.locks = append(p.locks, lock)
	return nil
}

func (p *Postgres) release() {
	for _, lock := range p.locks {
		lock.release()
	}
}

// startOnPort launches the server on the wanted port, or on a free one, which it chooses anew when another process was
// quicker.
func (p *Postgres) startOnPort(ctx context.Context) error {
	anyPort := p.options.Port == 0
	for try := 1; ; try++ {
		if anyPort {
			var err error
			if p.options.Port, err = FreePort(); err != nil {
				return err
			}
		}
		err := p.launch(ctx)
		if err == nil || !anyPort || try == portTries || !strings.Contains(err.Error(), "could not create any TCP/IP sockets") {
			return err
		}
	}
}

// launch runs the server on its port and waits until it takes connections. A server that doesn't gets ended. After a
// crash its orphaned sessions hold the shared memory for a moment, and a new server refuses to start until they are gone.
func (p *Postgres) launch(ctx context.Context) error {
	const orphanPatience = 10 * time.Second
	for begun := time.Now(); ; {
		err := p.launchOnce(ctx)
		if err == nil || time.Since(begun) > orphanPatience || !errors.Is(err, errOrphans) {
			return err
		}
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("wait for sessions of a crashed server: %w", err)
		}
	}
}

func (p *Postgres) launchOnce(ctx context.Context) error {
	// Whoever kills the owner doesn't wait: a test's data is thrown away, anyone else's is written out.
	deathSignal := syscall.SIGQUIT
	if p.options.Durable {
		deathSignal = syscall.SIGINT
	}
	server, err := command{
		path: filepath.Join(p.options.BinDir, "postgres"), args: p.arguments(), env: postgresEnv(), dir: "/",
		log: p.LogFile(), account: p.cluster.account, deathSignal: deathSignal,
	}.start(ctx)
	if err != nil {
		return err
	}
	if err := awaitPostgres(ctx, server, p.URL("postgres")); err != nil {
		// Looked for in all that it said: the orphans' own last words may follow, and only the last lines make the error.
		if strings.Contains(server.Output(), "shared memory block") {
			err = errors.Join(errOrphans, err)
		}
		return errors.Join(err, server.stop(postgresLadder))
	}
	p.mu.Lock()
	p.process = server
	p.mu.Unlock()
	return nil
}

// URL is the address of a database in the cluster, with the password.
func (p *Postgres) URL(database string) string {
	address := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, p.password),
		Host: net.JoinHostPort(p.host(), strconv.Itoa(p.options.Port)), Path: "/" + database, RawQuery: "sslmode=disable",
	}
	return address.String()
}

func (p *Postgres) host() string { return orDefault(p.options.Host, host) }

// DataDir is the folder of the cluster's files. It lies below the owner's data directory unless the account that runs
// Postgres for root can't go there.
func (p *Postgres) DataDir() string {
	return p.cluster.dir()
}

// LogFile is where the server's output goes.
func (p *Postgres) LogFile() string {
	return filepath.Join(p.options.DataDir, "postgres.log")
}

// Pid is the process id of the server.
func (p *Postgres) Pid() int {
	return p.current().Pid
}

// Done is closed once the server's process has ended, by itself or by Stop or Kill. After a Restart there is a new one.
func (p *Postgres) Done() <-chan struct{} {
	return p.current().Done
}

// Stop ends the server, cutting its sessions, and gives the data directory back. It may be called again.
func (p *Postgres) Stop() error {
	if err := p.current().stop(postgresLadder); err != nil {
		return fmt.Errorf("stop Postgres: %w", err)
	}
	p.release()
	return nil
}

// Kill ends the server as a crash would. The data directory stays ours, for a Restart or a Stop.
func (p *Postgres) Kill() error {
	if err := p.current().kill(); err != nil {
		return fmt.Errorf("kill Postgres: %w", err)
	}
	return nil
}

// Restart ends the server if it still runs and starts it again on the same port and the same data.
func (p *Postgres) Restart(ctx context.Context) error {
	if err := p.current().stop(postgresLadder); err != nil {
		return fmt.Errorf("restart Postgres: %w", err)
	}
	if err := p.launch(ctx); err != nil {
		return fmt.Errorf("restart Postgres: %w", err)
	}
	return nil
}

func (p *Postgres) current() *process {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process
}
