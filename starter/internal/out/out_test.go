package out_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loresync/loresync/starter/internal/out"
)

var now = time.Date(2026, time.March, 14, 12, 0, 0, 0, time.UTC)

func printer(terminals out.Terminals) (p *out.Printer, answer, messages *bytes.Buffer) {
	answer, messages = &bytes.Buffer{}, &bytes.Buffer{}
	return out.New(answer, messages, terminals, func() time.Time { return now }), answer, messages
}

func TestCleanLeavesNothingThatSteersATerminal(t *testing.T) {
	t.Parallel()
	for hostile, want := range map[string]string{
		"plain":                    "plain",
		"人事\tハンドブック":               "人事 ハンドブック",
		"👩‍💻 é":                    "👩‍💻 é",
		"two\r\nlines":             "two lines",
		"\x1b[2Jgone":              "gone",
		"\x1b[38;5;196mred\x1b[0m": "red",
		"\x1b]0;title\x07text":     "text",
		"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\": "link",
		"\x1bPdevice\x1b\\control":                 "control",
		"\u009b31mred":                             "red",
		"\u009d0;title\u009ctext":                  "text",
		"a\x1b(Bb\x1bcd":                           "abd",
		"\x1b]0;never closed\nnext":                "next",
		"\x1b":                                     "",
		"\x1b[":                                    "",
		"nul\x00bell\x07back\x08":                  "nulbellback",
		"\u202efdp.exe":                            "fdp.exe",
		"a\u2066b\u2069\u200e":                     "ab",
		"bad \xff utf8":                            "bad \ufffd utf8",
		"\u2028sep\u2029":                          "sep",
	} {
		assert.Equal(t, want, out.Clean(hostile), "%q", hostile)
	}
	assert.Equal(t, "a\n\tb\n", out.CleanText("a\r\n\tb\x1b[1A\n"))
}

func TestCleanNeverLetsAControlCharacterThrough(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		hostile := rapid.OneOf(rapid.String(), rapid.StringMatching("[\x1b\u009b\u009d\\[\\]a-z0-9;\x07\\\\\n]*")).Draw(t, "text")
		cleaned := out.Clean(hostile)
		assert.NotContains(t, cleaned, "\x1b")
		assert.Negative(t, strings.IndexFunc(cleaned, unicode.IsControl))
		assert.Equal(t, cleaned, out.Clean(cleaned), "cleaning twice changes nothing")
	})
}

func TestTruncateCutsBetweenCharactersAsPeopleSeeThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"人事ハンドブック", 16, "人事ハンドブック"},
		{"人事ハンドブック", 15, "人事ハンドブッ…"},
		{"人事ハンドブック", 6, "人事…"},
		{"👩‍💻👩‍💻👩‍💻", 5, "👩‍💻👩‍💻…"},
		{"a b c", 4, "a b…"},
		{"any", 0, "any"},
		{"wide", 1, "…"},
	} {
		assert.Equal(t, c.want, out.Truncate(c.text, c.width), c.text)
	}
	rapid.Check(t, func(t *rapid.T) {
		text, width := out.Clean(rapid.String().Draw(t, "text")), rapid.IntRange(1, 40).Draw(t, "width")
		assert.LessOrEqual(t, out.Width(out.Truncate(text, width)), width)
	})
}

func TestWrapBreaksWhereUnicodeAllowsIt(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"Ask for the", "ticket first."}, out.Wrap("Ask for the\nticket first.", 13))
	assert.Equal(t, []string{"領収書は月", "末までに出", "す。"}, out.Wrap("領収書は月末までに出す。", 10))
	assert.Equal(t, []string{"averyverylongword"}, out.Wrap("averyverylongword", 5))
	assert.Empty(t, out.Wrap(" \n", 10))
}

func TestTableAlignsByWhatATerminalShows(t *testing.T) {
	t.Parallel()
	table := out.NewTable("NAME~", "PAGES>", "EMPTY", "NOTE~")
	table.Add(out.Plain("人事"), out.Plain("1,204"), out.Plain(""), out.Plain("a note that is rather long for this"))
	table.Add(out.Plain("wiki\n"), out.Plain("7"), out.Plain(""), out.Plain(""))
	table.Add(out.Plain("none"), out.Plain(""), out.Plain(""), out.Plain("x"))

	p, answer, _ := printer(out.Terminals{})
	p.Table(table)
	assert.Equal(t, "NAME  PAGES  NOTE\n人事  1,204  a note that is rather long for this\nwiki      7\nnone         x\n", answer.String())

	p, answer, _ = printer(out.Terminals{Width: 30})
	p.Table(table)
	assert.Contains(t, answer.String(), "人事  1,204  a note that is r…\n")
	for line := range strings.Lines(answer.String()) {
		assert.LessOrEqual(t, out.Width(strings.TrimSuffix(line, "\n")), 30)
	}
}

func TestPairsLeaveOutWhatIsEmpty(t *testing.T) {
	t.Parallel()
	p, answer, _ := printer(out.Terminals{})
	p.Pairs([]out.Pair{{Name: "title", Value: out.Plain("人事\x1b[2J")}, {Name: "nothing at all"}, {Name: "url", Value: out.Plain("x")}})
	assert.Equal(t, "title  人事\nurl    x\n", answer.String())
}

