package extract

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
	textunicode "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
	"pgregory.net/rapid"
)

const (
	namesNone  = ": the file names no encoding"
	namesWrong = ": the file isn't in the encoding that it names"
)

// TestFaultR053 is about text files that turn to garbage because they aren't UTF-8.
func TestFaultR053_text_files_in_other_encodings_are_read_as_people_see_them(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mime, file string
		want       Result
	}{
		"UTF-16LE with its mark":       {"text/plain", "\xFF\xFEA\x00\xE5\x65\x2C\x67", Result{Text: "A日本\n", Searchable: true}},
		"UTF-16BE with its mark":       {"text/plain", "\xFE\xFF\x00A\x65\xE5\x67\x2C", Result{Text: "A日本\n", Searchable: true}},
		"UTF-32LE with its mark":       {"text/plain", "\xFF\xFE\x00\x00A\x00\x00\x00\xE5\x65\x00\x00", Result{Text: "A日\n", Searchable: true}},
		"UTF-32BE with its mark":       {"text/plain", "\x00\x00\xFE\xFF\x00\x00\x00A\x00\x00\x65\xE5", Result{Text: "A日\n", Searchable: true}},
		"UTF-8 with its mark and CRLF": {"text/csv", "\xEF\xBB\xBFa,b\r\n日,本\r\n", Result{Text: "| a | b |\n| --- | --- |\n| 日 | 本 |\n", Searchable: true}},
		"a mark that another name doesn't change": {
			"text/plain; charset=Shift_JIS", "\xEF\xBB\xBF日本", Result{Text: "日本\n", Searchable: true},
		},
		"Shift_JIS under an ASCII header": {
			"text/csv", "name,city\r\n\x8eR\x93c\x91\xbe\x98Y,\x93\x8c\x8b\x9e\r\n",
			Result{Text: "| name | city |\n| --- | --- |\n| 山田太郎 | 東京 |\n", Searchable: true, Note: "read as Shift_JIS" + namesNone},
		},
		"Shift_JIS with characters of Windows": {
			"text/plain", coded(t, japanese.ShiftJIS, "①髙橋さんは㈱山﨑へ行きました。"),
			Result{Text: "①髙橋さんは㈱山﨑へ行きました。\n", Searchable: true, Note: "read as Shift_JIS" + namesNone},
		},
		"half-width katakana of a bank": {
			"text/csv", "a,b\n\xD4\xCF\xC0\xDE \xC0\xDB\xB3,\xBD\xBD\xDE\xB7\n",
			Result{Text: "| a | b |\n| --- | --- |\n| ﾔﾏﾀﾞ ﾀﾛｳ | ｽｽﾞｷ |\n", Searchable: true, Note: "read as Shift_JIS" + namesNone},
		},
		"EUC-JP": {
			"text/plain", coded(t, japanese.EUCJP, "休暇は事前に申請する。"),
			Result{Text: "休暇は事前に申請する。\n", Searchable: true, Note: "read as EUC-JP" + namesNone},
		},
		"names in kanji, which might be either": {
			"text/plain", coded(t, japanese.EUCJP, "山田太郎"),
			Result{Text: "山田太郎\n", Searchable: true, Note: "read as EUC-JP, which may be wrong" + namesNone},
		},
		"ISO-2022-JP": {
			"text/plain", coded(t, japanese.ISO2022JP, "休暇は事前に申請する。"),
			Result{Text: "休暇は事前に申請する。\n", Searchable: true, Note: "read as ISO-2022-JP" + namesNone},
		},
		"French": {
			"text/plain", coded(t, charmap.Windows1252, "L’été, il dîne à côté — 12 €."),
			Result{Text: "L’été, il dîne à côté — 12 €.\n", Searchable: true, Note: "read as Windows-1252" + namesNone},
		},
		"German": {
			"text/csv", coded(t, charmap.ISO8859_1, "Größe;Straße\nfür;über\n"),
			Result{Text: "| Größe | Straße |\n| --- | --- |\n| für | über |\n", Searchable: true, Note: "read as Windows-1252" + namesNone},
		},
		"Chinese": {
			"text/plain", coded(t, simplifiedchinese.GBK, "我们的知识库每天都会同步，这样大家就可以看到最新的内容了。"),
			Result{Text: "我们的知识库每天都会同步，这样大家就可以看到最新的内容了。\n", Searchable: true, Note: "read as GBK" + namesNone},
		},
		"the encoding that is named": {
			"text/plain; charset=\"EUC-JP\"", coded(t, japanese.EUCJP, "山田太郎"), Result{Text: "山田太郎\n", Searchable: true},
		},
		"by another name": {
			"text/plain; charset=CP932", coded(t, japanese.ShiftJIS, "山田太郎"), Result{Text: "山田太郎\n", Searchable: true},
		},
		"the encoding that is named although the text is ASCII": {
			"text/plain; charset=iso-2022-jp", coded(t, japanese.ISO2022JP, "休暇"), Result{Text: "休暇\n", Searchable: true},
		},
		"a wrong name": {
			"text/plain; charset=EUC-JP", coded(t, japanese.ShiftJIS, "休暇は事前に申請する。"),
			Result{Text: "休暇は事前に申請する。\n", Searchable: true, Note: "read as Shift_JIS" + namesWrong},
		},
		"UTF-8 that a server calls Latin-1": {"text/plain; charset=ISO-8859-1", "café 日本", Result{Text: "café 日本\n", Searchable: true}},
		"UTF-8 that a server calls ASCII":   {"text/plain; charset=us-ascii", "café", Result{Text: "café\n", Searchable: true}},
		"Latin-1 that is named":             {"text/plain; charset=ISO-8859-1", "caf\xe9", Result{Text: "café\n", Searchable: true}},
		"Russian that nobody names":         {"text/plain", coded(t, charmap.Windows1251, "Отпуск согласуется заранее."), Result{Reason: ReasonBinary}},
		"Russian that is named": {
			"text/plain; charset=windows-1251", coded(t, charmap.Windows1251, "Отпуск"), Result{Text: "Отпуск\n", Searchable: true},
		},
		"bytes of no text":        {"text/plain", "\x81\x30\xFF\xFE\x9D\x8F garbage", Result{Reason: ReasonBinary}},
		"half a UTF-16 character": {"text/plain", "\xFF\xFEA\x00B", Result{Reason: ReasonBinary}},
		"half a surrogate pair":   {"text/plain", "\xFF\xFE\x00\xD8A\x00", Result{Reason: ReasonBinary}},
		"NUL in UTF-16":           {"text/plain", "\xFF\xFEA\x00\x00\x00B\x00", Result{Text: "AB\n", Searchable: true}},
		"UTF-16 without its mark": {"text/plain", "A\x00B\x00", Result{Reason: ReasonBinary}},
		"UTF-16 that is named":    {"text/plain; charset=utf-16le", "A\x00B\x00", Result{Text: "AB\n", Searchable: true}},
		"HTML that names its encoding": {
			"text/html", `<meta charset="EUC-JP"><p>` + coded(t, japanese.EUCJP, "山田太郎"), Result{Text: "山田太郎\n", Searchable: true},
		},
		"HTML that names none": {
			"text/html", "<p>" + coded(t, japanese.ShiftJIS, "休暇は事前に申請する。"),
			Result{Text: "休暇は事前に申請する。\n", Searchable: true, Note: "read as Shift_JIS" + namesNone},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, extract(t, shared, c.mime, "", []byte(c.file)))
		})
	}
}

