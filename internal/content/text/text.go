// Package text holds what every step of the pipeline needs to know about
// strings: what Postgres can store, where a string may be cut, where a sentence
// ends, and how Markdown reads without its markup.
package text

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Clean makes any string storable in a text or jsonb column: bytes that are not
// UTF-8 become U+FFFD and NUL, which Postgres refuses in both, is dropped.
// A string that is already clean is returned as it is, without a copy.
func Clean(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(s, "\x00", "")
}

// Truncate returns at most maxRunes runes of s, cut between grapheme clusters:
// a letter keeps its accents and an emoji its modifiers, or is left out whole.
// Only a first cluster longer than maxRunes is cut inside, between two runes.
// Invalid bytes count as a rune each.
func Truncate(s string, maxRunes int) string {
	if maxRunes <= 0 {
		return ""
	}
	if len(s) <= maxRunes || utf8.RuneCountInString(s) <= maxRunes {
		return s
	}
	end, runes, state := 0, 0, -1
	for rest := s; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		runes += utf8.RuneCountInString(cluster)
		if runes > maxRunes {
			break
		}
		end += len(cluster)
	}
	if end == 0 {
		return firstRunes(s, maxRunes)
	}
	return s[:end]
}

func firstRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Ellipsize is Truncate with the last rune given to an ellipsis when something
// had to be left out.
func Ellipsize(s string, maxRunes int) string {
	if utf8.RuneCountInString(s) <= maxRunes {
		return s
	}
	return strings.TrimRight(Truncate(s, maxRunes-1), " \t\n") + "…"
}
