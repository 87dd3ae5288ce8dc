package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// edited is the modification time of every page: the same in every run, and long ago, since a page that was read right after
// its edit has to be read again.
var edited = time.Date(2026, time.January, 5, 9, 0, 0, 0, time.UTC)

// Write puts the first n pages below a directory.
func (c *Corpus) Write(dir string, n int) error {
	for i := range n {
		page := c.Page(i)
		if err := Put(dir, page.Path, page.Text, 0); err != nil {
			return err
		}
	}
	return nil
}

// Put writes one page, as edited a number of seconds after all others.
func Put(dir, path, text string, later int) error {
	full := filepath.Join(dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		return fmt.Errorf("make a folder of pages: %w", err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write a page: %w", err)
	}
	at := edited.Add(time.Duration(later) * time.Second)
	if err := os.Chtimes(full, at, at); err != nil {
		return fmt.Errorf("date a page: %w", err)
	}
	return nil
}
