package extract

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestClean_writes_what_a_reader_reads(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                                    "",
		" \r\n\f\n \f":                        "",
		"a\r\nb\rc":                           "a\nb\nc",
		"\fa\n\n\n\n\nb \f\f\n\tc":            "a\n\nb\n\nc",
		"co-\noperate":                        "cooperate",
		"inter\u0002national inter\uFFFEnet":  "international internet",
		"Baden\uFFFEBaden":                    "Baden-\nBaden",
		"COVID-\n19, 3-\nfold":                "COVID-\n19, 3-\nfold",
		"a list:\n-\nitem":                    "a list:\n-\nitem",
		"a word-\n\nparagraph":                "a word-\n\nparagraph",
		"a word-\fnext page":                  "a word-\n\nnext page",
		"soft\u00AD\nware and hard\u00ADware": "software and hardware",
		"soft\u00AD":                          "soft",
		"dash\u2010\ned":                      "dashed",
		"\uFB00\uFB01\uFB02\uFB03\uFB04\uFB05\uFB06 \uFB13": "fffiflffifflstst մն",
		"x\u00B2 \u2460 \uFF71 \u3392":                      "x\u00B2 \u2460 \uFF71 \u3392",
		"\u2F47\u2F49 \u2E9F":                               "日月 母",
		"a\x00b\x07c\uFEFFd\u200Be\u00A0f\tg":               "abcde f g",
	} {
		assert.Equal(t, want, clean(in), "%q", in)
	}
}

func TestClean_changes_nothing_the_second_time(t *testing.T) {
	t.Parallel()
	pieces := []string{"a", "B", "語", " ", "\n", "\r", "\f", "\t", "\uFB03", "\x00", "\uFFFE", "\u00A0", "1", "."}
	rapid.Check(t, func(t *rapid.T) {
		once := clean(strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "text"), ""))
		if clean(once) != once || !utf8.ValidString(once) || strings.ContainsAny(once, "\r\f\x00\uFFFE\uFB03") {
			t.Fatalf("%q, then %q", once, clean(once))
		}
	})
}