func TestTimesAreToldFromNow(t *testing.T) {
	t.Parallel()
	p, _, _ := printer(out.Terminals{})
	for distance, want := range map[time.Duration]string{
		0:                    "just now",
		-3 * time.Minute:     "3 minutes ago",
		-time.Minute:         "1 minute ago",
		-25 * time.Hour:      "1 day ago",
		6*24*time.Hour + 1e9: "in 6 days",
		2 * time.Minute:      "in 2 minutes",
	} {
		at := now.Add(distance)
		assert.Equal(t, want, p.Ago(&at))
	}
	assert.Equal(t, "never", p.Ago(nil))
	assert.Equal(t, "never", p.Ago(&time.Time{}))
	assert.Equal(t, "6 days", out.Left(6*24*time.Hour))
	assert.Equal(t, "1 week", out.Left(7*24*time.Hour-time.Second))
	assert.Equal(t, "1 day", out.Left(24*time.Hour-time.Second))
	assert.Equal(t, "1 hour", out.Left(time.Hour))
	assert.Equal(t, "no time", out.Left(-time.Hour))
	assert.Equal(t, "3.2s", out.Took(3217*time.Millisecond))
	assert.Equal(t, "42s", out.Took(42*time.Second+300*time.Millisecond))
	assert.Equal(t, "1h2m", out.Took(time.Hour+2*time.Minute+10*time.Second))
	assert.Equal(t, "0s", out.Took(-time.Second))
}

func TestPluralsAreRight(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "0 pages", out.Plural(0, "page"))
	assert.Equal(t, "1 page", out.Plural(1, "page"))
	assert.Equal(t, "20,000 pages", out.Plural(20_000, "page"))
	assert.Equal(t, "2 entries", out.Plural(2, "entry"))
	assert.Equal(t, "3 days", out.Plural(3, "day"))
	assert.Equal(t, "2 batches", out.Plural(2, "batch"))
	assert.Equal(t, "a, b and c", out.Listing([]string{"a", "b", "c"}))
	assert.Equal(t, "a and b", out.Listing([]string{"a", "b"}))
	assert.Empty(t, out.Listing(nil))
}

func TestDocumentsKeepTheContractWhateverTheyComeFrom(t *testing.T) {
	t.Parallel()
	type Inner struct {
		At    *time.Time     `json:"at"`
		Words []string       `json:"words"`
		Any   any            `json:"any"`
		More  map[string]any `json:"more"`
	}
	type outer struct {
		Inner
		When  time.Time `json:"when"`
		Below *Inner    `json:"inner"`
		Raw   []byte    `json:"raw"`
	}
	at := now.In(time.FixedZone("JST", 9*60*60))
	given := []outer{{When: at, Below: &Inner{At: &at, Any: at, More: map[string]any{"at": at, "none": nil}}}}
	p, answer, _ := printer(out.Terminals{Out: true})
	require.NoError(t, p.Document(given))
	const utc = `"2026-03-14T12:00:00Z"`
	assert.JSONEq(t, `[{"at":null,"words":[],"any":null,"more":null,"when":`+utc+`,"raw":null,
		"inner":{"at":`+utc+`,"words":[],"any":`+utc+`,"more":{"at":`+utc+`,"none":null}}}]`, answer.String())
	assert.Equal(t, at, given[0].When, "what was given stays as it was")

	p, answer, _ = printer(out.Terminals{})
	require.NoError(t, p.Document(map[string]string{"title": "<a> & b"}))
	assert.Contains(t, answer.String(), "\"<a> & b\"\n}\n")
	require.NoError(t, p.Document(nil))

	p, answer, _ = printer(out.Terminals{})
	const hostile = "\x1b[2J\u009b\x7f\u202e\ufeff 人事"
	require.NoError(t, p.Document([]string{hostile}))
	assert.Equal(t, "[\n  \"\\u001b[2J\\u009b\\u007f\\u202e\\ufeff 人事\"\n]\n", answer.String(), "nothing steers a terminal")
	assert.JSONEq(t, `["\u001b[2J\u009b\u007f\u202e\ufeff 人事"]`, answer.String(), "and nothing is lost")
}

func TestTitlesAreCutAndNeverEmpty(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "Trains", out.Title("Trains\n"))
	assert.Equal(t, "Untitled", out.Title(" \n"))
	long := strings.Repeat("出張", 100)
	assert.LessOrEqual(t, out.Width(out.Title(long)), 60)
	assert.True(t, strings.HasSuffix(out.Title(long), "…"))
	assert.Equal(t, long, out.WholeTitle(long))
}

func TestMessagesStayBesideTheAnswer(t *testing.T) {
	t.Parallel()
	p, answer, messages := printer(out.Terminals{})
	p.Warn("careful\nnow")
	p.Fail("it\x1b[2J broke")
	p.Hint("try %s", "this")
	p.JSON = true
	p.Hint("programs need none")
	assert.Empty(t, answer.String())
	assert.Equal(t, "warning: careful now\nerror: it broke\ntry this\n", messages.String())
}

type brokenWriter struct{ calls int }

func (w *brokenWriter) Write([]byte) (int, error) {
	w.calls++
	return 0, errors.New("no space left")
}

func TestTheFirstWriteErrorIsRemembered(t *testing.T) {
	t.Parallel()
	broken := &brokenWriter{}
	p := out.New(broken, &bytes.Buffer{}, out.Terminals{}, time.Now)
	require.NoError(t, p.Err())
	p.Line("one")
	p.Line("two")
	require.ErrorContains(t, p.Err(), "write the answer: no space left")
	assert.Equal(t, 1, broken.calls)
}
