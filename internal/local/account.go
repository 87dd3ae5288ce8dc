package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

var errNoAccount = errors.New("Postgres refuses to run as root, and this system has neither a user postgres nor a user nobody")

var errNotOurs = errors.New("it belongs to another user: start as that user or root, or choose another data directory")

// account is an ordinary user that root lends its servers to.
type account struct {
	name     string
	uid, gid uint32
}

// ordinaryAccount returns whom to run Postgres as: nil, meaning the owner itself, unless the owner is root.
func ordinaryAccount() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // nil is the owner's own account, as the type's users expect
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		return newAccount(found)
	}
	return nil, errNoAccount
}

// ownerOf returns the account that owns a path: a cluster that exists is run by whoever made it. Nil means the caller.
func ownerOf(path string) (*account, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", path, err)
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(status.Uid) == os.Geteuid() {
		return nil, nil //nolint:nilnil // as in ordinaryAccount
	}
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("use %s: %w", path, errNotOurs)
	}
	return &account{name: strconv.Itoa(int(status.Uid)), uid: status.Uid, gid: status.Gid}, nil
}

func newAccount(found *user.User) (*account, error) {
	uid, err := strconv.ParseUint(found.Uid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("read the user id of %s: %w", found.Username, err)
	}
	gid, err := strconv.ParseUint(found.Gid, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("read the group id of %s: %w", found.Username, err)
	}
	return &account{name: found.Username, uid: uint32(uid), gid: uint32(gid)}, nil
}

func (a *account) credential() *syscall.Credential {
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// own hands a path to the account.
func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	if err := os.Chown(path, int(a.uid), int(a.gid)); err != nil {
		return fmt.Errorf("hand %s to %s: %w", path, a.name, err)
	}
	return nil
}

// canEnter reports whether the account may pass through a directory, or run a file. It is tried for real, by a process
// of that account, since modes tell only half: there are access lists, mount options and containers.
func (a *account) canEnter(ctx context.Context, path string) (bool, error) {
	if a == nil {
		return true, nil
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", `test -x "$1"`, "sh", path) //nolint:gosec // the path is an argument, not part of the script
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: a.credential()}
	err := cmd.Run()
	if ctx.Err() != nil {
		return false, fmt.Errorf("try %s as %s: %w", path, a.name, context.Cause(ctx))
	}
	return err == nil, nil
}
