package drivetest

import "strings"

// lexeme is one piece of a query: a word, an operator of signs, a bracket, or the text between quotes.
type lexeme struct {
	text   string
	quoted bool
}

// lex cuts a query into its pieces; false when it can't be cut.
func lex(query string) ([]lexeme, bool) {
	var found []lexeme
	for rest := query; ; {
		rest = strings.TrimLeft(rest, " \t\r\n")
		if rest == "" {
			return found, true
		}
		next, length := lexOne(rest)
		if length == 0 {
			return nil, false
		}
		found = append(found, next)
		rest = rest[length:]
	}
}

// lexOne gives the first piece of a text and how long it is; 0 for a piece that there isn't.
func lexOne(text string) (lexeme, int) {
	switch text[0] {
	case '\'':
		return lexQuoted(text)
	case '(', ')', '{', '}', '=':
		return lexeme{text: text[:1]}, 1
	case '<', '>':
		if strings.HasPrefix(text[1:], "=") {
			return lexeme{text: text[:2]}, 2
		}
		return lexeme{text: text[:1]}, 1
	case '!':
		if strings.HasPrefix(text[1:], "=") {
			return lexeme{text: text[:2]}, 2
		}
		return lexeme{}, 0
	}
	length := strings.IndexFunc(text, func(r rune) bool {
		return r != '.' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
	if length < 0 {
		length = len(text)
	}
	return lexeme{text: text[:length]}, length
}

// lexQuoted reads a text between quotes, in which a backslash stands before a quote or a backslash.
func lexQuoted(text string) (lexeme, int) {
	var value strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'':
			return lexeme{text: value.String(), quoted: true}, i + 1
		case c == '\\' && i+1 < len(text) && (text[i+1] == '\'' || text[i+1] == '\\'):
			i++
			value.WriteByte(text[i])
		case c == '\\':
			return lexeme{}, 0
		default:
			value.WriteByte(c)
		}
	}
	return lexeme{}, 0
}
