package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"time"

	"github.com/loresync/loresync/internal/pause"
	"github.com/loresync/loresync/internal/source"
)

const fetching = "reading the file"

// maxReads is how often a file is read while it is being written to. Editors and copies of a page are done within a few
// milliseconds; what takes longer is tried again later.
const maxReads = 3

// readPause is the wait before the second read; the third waits twice as long.
const readPause = 10 * time.Millisecond

// readSize is how much is read between two looks at the context.
const readSize = 1 << 20

var errChanged = errors.New("the file keeps changing while it is read")

// Fetch reads one file. Its entry is what the system said of the file before the read, and said again after it.
func (s *Source) Fetch(ctx context.Context, root source.Root, sourceID string) (source.Page, error) {
	if err := ctx.Err(); err != nil {
		return source.Page{}, err
	}
	name, ok := nameOf(sourceID)
	if !ok {
		return source.Page{}, strangeID(sourceID)
	}
	t, err := openTree(root.Ref)
	if err != nil {
		return source.Page{}, rootFailure(err)
	}
	defer t.close()
	limit := s.limit(root)
	raw, info, err := readSettled(ctx, t, name, limit)
	if err != nil {
		return source.Page{}, fetchFailure(ctx, t, err)
	}
	if skip := unusable(raw); skip != nil {
		return source.Page{}, skipped(skip, nil)
	}
	format, _ := formatOf(name)
	base := path.Base(name)
	entry := placeOf(t.path, parentOf(name)).document(base, encodeName(base))
	return source.Page{Entry: describe(entry, stampOf(info), limit), Raw: raw, Format: format, Fingerprint: fingerprint(raw)}, nil
}

// Fingerprint reads one file for the hash of its bytes; nil when there is nothing in it but white space.
func (s *Source) Fingerprint(ctx context.Context, root source.Root, sourceID string) ([]byte, error) {
	page, err := s.Fetch(ctx, root, sourceID)
	return page.Fingerprint, err
}

// readSettled reads a file until it did not change during the read.
func readSettled(ctx context.Context, t *tree, name string, limit int64) (raw []byte, info fs.FileInfo, err error) {
	for attempt := range maxReads {
		if err := pause.For(ctx, time.Duration(attempt)*readPause); err != nil {
			return nil, nil, err
		}
		raw, info, err = readOnce(ctx, t, name, limit)
		if !errors.Is(err, errChanged) {
			break
		}
	}
	return raw, info, err
}

func readOnce(ctx context.Context, t *tree, name string, limit int64) ([]byte, fs.FileInfo, error) {
	at, err := t.locate(name)
	if err != nil {
		return nil, nil, err
	}
	if err := checkReadable(at.info, limit); err != nil {
		return nil, nil, err
	}
	f, err := t.root.OpenFile(at.target, readFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }()
	return readStable(ctx, f, limit)
}

// checkReadable refuses what must not be opened, or not be read once it is open.
func checkReadable(info fs.FileInfo, limit int64) error {
	switch {
	case !info.Mode().IsRegular():
		return skipped(irregular(info.Mode()), nil)
	case info.Size() > limit:
		return skipped(tooLarge(info.Size(), limit), nil)
	}
	return nil
}

// readStable reads an open file and makes sure that it stayed the same meanwhile.
func readStable(ctx context.Context, f *os.File, limit int64) ([]byte, fs.FileInfo, error) {
	before, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if err := checkReadable(before, limit); err != nil {
		return nil, nil, err
	}
	raw, err := readExactly(ctx, f, before.Size())
	if err != nil {
		return nil, nil, err
	}
	after, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if stampOf(before) != stampOf(after) {
		return nil, nil, errChanged
	}
	return raw, before, nil
}

// readExactly reads a file of a known size into one buffer of that size and a byte more, by which a file that grew gives
// itself away.
func readExactly(ctx context.Context, r io.Reader, size int64) ([]byte, error) {
	buf := make([]byte, size+1)
	n := 0
	for n < len(buf) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		read, err := r.Read(buf[n:min(n+readSize, len(buf))])
		n += read
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if int64(n) != size {
		return nil, errChanged
	}
	return buf[:n:n], nil
}

// strangeID is the failure for an id that no file can have, or whose file is known only by a hash.
func strangeID(id string) error {
	if isHashed(id) {
		return skipped(longPath(), nil)
	}
	return notFound(fetching, "No file can have this id; paste the path or the URL of the file.", nil)
}

// rootFailure is what a root that can't be opened means for one page: nothing is known of it, so it is tried again.
func rootFailure(err error) error {
	var trouble *rootError
	if !errors.As(err, &trouble) {
		return err
	}
	return unavailable("opening the root", trouble.sentence, trouble.err)
}

// fetchFailure gives an error of reading its class. Only a clear word of the system about a file in an intact root means
// that the page isn't there.
func fetchFailure(ctx context.Context, t *tree, err error) error {
	var failure *source.Failure
	switch {
	case errors.As(err, &failure):
		return failure
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errExcluded):
		return notFound(fetching, "The file is not one of the folder's pages any more: its name, or a link, leads out of them.", err)
	case vanished(err):
		if lost := t.intact(); lost != nil {
			return rootFailure(lost)
		}
		return notFound(fetching, "The file does not exist any more.", err)
	case errors.Is(err, fs.ErrPermission):
		return skipped(unreadable(), err)
	case errors.Is(err, errChanged):
		return unavailable(fetching, "The file keeps changing while it is read; it will be read again later.", err)
	default:
		return unavailable(fetching, "The system could not read the file ("+cause(err)+"); it will be tried again.", err)
	}
}
