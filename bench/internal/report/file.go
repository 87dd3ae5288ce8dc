package report

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// The markers between which a file's figures stand.
const (
	Begin = "<!-- figures: written by `go run ./bench`, changes by hand are lost -->"
	End   = "<!-- end of the figures -->"
)

var errNoMarkers = errors.New("it lacks the markers between which the figures go")

// WriteFile puts the report between the markers of a file; a file that isn't there is made of the figures alone. All else in
// the file stays, and a file without markers is left alone.
func (r *Report) WriteFile(path string) error {
	var figures bytes.Buffer
	r.Markdown(&figures)
	old, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		old, err = []byte(Begin+"\n"+End+"\n"), nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	text, found := between(old, figures.Bytes())
	if !found {
		return fmt.Errorf("write the figures into %s: %w", path, errNoMarkers)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	return nil
}

// between replaces what stands between the markers.
func between(text, figures []byte) ([]byte, bool) {
	before, rest, begins := bytes.Cut(text, []byte(Begin))
	_, after, ends := bytes.Cut(rest, []byte(End))
	if !begins || !ends {
		return nil, false
	}
	return bytes.Join([][]byte{before, []byte(Begin), []byte("\n\n"), figures, []byte("\n"), []byte(End), after}, nil), true
}
