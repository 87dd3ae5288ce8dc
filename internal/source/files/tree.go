package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/loresync/loresync/internal/source"
)

// tree is an opened root. Its methods take slash-separated paths below the root and can't reach anything outside.
type tree struct {
	path string
	root *os.Root
	info fs.FileInfo
}

// rootError is why a root could not be opened, as a verdict and a sentence. Trouble that has nothing to do with the
// directory, such as too many open files, is a source.Failure instead.
type rootError struct {
	verdict  source.Verdict
	sentence string
	err      error
}

func (e *rootError) Error() string { return "opening the root: " + cause(e.err) }

func (e *rootError) Unwrap() error { return e.err }

var errReplaced = errors.New("the root was replaced")

// openTree opens a root. The kind is looked at before opening, so that a pipe in place of the directory can't block.
func openTree(ref string) (*tree, error) {
	abs, err := Canonical(ref)
	if err != nil {
		return nil, &rootError{verdict: source.VerdictRootMissing, sentence: "The folder has no usable root: " + err.Error() + ".", err: err}
	}
	info, err := os.Stat(abs)
	if err == nil && !info.IsDir() {
		err = errNotDirectory
	}
	if err != nil {
		return nil, newRootError(abs, err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, newRootError(abs, err)
	}
	t := &tree{path: abs, root: root}
	if t.info, err = root.Stat("."); err != nil {
		t.close()
		return nil, newRootError(abs, err)
	}
	return t, nil
}

func newRootError(abs string, err error) error {
	switch {
	case exhausted(err):
		return unavailable("opening the root", "The machine is short of open files or memory; it will be tried again.", err)
	case vanished(err):
		return &rootError{verdict: source.VerdictRootMissing, err: err, sentence: fmt.Sprintf(
			"The directory %s does not exist. Bring it back, or give the folder another root; nothing is removed meanwhile.", abs)}
	case errors.Is(err, errNotDirectory):
		return &rootError{verdict: source.VerdictRootUnreadable, err: err, sentence: fmt.Sprintf(
			"%s is not a directory. Give the folder the directory that holds its pages.", abs)}
	default:
		return &rootError{verdict: source.VerdictRootUnreadable, err: err, sentence: fmt.Sprintf(
			"The directory %s can't be read (%s). Allow it for the user that runs the worker; nothing is removed meanwhile.", abs, cause(err))}
	}
}

// close ends the use of the tree. Nothing was written through it, so there is nothing to lose.
func (t *tree) close() { _ = t.root.Close() }

// intact checks that the path of the root still leads to the directory that was opened.
func (t *tree) intact() error {
	info, err := os.Stat(t.path)
	if err != nil {
		return newRootError(t.path, err)
	}
	if !os.SameFile(info, t.info) {
		return replacedError(t.path)
	}
	return nil
}

func replacedError(abs string) error {
	return &rootError{verdict: source.VerdictRootMissing, err: errReplaced, sentence: fmt.Sprintf(
		"The directory %s was replaced by another one while it was read; the next sync reads it from the start.", abs)}
}
