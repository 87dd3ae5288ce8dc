package files

import (
	"context"
	"errors"
	"fmt"

	"github.com/loresync/loresync/internal/source"
)

// List walks the directory, files before directories and both in byte order, without opening a file. The listing is complete
// only if every directory could be read and the root was the same directory from the first batch to the end, over resumes
// too.
func (s *Source) List(
	ctx context.Context, root source.Root, after string, yield func(source.Batch) error,
) (source.Listed, error) {
	if err := ctx.Err(); err != nil {
		return source.Listed{}, err
	}
	l := &listing{size: s.batchSize, yield: yield}
	if err := l.resume(after); err != nil {
		return source.Listed{}, err
	}
	t, err := openTree(root.Ref)
	if err != nil {
		return verdictOf(err)
	}
	defer t.close()
	if after != "" && !l.from.sameRoot(t.info) {
		return verdictOf(replacedError(t.path))
	}
	l.walker = walker{tree: t, limit: s.limit(root), emit: l.add, unread: l.from.unread}
	if err := l.run(ctx); err != nil {
		return verdictOf(err)
	}
	return l.listed(), nil
}

// verdictOf turns what is known of the root into a verdict, and leaves every other error as it is.
func verdictOf(err error) (source.Listed, error) {
	if trouble, ok := errors.AsType[*rootError](err); ok {
		return source.Listed{Verdict: trouble.verdict, Sentence: trouble.sentence}, nil
	}
	return source.Listed{}, err
}

// listing gathers entries into batches. A full batch is kept until the next entry comes, since only the last one may be
// without a cursor.
type listing struct {
	walker walker
	size   int
	yield  func(source.Batch) error
	from   cursor
	batch  []source.Entry
}

func (l *listing) resume(after string) error {
	if after == "" {
		return nil
	}
	from, err := parseCursor(after)
	if err != nil {
		return &source.Failure{
			Class: source.ClassInvalid, Doing: "resuming the listing",
			Sentence: "The place where the listing stopped can't be read; start a new one.", Err: err,
		}
	}
	l.from = from
	return nil
}

func (l *listing) run(ctx context.Context) error {
	var start position
	if l.from.id != "" {
		start = l.from.position()
	}
	t := l.walker.tree
	if err := l.walker.walk(ctx, rootPlace(t.path), start); err != nil {
		return err
	}
	if err := l.flush(""); err != nil {
		return err
	}
	return t.intact()
}

func (l *listing) add(entry source.Entry) error {
	if len(l.batch) == l.size {
		if err := l.flush(l.cursor()); err != nil {
			return err
		}
	}
	if l.batch == nil {
		l.batch = make([]source.Entry, 0, min(l.size, defaultBatchSize))
	}
	l.batch = append(l.batch, entry)
	return nil
}

func (l *listing) cursor() string {
	last := l.batch[len(l.batch)-1]
	_, inode := changeStamp(l.walker.tree.info)
	return cursor{kind: last.Kind, inode: inode, id: last.SourceID, unread: l.walker.unread}.String()
}

// flush hands over what was gathered. The slice is given away, as the caller may keep it.
func (l *listing) flush(next string) error {
	if len(l.batch) == 0 {
		return nil
	}
	batch := source.Batch{Entries: l.batch, Returned: len(l.batch), Cursor: next}
	l.batch = nil
	return l.yield(batch)
}

func (l *listing) listed() source.Listed {
	if unread := l.walker.unread; unread != "" {
		return source.Listed{Verdict: source.VerdictPartUnreadable, Sentence: fmt.Sprintf(
			"%s can't be read, so what it holds was not seen. "+
				"Allow it for the user that runs the worker, or move it out; nothing is removed meanwhile.", unread)}
	}
	return source.Listed{Verdict: source.VerdictComplete}
}

// Check tells whether the root is a directory that can be read.
func (*Source) Check(ctx context.Context, root source.Root) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t, err := openTree(root.Ref)
	if err != nil {
		return checkFailure(err)
	}
	t.close()
	return nil
}

func checkFailure(err error) error {
	var trouble *rootError
	if !errors.As(err, &trouble) {
		return err
	}
	class := source.ClassInvalid
	if trouble.verdict == source.VerdictRootMissing {
		class = source.ClassNotFound
	}
	return &source.Failure{Class: class, Doing: "opening the root", Sentence: trouble.sentence, Err: trouble.err}
}
