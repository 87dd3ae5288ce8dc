package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// InUseError says that a data directory belongs to a process that is still alive.
type InUseError struct {
	// Dir is the data directory.
	Dir string
	// Server is what runs there: "temporal" or "postgres".
	Server string
	// PID is the owner's process id, 0 if it could not be read.
	PID int
}

// Error names the directory and the process to look for.
func (e *InUseError) Error() string {
	owner := "another process"
	if e.PID != 0 {
		owner = "process " + strconv.Itoa(e.PID)
	}
	return fmt.Sprintf("%s in %s is in use by %s: end it first, or choose another data directory", e.Server, e.Dir, owner)
}

// fileLock is a lock that the kernel drops when its holder ends, however it ends.
type fileLock struct{ file *os.File }

// lockServer makes the caller the owner of a server's data in dir, or answers with an InUseError.
func lockServer(dir, server string) (*fileLock, error) {
	path := filepath.Join(dir, server+".lock")
	lock, err := tryLock(path)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, &InUseError{Dir: dir, Server: server, PID: readPID(path)}
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	if err := lock.sign(); err != nil {
		lock.release()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return lock, nil
}

// waitLock takes a lock that others hold for a while, calling waiting every now and then.
func waitLock(ctx context.Context, path string, every time.Duration, waiting func()) (*fileLock, error) {
	const poll = 100 * time.Millisecond
	for said := time.Now(); ; {
		lock, err := tryLock(path)
		if err == nil {
			return lock, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if time.Since(said) >= every {
			said = time.Now()
			waiting()
		}
		if err := sleep(ctx, poll); err != nil {
			return nil, fmt.Errorf("wait for %s: %w", path, err)
		}
	}
}

// tryLock takes the lock or answers EWOULDBLOCK at once. The file stays behind when the lock is released: removing it
// would let two holders lock two files of the same name.
func tryLock(path string) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // our own data directory
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = file.Close()
		return nil, err
	}
	return &fileLock{file: file}, nil
}

// sign writes the holder's process id into the lock file, for the message of those who come later.
func (l *fileLock) sign() error {
	if err := l.file.Truncate(0); err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	if _, err := l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0); err != nil {
		return fmt.Errorf("sign: %w", err)
	}
	return nil
}

// release gives the lock back. It is safe on nil and safe to repeat.
func (l *fileLock) release() {
	if l != nil {
		_ = l.file.Close()
	}
}

// readPID returns the process id on a file's first line, or 0. A holder that has just taken its lock needs a moment to
// write it.
func readPID(path string) int {
	for range 10 {
		text, err := os.ReadFile(path) //nolint:gosec // our own data directory
		if err != nil {
			return 0
		}
		first, _, _ := strings.Cut(string(text), "\n")
		if pid, err := strconv.Atoi(strings.TrimSpace(first)); err == nil && pid > 1 {
			return pid
		}
		<-time.After(5 * time.Millisecond)
	}
	return 0
}

// sleep waits, or returns early with the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
