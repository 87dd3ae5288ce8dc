//go:build !linux

package files_test

import (
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/files"
)

// newUnprivileged is the source as it is: elsewhere than on Linux these tests must run as an ordinary user.
func newUnprivileged(opts files.Options) source.Source { return files.New(opts) }