func mustEncode(tb testing.TB, e encoding.Encoding, text []byte) []byte {
	tb.Helper()
	raw, err := e.NewEncoder().Bytes(text)
	require.NoError(tb, err)
	return raw
}

func coded(tb testing.TB, e encoding.Encoding, text string) string {
	tb.Helper()
	raw, err := e.NewEncoder().String(text)
	require.NoError(tb, err)
	return raw
}

// sampler draws texts in words of a language, after a sentence by which it is recognised.
type sampler struct {
	begin string
	words []string
	space string
}

var (
	japaneseText = sampler{begin: "休暇の申請は上長へ事前に行います。", words: strings.Fields("休暇 の 申請 は 上長 へ 事前 に 行う 。 します ください 、 経費 精算 を 月末 まで " +
		"カタカナ データ 「 」 東京 本社 が です １２ \n 2026 ok")}
	westernText = sampler{begin: "The holiday is asked for à l’avance in München. ", words: strings.Fields("été the holiday größe is asked for " +
		"à l’avance — straße in München by all señores que llegan “before” \n 20°C über"), space: " "}
	chineseText = sampler{begin: "我们的知识库每天都会同步，这样大家就可以看到最新的内容了。", words: strings.Fields("我们 的 知识库 每天 都 会 同步 了 这样 大家 就 可以 看到 最新 的 内容 ， 。 对 他们 来说 这个 还")}
)

