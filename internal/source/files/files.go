// Package files is the source for a plain directory of Markdown, text and HTML.
//
// A page is a file below the root, and its source id is the slash-separated path; a directory that holds a page at any depth
// is a container. Nothing outside the root is ever opened: every access goes through an os.Root, which resolves each path
// component by itself and so leaves no moment in which a swapped symbolic link could lead out.
//
//	files.go      the source, its settings and what it can do
//	id.go         names to source ids and back
//	rules.go      which names are pages
//	tree.go       an opened root
//	locate.go     what one path leads to, links included
//	entry.go      what a listing says about one file
//	walk.go       the walk below a root, in the order of the ids
//	cursor.go     where a listing resumes
//	list.go       batches and verdicts
//	fetch.go      reading one file that may be changing
//	content.go    whether bytes are a text
//	presence.go   whether a page is still there
//	resolve.go    what people paste
//	failure.go    errors and sentences
//	stat_*.go, open_*.go   what differs between systems
package files

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/loresync/loresync/internal/source"
)

// Name is the source's kind, as folders store it.
const Name = "files"

// DefaultMaxBytes is the largest file that is read when neither the folder nor Options say otherwise. A text of this size is
// a few thousand pages of a book; what is larger is nearly always an export or a dump.
const DefaultMaxBytes = 10 << 20

// defaultBatchSize keeps a batch well under a megabyte and the caller's statement short.
const defaultBatchSize = 1000

// editGranularity is coarser than the clock ticks (1 to 4 ms) at which today's file systems stamp their times.
const editGranularity = 10 * time.Millisecond

// Options are the settings of a files source; the zero value is ready to use.
type Options struct {
	// MaxBytes is the largest file that is read where the folder's own limits say nothing. Zero means DefaultMaxBytes.
	MaxBytes int64
	// BatchSize is the number of entries in one batch of a listing. Zero means 1000.
	BatchSize int
}

// Source reads directories. It holds no state and is safe for concurrent use.
type Source struct {
	maxBytes  int64
	batchSize int
}

var (
	_ source.Source        = (*Source)(nil)
	_ source.Fingerprinter = (*Source)(nil)
)

// New gives a files source.
func New(opts Options) *Source {
	s := &Source{maxBytes: opts.MaxBytes, batchSize: opts.BatchSize}
	if s.maxBytes <= 0 {
		s.maxBytes = DefaultMaxBytes
	}
	if s.batchSize <= 0 {
		s.batchSize = defaultBatchSize
	}
	return s
}

// Name is "files".
func (*Source) Name() string { return Name }

// Traits says that a directory has no change feed, answers at once, and that a file keeps no id through a move.
func (*Source) Traits() source.Traits {
	return source.Traits{EditGranularity: editGranularity}
}

// limit is the largest file that is read below this root, in bytes.
func (s *Source) limit(root source.Root) int64 {
	if root.Limits.MaxBytes > 0 {
		return root.Limits.MaxBytes
	}
	return s.maxBytes
}

var (
	errEmptyRef     = errors.New("a root needs the path of a directory")
	errStrangeRef   = errors.New("the path holds control characters or is not valid UTF-8")
	errNotDirectory = errors.New("not a directory")
)

// Canonical gives the absolute, cleaned form of a root's reference, which is what is stored. It does not look at the disk,
// and a relative reference is relative to the working directory.
func Canonical(ref string) (string, error) {
	if ref == "" {
		return "", errEmptyRef
	}
	if needsEscape(ref) {
		return "", errStrangeRef
	}
	abs, err := filepath.Abs(ref)
	if err != nil {
		return "", fmt.Errorf("finding the working directory: %w", err)
	}
	return abs, nil
}
