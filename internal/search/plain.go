package search

import (
	"regexp"
	"strings"

	"github.com/loresync/loresync/internal/content/text"
)

var (
	// blockMark is what stands in front of a line's text: quotes, a heading's or a list item's mark.
	blockMark = regexp.MustCompile(`^[ \t]*(?:>[ \t]?)*[ \t]*(?:#{1,6}[ \t]+|[-*+][ \t]+|\d{1,9}[.)][ \t]+)?`)
	// ruleLine is a line that only draws: a fence, a thematic break, a table's rule, a heading's underline.
	ruleLine = regexp.MustCompile("^[ \t]*(?:(?:```|~~~).*|[-*_=|: \t]*)$")
	// cellBorder is what stands between two cells of a table.
	cellBorder = regexp.MustCompile(`[ \t]*\|[ \t]*`)
)

// plain is a chunk of Markdown as one line of text. It takes off what would disturb a reader and understands no more than that.
func plain(markdown string) string {
	var paragraphs, lines []string
	flush := func() {
		if paragraph := text.Plain(strings.Join(lines, "\n")); paragraph != "" {
			paragraphs = append(paragraphs, paragraph)
		}
		lines = lines[:0]
	}
	for line := range strings.Lines(markdown) {
		line = strings.TrimRight(line, "\r\n")
		content, marked := unmark(line)
		if marked || content == "" {
			flush()
		}
		if content != "" {
			lines = append(lines, content)
		}
	}
	flush()
	return strings.Join(paragraphs, " ")
}

// unmark takes the block's marks off a line and says whether there were any.
func unmark(line string) (content string, marked bool) {
	if ruleLine.MatchString(line) {
		return "", true
	}
	content = line[len(blockMark.FindString(line)):]
	if cells := strings.TrimSpace(content); strings.HasPrefix(cells, "|") && strings.HasSuffix(cells, "|") {
		return strings.TrimSpace(cellBorder.ReplaceAllString(cells, " ")), true
	}
	return strings.TrimSpace(content), len(content) < len(strings.TrimLeft(line, " \t"))
}
