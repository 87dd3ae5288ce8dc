package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const (
	// readyLine is what a child prints once it works.
	readyLine = "ready"
	// childPatience is how long a child may take to end: a worker gives ten seconds to what is under way.
	childPatience = 30 * time.Second
)

var errNotReady = errors.New("it ended before it was ready")

// child is this program once more, in a role of its own. It ends when its standard input does, so it can't outlive its parent.
type child struct {
	role  string
	cmd   *exec.Cmd
	input io.Closer
	log   string
}

// startChild starts a child and waits until it is ready.
func (l *lab) startChild(ctx context.Context, role string) (*child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	c := &child{role: role, log: filepath.Join(l.dataDir, role+".log")}
	log, err := os.OpenFile(c.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log of the %s: %w", role, err)
	}
	defer func() { _ = log.Close() }() // the child has its own
	c.cmd = exec.CommandContext(context.WithoutCancel(ctx), program, role, l.profile(role))
	c.cmd.Env, c.cmd.Stderr = l.childEnv(), log
	if c.input, err = c.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start the %s: %w", role, err)
	}
	output, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the %s: %w", role, err)
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the %s: %w", role, err)
	}
	if line, err := bufio.NewReader(output).ReadString('\n'); strings.TrimSpace(line) != readyLine {
		return nil, errors.Join(fmt.Errorf("start the %s: %w: %w (%s)", role, errNotReady, err, c.lastWords()), c.stop())
	}
	return c, nil
}

// profile is where the next child writes its processor profile; empty for nowhere.
func (l *lab) profile(role string) string {
	if l.options.profileDir == "" {
		return ""
	}
	l.children++
	return filepath.Join(l.options.profileDir, fmt.Sprintf("%02d-%s.pprof", l.children, role))
}

// withChild runs something while a child lives.
func (l *lab) withChild(ctx context.Context, role string, do func(*child) error) error {
	c, err := l.startChild(ctx, role)
	if err != nil {
		return err
	}
	return errors.Join(do(c), c.stop())
}

// childEnv is the environment without any setting of loresync or Temporal, but with the servers of this run: the measured
// worker has the defaults, whatever is set around it.
func (l *lab) childEnv() []string {
	var env []string
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "LORESYNC_") && !strings.HasPrefix(entry, "TEMPORAL_") {
			env = append(env, entry)
		}
	}
	if l.notion.Token != "" {
		env = append(env, "LORESYNC_NOTION_TOKEN="+l.notion.Token, "LORESYNC_NOTION_BASE_URL="+l.notion.BaseURL,
			fmt.Sprintf("LORESYNC_NOTION_RATE=%g", l.notion.Rate))
	}
	return append(env, "LORESYNC_DATABASE_URL="+l.postgres.URL(database), "TEMPORAL_ADDRESS="+l.temporal.Address())
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// stop lets the child end by itself, and waits for it.
func (c *child) stop() error {
	_ = c.input.Close()
	timer := time.AfterFunc(childPatience, func() { _ = c.cmd.Process.Kill() })
	defer timer.Stop()
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("end the %s: %w (%s)", c.role, err, c.lastWords())
	}
	return nil
}

// lastWords is the last line of the child's log.
func (c *child) lastWords() string {
	text, _ := os.ReadFile(c.log)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return lines[len(lines)-1]
}
