package extract

import (
	"strconv"
	"strings"
)

// maxNumeral is the largest number that is written in anything but digits.
const maxNumeral = 999

// orders of kana in which Japanese lists are counted.
const (
	gojuon = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
	iroha  = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン"
)

// numeral writes the number of a list item in one of Word's forms. A form that isn't known is written in digits.
func numeral(n int, form string) string {
	if n < 1 || n > maxNumeral {
		return strconv.Itoa(n)
	}
	switch form {
	case "upperLetter":
		return letters(n, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
	case "lowerLetter":
		return letters(n, "abcdefghijklmnopqrstuvwxyz")
	case "upperRoman":
		return roman(n)
	case "lowerRoman":
		return strings.ToLower(roman(n))
	case "aiueo", "aiueoFullWidth":
		return letters(n, gojuon)
	case "iroha", "irohaFullWidth":
		return letters(n, iroha)
	case "decimalEnclosedCircle", "decimalEnclosedCircleChinese":
		return circled(n)
	case "decimalZero":
		return zeroed(n)
	case "japaneseCounting", "japaneseDigitalTenThousand", "ideographDigital", "chineseCounting", "chineseCountingThousand", "taiwaneseCounting":
		return kanji(n)
	default:
		return strconv.Itoa(n)
	}
}

// letters counts as Word does: behind Z comes AA, then BB.
func letters(n int, alphabet string) string {
	all := []rune(alphabet)
	return strings.Repeat(string(all[(n-1)%len(all)]), (n-1)/len(all)+1)
}

func roman(n int) string {
	values := []int{900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1}
	signs := []string{"CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"}
	var out strings.Builder
	for i, value := range values {
		for ; n >= value; n -= value {
			out.WriteString(signs[i])
		}
	}
	return out.String()
}

// circled gives ① to ⑳, which is as far as Unicode goes in one row.
func circled(n int) string {
	if n > 20 {
		return strconv.Itoa(n)
	}
	return string(rune('①' + n - 1))
}

func zeroed(n int) string {
	if n < 10 {
		return "0" + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// kanji writes a number as it is spoken: 十, 二十一, 百五.
func kanji(n int) string {
	digits := []rune("〇一二三四五六七八九")
	var out strings.Builder
	for _, place := range []struct {
		value int
		sign  string
	}{{100, "百"}, {10, "十"}} {
		if d := n / place.value % 10; d > 0 {
			if d > 1 {
				out.WriteRune(digits[d])
			}
			out.WriteString(place.sign)
		}
	}
	if d := n % 10; d > 0 {
		out.WriteRune(digits[d])
	}
	return out.String()
}
