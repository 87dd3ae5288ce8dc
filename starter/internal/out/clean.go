package out

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	escape = '\x1b'
	bell   = '\x07'
	// The one-rune forms of ESC [ and of the string openers (DCS, SOS, OSC, PM, APC).
	controlSequence   = '\u009b'
	stringOpeners     = "\u0090\u0098\u009d\u009e\u009f"
	stringTerminator  = '\u009c'
	byteOrderMarkRune = '\ufeff'
)

// Clean makes one harmless line of a text: no terminal escapes, no control characters, no changes of writing direction that
// would let a title pose as another, and single spaces where lines were broken.
func Clean(content string) string {
	return strings.Join(strings.Fields(clean(content)), " ")
}

// CleanText is Clean for a text of several lines: line breaks and tabs stay.
func CleanText(content string) string { return clean(content) }

func clean(content string) string {
	var cleaned strings.Builder
	for content != "" {
		r, size := utf8.DecodeRuneInString(content)
		switch {
		case r == escape:
			content = afterEscape(content[size:])
			continue
		case r == controlSequence:
			content = afterControlSequence(content[size:])
			continue
		case strings.ContainsRune(stringOpeners, r):
			content = afterString(content[size:])
			continue
		case harmless(r):
			cleaned.WriteRune(r)
		}
		content = content[size:]
	}
	return cleaned.String()
}

func harmless(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return true
	case unicode.IsControl(r), r == byteOrderMarkRune, r == '\u2028', r == '\u2029':
		return false
	}
	// Marks, embeddings, overrides and isolates of writing direction.
	return !unicode.Is(unicode.Bidi_Control, r)
}

// afterEscape skips what follows an ESC: a control sequence, a string command, or a short escape.
func afterEscape(rest string) string {
	if rest == "" {
		return rest
	}
	switch rest[0] {
	case '[':
		return afterControlSequence(rest[1:])
	case ']', 'P', 'X', '^', '_':
		return afterString(rest[1:])
	}
	for rest != "" && rest[0] >= ' ' && rest[0] <= '/' {
		rest = rest[1:]
	}
	if rest != "" && rest[0] >= '0' && rest[0] <= '~' {
		return rest[1:]
	}
	return rest
}

// afterControlSequence skips parameters and the final byte. A broken sequence ends where text begins.
func afterControlSequence(rest string) string {
	for rest != "" && rest[0] >= ' ' && rest[0] <= '?' {
		rest = rest[1:]
	}
	if rest != "" && rest[0] >= '@' && rest[0] <= '~' {
		return rest[1:]
	}
	return rest
}

// afterString skips a string command up to its terminator; one that never ends is skipped up to the end of its line, so that
// a stray opener can't swallow a whole text.
func afterString(rest string) string {
	for i, r := range rest {
		switch {
		case r == bell || r == stringTerminator:
			return rest[i+utf8.RuneLen(r):]
		case r == escape && strings.HasPrefix(rest[i+1:], `\`):
			return rest[i+2:]
		case r == '\n' || r == escape:
			return rest[i:]
		}
	}
	return ""
}
