package extract

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	textunicode "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"

	"github.com/loresync/loresync/internal/content/render"
)

var errBinary = errors.New("the file holds NUL bytes")

// marks are the byte order marks, the longer ones before those that they begin with.
var marks = []struct {
	mark     string
	encoding encoding.Encoding
	// unit is how many bytes belong together, for a text whose end was cut off.
	unit int
}{
	{"\xEF\xBB\xBF", textunicode.UTF8, 1},
	{"\xFF\xFE\x00\x00", utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM), 4},
	{"\x00\x00\xFE\xFF", utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM), 4},
	{"\xFF\xFE", textunicode.UTF16(textunicode.LittleEndian, textunicode.IgnoreBOM), 2},
	{"\xFE\xFF", textunicode.UTF16(textunicode.BigEndian, textunicode.IgnoreBOM), 2},
}

// aliases are names that people give to encodings and the web doesn't know.
var aliases = map[string]string{"cp932": "shift_jis", "cp1252": "windows-1252", "latin-1": "iso-8859-1", "eucjp": "euc-jp", "iso2022jp": "iso-2022-jp"}

// decode gives a text as UTF-8. A mark at its beginning decides; then the encoding that was named, where it fits; then UTF-8;
// then what the text itself is like. What was guessed is told in the note. cut says that the end of raw is missing.
func decode(raw []byte, cut bool, named string) (text []byte, note string, err error) {
	if text, marked, err := decodeMarked(raw, cut); marked {
		return text, "", err
	}
	if text, ok := decodeNamed(raw, cut, named); ok {
		return text, "", nil
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		return nil, "", errBinary
	}
	if whole := wholeRunes(raw, cut); utf8.Valid(whole) && !hasEscapes(raw) {
		return whole, "", nil
	}
	found := guess(raw, cut)
	if found.name == "" {
		return nil, "", render.ErrInvalidUTF8
	}
	return found.text, found.note(named), nil
}

// decodeMarked decodes a text with a byte order mark, without the mark.
func decodeMarked(raw []byte, cut bool) (text []byte, marked bool, err error) {
	for _, m := range marks {
		body, found := bytes.CutPrefix(raw, []byte(m.mark))
		if !found {
			continue
		}
		if cut {
			body = body[:len(body)-len(body)%m.unit]
		}
		text, ok := decodeWith(m.encoding, body, cut)
		if !ok {
			return nil, true, fmt.Errorf("decode the text: %w", render.ErrInvalidUTF8)
		}
		return text, true, nil
	}
	return nil, false, nil
}

// decodeNamed decodes a text in the encoding that its media type names. Many servers name one that has a character for every
// byte, whatever the text is; so for such a one the text may not be UTF-8.
func decodeNamed(raw []byte, cut bool, named string) ([]byte, bool) {
	named = strings.ToLower(strings.TrimSpace(named))
	if named == "" {
		return nil, false
	}
	if alias := aliases[named]; alias != "" {
		named = alias
	}
	e, err := htmlindex.Get(named)
	if err != nil {
		return nil, false
	}
	if _, single := e.(*charmap.Charmap); single && utf8.Valid(wholeRunes(raw, cut)) {
		return nil, false
	}
	text, ok := decodeWith(e, raw, cut)
	return text, ok && !bytes.ContainsFunc(text, isOddControl)
}

// decodeWith decodes a text, unless it isn't in that encoding.
func decodeWith(e encoding.Encoding, raw []byte, cut bool) ([]byte, bool) {
	text, err := e.NewDecoder().Bytes(raw)
	if err != nil {
		return nil, false
	}
	if cut {
		text = withoutLost(text)
	}
	return text, !bytes.ContainsRune(text, utf8.RuneError) && utf8.Valid(text)
}

// lostRunes is how many runes a decoder makes at most of a character or an escape whose end was cut off.
const lostRunes = 3

// withoutLost drops what a decoder made of the last character, or the last escape, of a text whose end was cut off.
func withoutLost(text []byte) []byte {
	i := bytes.IndexRune(text, utf8.RuneError)
	if i >= 0 && utf8.RuneCount(text[i:]) <= lostRunes {
		return text[:i]
	}
	return text
}

// isOddControl tells whether no text holds a character: where one turns up, the encoding is a wrong one.
func isOddControl(r rune) bool {
	return unicode.IsControl(r) && !strings.ContainsRune("\t\n\v\f\r\x1a\x1b\u0085", r)
}

// escapes switch ISO-2022-JP to Japanese. They are ASCII, so such a text is valid UTF-8 too.
var escapes = []string{"\x1B$B", "\x1B$@", "\x1B(J", "\x1B(I", "\x1B$(D"}

// halfEscapes are what may be left of one where a text was cut off.
var halfEscapes = []string{"\x1B", "\x1B$", "\x1B(", "\x1B$("}

// hasEscapes tells whether a text switches to Japanese.
func hasEscapes(raw []byte) bool {
	for _, escape := range escapes {
		if bytes.Contains(raw, []byte(escape)) {
			return true
		}
	}
	return false
}

// guessed is a text in the encoding that it seems to be in; name is empty when there is none.
type guessed struct {
	name string
	text []byte
	// doubtful is true when another encoding is nearly as likely.
	doubtful bool
}

// note tells people about the guess.
func (g guessed) note(named string) string {
	why := "the file names no encoding"
	if named != "" {
		why = "the file isn't in the encoding that it names"
	}
	if g.doubtful {
		return "read as " + g.name + ", which may be wrong: " + why
	}
	return "read as " + g.name + ": " + why
}

const (
	// plausible is the least score of a text that is taken for Japanese; clear is by how much the better of two has to be
	// better to leave no doubt.
	plausible   = 0.45
	beyondDoubt = 0.15
)

// guess finds the encoding of a text that is no UTF-8.
func guess(raw []byte, cut bool) guessed {
	if hasEscapes(raw) {
		if text, ok := decodeWith(japanese.ISO2022JP, raw, cut); ok {
			return guessed{name: "ISO-2022-JP", text: text}
		}
		return guessed{}
	}
	if g := guessJapanese(raw, cut); g.name != "" {
		return g
	}
	if text, ok := decodeWith(charmap.Windows1252, raw, false); ok && isWestern(string(text)) {
		return guessed{name: "Windows-1252", text: text}
	}
	return guessed{}
}

// guessJapanese decides between the encodings in which Japanese has been written, and that of Chinese, which Japanese ones
// without kana may look like.
func guessJapanese(raw []byte, cut bool) guessed {
	shiftJIS, first := scored("Shift_JIS", japanese.ShiftJIS, raw, cut)
	eucJP, second := scored("EUC-JP", japanese.EUCJP, raw, cut)
	best, score, other := shiftJIS, first, second
	if second > first {
		best, score, other = eucJP, second, first
	}
	if score < plausible || !hasKana(string(best.text)) {
		if text, ok := decodeWith(simplifiedchinese.GBK, raw, cut); ok && isChinese(string(text)) {
			return guessed{name: "GBK", text: text}
		}
	}
	if score < plausible {
		return guessed{}
	}
	best.doubtful = score-other < beyondDoubt
	return best
}

// scored decodes a text on trial. What isn't in the encoding scores 0.
func scored(name string, e encoding.Encoding, raw []byte, cut bool) (guessed, float64) {
	text, ok := decodeWith(e, raw, cut)
	if !ok || bytes.ContainsFunc(text, isOddControl) {
		return guessed{}, 0
	}
	return guessed{name: name, text: text}, japaneseScore(string(text))
}

// htmlCharset is the encoding of an HTML page: the one that was named with it, or the one that it names itself.
func htmlCharset(page []byte, named string) string {
	if named != "" || utf8.Valid(page) {
		return named
	}
	// This name is also the answer for a page that names none.
	if _, name, _ := charset.DetermineEncoding(page, ""); name != "windows-1252" {
		return name
	}
	return ""
}

// wholeRunes drops the first bytes of a character, or of an escape, whose rest was cut off.
func wholeRunes(raw []byte, cut bool) []byte {
	if !cut {
		return raw
	}
	for _, half := range halfEscapes {
		if whole, found := bytes.CutSuffix(raw, []byte(half)); found {
			return whole
		}
	}
	for i := 1; i <= min(utf8.UTFMax, len(raw)); i++ {
		if start := len(raw) - i; utf8.RuneStart(raw[start]) {
			if !utf8.FullRune(raw[start:]) {
				return raw[:start]
			}
			break
		}
	}
	return raw
}
