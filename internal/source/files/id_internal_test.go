package files

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
)

func TestNamesBecomeIDsAndBack(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"plain.md":      "plain.md",
		"100% sure.md":  "100% sure.md",
		"a%FF.md":       "a%FF.md",
		"日本語.md":        "日本語.md",
		"\uFFFD.md":     "\uFFFD.md",
		"a\xff.md":      "%~a%FF.md",
		"50%\xff.md":    "%~50%25%FF.md",
		"line\nend.md":  "%~line%0Aend.md",
		"\u0085next.md": "%~%C2%85next.md",
		"%~mark.md":     "%~%25~mark.md",
		"~x.md":         "~x.md",
	} {
		require.Equal(t, want, encodeName(name))
		back, ok := decodeName(want)
		require.True(t, ok, want)
		require.Equal(t, name, back)
	}
}

func TestOneFileHasOneID(t *testing.T) {
	t.Parallel()
	for _, segment := range []string{
		"", ".", "..", "%~", "%~plain.md", "%~a%ff.md", "%~a%F", "%~a%GG", "%~%2E%2E", "%~a%2Fb", "%~a%00b", "a\xff.md", "a\nb.md",
		hashName("x.md"),
	} {
		_, ok := decodeName(segment)
		require.False(t, ok, "%q must be refused", segment)
	}
}

func TestIDsStayShort(t *testing.T) {
	t.Parallel()
	parent := strings.Repeat("p", maxIDBytes-10)
	segment, long := segmentBelow(parent, "short.md")
	require.False(t, long)
	require.Equal(t, "short.md", segment)
	segment, long = segmentBelow(parent, "longer.name.md")
	require.True(t, long)
	require.True(t, isHashed(childOf(parent, segment)))
	other, _ := segmentBelow(parent, "another.name.md")
	require.NotEqual(t, segment, other)
}

func TestCursorsRoundTrip(t *testing.T) {
	t.Parallel()
	for _, c := range []cursor{
		{kind: source.KindDocument, inode: 0x4a3e1, id: "guides/first.md"},
		{kind: source.KindContainer, inode: 0, id: "guides"},
		{kind: source.KindDocument, inode: 1, id: "a", unread: "guides/closed"},
	} {
		back, err := parseCursor(c.String())
		require.NoError(t, err)
		require.Equal(t, c, back)
	}
	for _, s := range []string{"x", "f", "f/", "f12", "f12/", "g12/a", "fxyz/a", "/a", "guides/first.md"} {
		_, err := parseCursor(s)
		require.ErrorIs(t, err, errCursor, s)
	}
}

func TestCursorsStayStorable(t *testing.T) {
	t.Parallel()
	long := cursor{
		kind: source.KindDocument, inode: 1<<64 - 1,
		id: strings.Repeat("長", maxIDBytes/3), unread: strings.Repeat("深", maxIDBytes/3),
	}
	s := long.String()
	require.LessOrEqual(t, len(s), 4<<10)
	require.True(t, utf8.ValidString(s))
}

func TestATextIsToldFromABinary(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ raw, class string }{
		"nothing":          {"", ""},
		"text":             {"# Title\n\tcode\r\n\fnext\n", ""},
		"japanese":         {"日本語の文章。", ""},
		"marked":           {"\uFEFF# Title", ""},
		"a stray control":  {strings.Repeat("text ", 20) + "\x07", ""},
		"NUL in a text":    {"# Title\n\x00more", skipBinary},
		"PDF":              {"%PDF-1.7\n%\xe2\xe3\xcf\xd3", skipBinary},
		"PNG":              {"\x89PNG\r\n\x1a\n\x00\x00", skipBinary},
		"JPEG":             {"\xff\xd8\xff\xe1text", skipBinary},
		"noise":            {"\x01\x02\x03abc\x04\x05\x80\x90", skipBinary},
		"latin-1":          {"Caf\xe9 au lait", skipInvalidUTF8},
		"shift_jis":        {"\x93\xfa\x96\x7b\x8c\xea", skipInvalidUTF8},
		"cut in a rune":    {"日本\xe8\xaa", skipInvalidUTF8},
		"UTF-16":           {"\xff\xfeh\x00i\x00", skipInvalidUTF8},
		"UTF-16 (big end)": {"\xfe\xff\x00h\x00i", skipInvalidUTF8},
	} {
		skip := unusable([]byte(c.raw))
		if c.class == "" {
			require.Nil(t, skip, name)
			continue
		}
		require.NotNil(t, skip, name)
		require.Equal(t, c.class, skip.Class, name)
		require.NotEmpty(t, skip.Sentence)
	}
}

func TestWhiteSpaceHasNoFingerprint(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"", " \n\t\r\n", "\u3000", "\uFEFF", "\uFEFF\n"} {
		require.Nil(t, fingerprint([]byte(raw)), "%q", raw)
	}
	require.Len(t, fingerprint([]byte("x")), 32)
}

func TestAFileOfAnotherSizeHasChanged(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 3, 5} {
		_, err := readExactly(t.Context(), strings.NewReader("four"), size)
		require.ErrorIs(t, err, errChanged)
	}
	raw, err := readExactly(t.Context(), strings.NewReader("four"), 4)
	require.NoError(t, err)
	require.Equal(t, "four", string(raw))
}

func FuzzNamesRoundTrip(f *testing.F) {
	for _, name := range []string{"a.md", "%~a", "%~#00", "\xff", "%", "a\x00b", "..", "日本\xe8"} {
		f.Add(name, "other")
	}
	f.Fuzz(func(t *testing.T, name, other string) {
		segment := encodeName(name)
		require.True(t, utf8.ValidString(segment))
		require.False(t, strings.ContainsFunc(segment, unicode.IsControl))
		back, ok := decodeName(segment)
		require.Equal(t, isFileName(name), ok)
		if ok {
			require.Equal(t, name, back)
		}
		require.Equal(t, name == other, segment == encodeName(other), "an id belongs to one name")
	})
}

func FuzzResolveStaysBelowTheRoot(f *testing.F) {
	for _, ref := range []string{
		"a/b.md", "../x", "file:///srv/docs/a%20b.md", "/srv/docs/../etc/passwd", "./a//b/", "%~a%FF", "file://localhost/srv/docs/x#y",
		"/srv/docs", "/srv/docsx/a", "a/\x00/b", hashName("x"),
	} {
		f.Add(ref)
	}
	s, root := New(Options{}), source.Root{Ref: "/srv/docs"}
	f.Fuzz(func(t *testing.T, ref string) {
		id, ok := s.Resolve(root, ref)
		if !ok {
			require.Empty(t, id)
			return
		}
		again, ok := s.Resolve(root, id)
		require.True(t, ok)
		require.Equal(t, id, again)
		if isHashed(id) {
			return
		}
		name, ok := nameOf(id)
		require.True(t, ok)
		require.True(t, filepath.IsLocal(name), "%q leads out", name)
		fromURL, ok := s.Resolve(root, fileURL("/srv/docs/"+name))
		require.True(t, ok)
		require.Equal(t, id, fromURL)
	})
}