func (s sampler) draw(t *rapid.T) string {
	words := rapid.SliceOfN(rapid.SampledFrom(s.words), 0, 200).Draw(t, "words")
	return s.begin + strings.Join(words, s.space)
}

func TestDecode_gives_back_what_was_encoded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		encoding encoding.Encoding
		text     sampler
	}{
		"UTF-8":        {encoding.Nop, japaneseText},
		"UTF-16LE":     {textunicode.UTF16(textunicode.LittleEndian, textunicode.UseBOM), japaneseText},
		"UTF-16BE":     {textunicode.UTF16(textunicode.BigEndian, textunicode.UseBOM), westernText},
		"UTF-32LE":     {utf32.UTF32(utf32.LittleEndian, utf32.UseBOM), japaneseText},
		"UTF-32BE":     {utf32.UTF32(utf32.BigEndian, utf32.UseBOM), chineseText},
		"Shift_JIS":    {japanese.ShiftJIS, japaneseText},
		"EUC-JP":       {japanese.EUCJP, japaneseText},
		"ISO-2022-JP":  {japanese.ISO2022JP, japaneseText},
		"Windows-1252": {charmap.Windows1252, westernText},
		"GBK":          {simplifiedchinese.GBK, chineseText},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) {
				text := c.text.draw(t)
				raw, err := c.encoding.NewEncoder().Bytes([]byte(text))
				require.NoError(t, err)
				got, note, err := decode(raw, false, "")
				require.NoError(t, err)
				require.Equal(t, text, string(got), note)
				// Cut anywhere, it is the beginning of the same.
				if cut := rapid.IntRange(len(raw)*3/4, len(raw)).Draw(t, "cut"); len(raw) > 200 {
					got, _, err = decode(raw[:cut], true, "")
					require.NoError(t, err)
					require.True(t, strings.HasPrefix(text, string(got)), "%q of %q", got, text)
				}
			})
		})
	}
}

// TestDecode_of_what_was_cut_off_at_any_byte has characters of one to four bytes, and escapes between them.
func TestDecode_of_what_was_cut_off_at_any_byte(t *testing.T) {
	t.Parallel()
	const (
		mixed   = "休暇の申請は上長へ事前に行う。ok 2026 経費はカタカナで、ok です。"
		western = "The holiday is asked for à l’avance by all señores in München."
	)
	for name, c := range map[string]struct {
		encoding encoding.Encoding
		text     string
		// least is how many bytes it takes to recognise the encoding.
		least int
	}{
		"UTF-8":        {encoding.Nop, mixed + "🙂", 0},
		"UTF-16LE":     {textunicode.UTF16(textunicode.LittleEndian, textunicode.UseBOM), mixed, 2},
		"UTF-32BE":     {utf32.UTF32(utf32.BigEndian, utf32.UseBOM), mixed, 4},
		"Shift_JIS":    {japanese.ShiftJIS, mixed, 24},
		"EUC-JP":       {japanese.EUCJP, mixed + "丂です。", 24},
		"ISO-2022-JP":  {japanese.ISO2022JP, "ok " + mixed, 0},
		"Windows-1252": {charmap.Windows1252, western, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := c.encoding.NewEncoder().Bytes([]byte(c.text))
			require.NoError(t, err)
			for cut := c.least; cut <= len(raw); cut++ {
				got, _, err := decode(raw[:cut], true, "")
				require.NoError(t, err, "cut at %d of %q", cut, raw)
				require.True(t, strings.HasPrefix(c.text, string(got)), "cut at %d: %q of %q", cut, got, c.text)
				require.LessOrEqual(t, len(raw[:cut])-len(mustEncode(t, c.encoding, got)), 4, "cut at %d: %q", cut, got)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"", "a", "caf\xe9", "\xFF\xFEA\x00", "\x8eR\x93c", "\x1B$B", "\xEF\xBB\xBF", "\x00\x00\xFE\xFF"} {
		f.Add([]byte(seed), false, "")
		f.Add([]byte(seed), true, "shift_jis")
	}
	f.Fuzz(func(t *testing.T, raw []byte, cut bool, named string) {
		text, _, err := decode(raw, cut, named)
		if err == nil && (!utf8.Valid(text) || bytes.HasPrefix(text, []byte("\xEF\xBB\xBF\xEF\xBB\xBF"))) {
			t.Fatalf("%q as %q gives %q", raw, named, text)
		}
	})
}
