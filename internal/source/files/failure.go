package files

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/dustin/go-humanize"

	"github.com/loresync/loresync/internal/source"
)

// The classes of skipped pages; package source documents them.
const (
	skipTooLarge    = "too_large"
	skipBinary      = "binary"
	skipInvalidUTF8 = "invalid_utf8"
	skipUnreadable  = "unreadable"
	skipUnsupported = "unsupported"
)

func tooLarge(size, limit int64) *source.Skip {
	return &source.Skip{Class: skipTooLarge, Sentence: fmt.Sprintf(
		"The file has %s; this folder reads files of up to %s.", byteSize(size), byteSize(limit))}
}

func unreadable() *source.Skip {
	return &source.Skip{Class: skipUnreadable, Sentence: "The system does not permit this file to be read; allow it for the user that runs the worker."}
}

func irregular(mode fs.FileMode) *source.Skip {
	kind := "a special file"
	switch mode.Type() {
	case fs.ModeNamedPipe:
		kind = "a named pipe"
	case fs.ModeSocket:
		kind = "a socket"
	case fs.ModeDevice, fs.ModeDevice | fs.ModeCharDevice:
		kind = "a device"
	case fs.ModeDir:
		kind = "a directory"
	}
	return &source.Skip{Class: skipUnsupported, Sentence: "This is " + kind + ", not a file with a text."}
}

func longPath() *source.Skip {
	return &source.Skip{Class: skipUnsupported, Sentence: fmt.Sprintf(
		"The path below the root is longer than %s bytes; shorten the names of the directories.", humanize.Comma(maxIDBytes))}
}

func byteSize(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

// skipped is the failure that makes a page a skipped one.
func skipped(skip *source.Skip, err error) *source.Failure {
	return &source.Failure{Class: source.ClassInvalid, Doing: fetching, Sentence: skip.Sentence, Skip: skip, Err: err}
}

func notFound(doing, sentence string, err error) *source.Failure {
	return &source.Failure{Class: source.ClassNotFound, Doing: doing, Sentence: sentence, Err: err}
}

func unavailable(doing, sentence string, err error) *source.Failure {
	return &source.Failure{Class: source.ClassUnavailable, Doing: doing, Sentence: sentence, Err: err}
}

// vanished reports that the system said clearly that there is nothing of that name.
func vanished(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// exhausted reports that this process or machine ran out of something, which says nothing about the directory.
func exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// cause is the bare reason of a file error, without the path, which the sentence around it has already.
func cause(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	return err.Error()
}
