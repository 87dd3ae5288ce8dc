package storm

import (
	"context"
	"slices"
	"syscall"
	"time"

	"github.com/loresync/loresync/internal/pause"
)

// usualDelays are what the processes' lines to Postgres always take, one way, in the order of their names: syncs last long enough
// to meet what they should not, and orders are quicker than them.
var usualDelays = []time.Duration{time.Millisecond, 3 * time.Millisecond, 15 * time.Millisecond, 60 * time.Millisecond}

// slowest is the longest delay of a slow line.
const slowest = 150 * time.Millisecond

// breakProcess kills, stops, cuts off or partitions one process.
func (s *storm) breakProcess(next step) {
	victim := s.children[next.victim]
	switch next.do {
	case doKill:
		s.aside(next.do, func(ctx context.Context) error { return victim.restart(ctx) })
	case doStop:
		victim.signal(syscall.SIGSTOP)
		s.aside(next.do, func(ctx context.Context) error {
			defer victim.signal(syscall.SIGCONT)
			return pause.For(ctx, next.lasts)
		})
	case doCut:
		victim.line(next.server).cut()
	case doSlow:
		line := victim.line(next.server)
		line.slow(time.Duration(next.pick * float64(slowest)))
		s.aside(next.do, func(ctx context.Context) error {
			defer line.slow(victim.usualDelay(next.server))
			return pause.For(ctx, next.lasts)
		})
	case doPartition:
		s.partition(next, victim.line(next.server))
	}
}

// supervise starts a process again that ended by itself, which it does when a server stays away for long.
func (s *storm) supervise(c *child) {
	s.count("processes that gave up")
	s.aside("start "+c.name+" again", func(ctx context.Context) error {
		if err := pause.For(ctx, time.Second); err != nil {
			return err
		}
		return c.restart(ctx)
	})
}

// partition holds a line. When it heals, what was under way goes on, or is cut, as networks do both.
func (s *storm) partition(next step, line *proxy) {
	line.hold()
	s.aside(next.do, func(ctx context.Context) error {
		defer line.release()
		err := pause.For(ctx, next.lasts)
		if next.drop {
			line.cut()
		}
		return err
	})
}

// usualDelay is that of a line when nothing slows it.
func (c *child) usualDelay(server string) time.Duration {
	if server != postgresLine {
		return 0
	}
	return usualDelays[slices.Index(processNames, c.name)]
}

// line is the proxy between a process and a server.
func (c *child) line(server string) *proxy {
	if server == postgresLine {
		return c.postgres
	}
	return c.temporal
}

// breakServer restarts a server, or kills it as a crash would and starts it again. One server at a time.
func (s *storm) breakServer(next step) {
	s.aside(next.do, func(ctx context.Context) error {
		s.server.Lock()
		defer s.server.Unlock()
		switch next.do {
		case doKillPG:
			if err := s.postgres.Kill(); err != nil {
				return err
			}
			return s.postgres.Restart(ctx)
		case doRestartPG:
			return s.postgres.Restart(ctx)
		case doKillTmp:
			if err := s.temporal.Kill(); err != nil {
				return err
			}
		}
		return s.temporal.Restart(ctx)
	})
}

// fillDisk leaves Postgres no room for its tables for a while.
func (s *storm) fillDisk(next step) {
	if s.room == nil {
		s.t.Logf("%d: no disk to fill: neither may a file system be mounted here, nor are a process's files limited", next.n)
		return
	}
	s.aside(next.do, func(ctx context.Context) error {
		s.server.Lock()
		defer s.server.Unlock()
		if err := s.room.fill(); err != nil {
			return err
		}
		waited := pause.For(ctx, next.lasts/2)
		if err := s.room.empty(); err != nil {
			return err
		}
		return waited
	})
}
