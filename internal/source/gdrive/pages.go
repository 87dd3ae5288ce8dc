package gdrive

import (
	"errors"
	"fmt"
)

// maxEmptyPages bounds answers that hold nothing and promise more.
const maxPages = 100_000

var (
	// errBrokenList is a list that can't be read to its end, which says nothing about what is in it.
	errBrokenList = errors.New("the list has no good end")
	errSameToken  = fmt.Errorf("%w: the same page token came twice", errBrokenList)
	errTooMany    = fmt.Errorf("%w: it has more than %d pages", errBrokenList, maxPages)
)

// pages goes through all pages of a list, and ends an endless one with an error.
func pages(ask func(token string) (next string, err error)) error {
	token := ""
	for range maxPages {
		next, err := ask(token)
		switch {
		case err != nil || next == "":
			return err
		case next == token:
			return errSameToken
		}
		token = next
	}
	return errTooMany
}
