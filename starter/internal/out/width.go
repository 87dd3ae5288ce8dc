package out

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Width is how many character cells a text without escapes takes: a Japanese character takes two, an emoji of several runes
// takes two as well.
func Width(content string) int { return uniseg.StringWidth(content) }

// Truncate cuts a text to at most width cells, between characters as people see them, and shows the cut by an ellipsis.
func Truncate(content string, width int) string {
	if width <= 0 || Width(content) <= width {
		return content
	}
	var kept strings.Builder
	used := 0
	for graphemes := uniseg.NewGraphemes(content); graphemes.Next(); {
		if used+graphemes.Width() > width-1 {
			break
		}
		used += graphemes.Width()
		kept.WriteString(graphemes.Str())
	}
	return strings.TrimRight(kept.String(), " ") + "…"
}

// Wrap breaks a text into lines of at most width cells where Unicode allows a break: between words, and between most
// Japanese characters.
func Wrap(content string, width int) []string {
	var lines []string
	var line strings.Builder
	used, state := 0, -1
	for rest := Clean(content); rest != ""; {
		var segment string
		segment, rest, _, state = uniseg.FirstLineSegmentInString(rest, state)
		if used > 0 && used+Width(strings.TrimRight(segment, " ")) > width {
			lines = append(lines, strings.TrimRight(line.String(), " "))
			line.Reset()
			used = 0
		}
		line.WriteString(segment)
		used += Width(segment)
	}
	if used > 0 {
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return lines
}
