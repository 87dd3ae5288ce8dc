package files_test

import (
	"context"
	"os"
	"runtime"
	"syscall"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/files"
)

// nobody is a user without rights, as numbered on every Linux.
const nobody = 65534

// unprivileged is a files source that does not have the administrator's right to read everything, so that tests of missing
// rights also run as root.
type unprivileged struct{ *files.Source }

func newUnprivileged(opts files.Options) source.Source {
	s := files.New(opts)
	if os.Geteuid() != 0 {
		return s
	}
	return unprivileged{s}
}

// asNobody gives up the rights of the current thread for the time of a call.
func asNobody(call func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = syscall.Setfsuid(nobody)
	defer func() { _ = syscall.Setfsuid(os.Geteuid()) }()
	call()
}

func (s unprivileged) Check(ctx context.Context, root source.Root) (err error) {
	asNobody(func() { err = s.Source.Check(ctx, root) })
	return err
}

func (s unprivileged) List(
	ctx context.Context, root source.Root, cursor string, yield func(source.Batch) error,
) (listed source.Listed, err error) {
	asNobody(func() { listed, err = s.Source.List(ctx, root, cursor, yield) })
	return listed, err
}

func (s unprivileged) Fetch(ctx context.Context, root source.Root, id string) (page source.Page, err error) {
	asNobody(func() { page, err = s.Source.Fetch(ctx, root, id) })
	return page, err
}

func (s unprivileged) Fingerprint(ctx context.Context, root source.Root, id string) (sum []byte, err error) {
	asNobody(func() { sum, err = s.Source.Fingerprint(ctx, root, id) })
	return sum, err
}

func (s unprivileged) Presence(ctx context.Context, root source.Root, id string) (answer source.Presence, err error) {
	asNobody(func() { answer, err = s.Source.Presence(ctx, root, id) })
	return answer, err
}
