package knowledge

import (
	"strings"
	"unicode"
)

// Untitled is what a page is called whose source gives it no title that can be seen.
const Untitled = "Untitled"

// Title is a source's title as readers get it: as it is, or Untitled where nothing of it can be seen.
func Title(title string) string {
	if strings.ContainsFunc(title, seen) {
		return title
	}
	return Untitled
}

// seen tells a character that leaves a mark from spaces, line breaks, controls and joiners.
func seen(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }
