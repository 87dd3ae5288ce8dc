package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
)

// The rows of the Japanese character set, by the byte that EUC-JP begins their characters with.
const (
	rowHalfWidth  = 0x8E
	rowMarks      = 0xA1
	rowAlphabet   = 0xA3
	rowHiragana   = 0xA4
	rowKatakana   = 0xA5
	rowNEC        = 0xAD
	rowCommon     = 0xB0
	rowLessCommon = 0xD0
	rowLast       = 0xF4
)

// shortKana is the shortest run of half-width katakana that is a word; single ones are what accents of Western text look like.
const shortKana = 3

// japaneseScore says how much a text looks like Japanese, from 0 to 1, by what its characters beyond ASCII are: kana most,
// then marks and the kanji of everyday use. In the wrong encoding Japanese turns into rare kanji and half-width katakana.
func japaneseScore(text string) float64 {
	total, sum := 0, 0.0
	encoder := encoding.ReplaceUnsupported(japanese.EUCJP.NewEncoder())
	coded, err := encoder.Bytes([]byte(text))
	if err != nil {
		return 0
	}
	run := 0
	for i := 0; i < len(coded); i++ {
		lead := coded[i]
		if lead < utf8.RuneSelf {
			run = 0
			continue
		}
		total++
		i++
		if lead != rowHalfWidth {
			run = 0
			sum += likely(lead)
			continue
		}
		run++
		if run == shortKana {
			sum += halfWidthKana * shortKana
		} else if run > shortKana {
			sum += halfWidthKana
		}
	}
	if total == 0 {
		return 0
	}
	return sum / float64(total)
}

// halfWidthKana is what a half-width katakana counts in a run of them.
const halfWidthKana = 0.6

// likely is what a character of a row counts.
func likely(row byte) float64 {
	switch {
	case row == rowHiragana:
		return 1
	case row == rowKatakana || row == rowMarks:
		return 0.9
	case row == rowAlphabet:
		return 0.8
	case row >= rowCommon && row < rowLessCommon:
		return 0.7
	case row == rowNEC:
		return 0.5
	case row >= rowLessCommon && row <= rowLast:
		return 0.15
	default:
		return 0.2
	}
}

// hasKana tells whether a text has kana of full width: Japanese of any length does.
func hasKana(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r >= 'ぁ' && r <= 'ヿ' })
}

const (
	// chineseWords are the most frequent characters of simplified Chinese that aren't those of Japanese too.
	chineseWords = "的了这们个为说时对过还没么会来发让给们这"
	// minChinese is how many characters a text must have to be taken for Chinese, and one in frequentShare has to be one of
	// the frequent ones.
	minChinese    = 20
	frequentShare = 30
)

// isChinese tells whether a text is Chinese beyond doubt.
func isChinese(text string) bool {
	han, frequent, other := 0, 0, 0
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
		case unicode.Is(unicode.Han, r):
			han++
			if strings.ContainsRune(chineseWords, r) {
				frequent++
			}
		case r >= '\u3000' && r <= '\u303F' || r >= '\uFF00' && r <= '\uFF60' || r >= '\u2010' && r <= '\u2026':
		default:
			other++
		}
	}
	return han >= minChinese && frequent*frequentShare >= han && other*frequentShare <= han
}

const (
	// accentShare bounds how many of the letters of a Western text have accents: one in two.
	accentShare = 2
	// longAccents is the longest run of letters with accents.
	longAccents = 3
)

// westernMarks are the characters of Windows-1252 that stand in texts and are no letters.
const westernMarks = "€‚„…†‡‰‹‘’“”•–—™›\u00A0¡¢£¥§¨©ª«®¯°±²³´µ¶·¸¹º»¼½¾¿×÷"

// isWestern tells whether a text that was decoded as Windows-1252, which any bytes can be, is one: accents on some letters of
// words, and the marks of print.
func isWestern(text string) bool {
	letters, accents, run := 0, 0, 0
	for _, r := range text {
		switch {
		case isOddControl(r):
			return false
		case r < utf8.RuneSelf:
			run = 0
			if unicode.IsLetter(r) {
				letters++
			}
		case unicode.Is(unicode.Latin, r):
			letters++
			accents++
			run++
			if run > longAccents {
				return false
			}
		case strings.ContainsRune(westernMarks, r):
			run = 0
		default:
			return false
		}
	}
	return letters > 0 && accents*accentShare <= letters
}
