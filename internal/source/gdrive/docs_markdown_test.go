package gdrive_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sebdah/goldie/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/loresync/loresync/internal/content/block"
	"github.com/loresync/loresync/internal/content/text"
	"github.com/loresync/loresync/internal/source/gdrive"
	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

// picture is a definition as it stands at the end of an exported Doc.
const picture = "[image1]: <data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk>\n"

func TestDocsMarkdown_reads_as_it_was_written(t *testing.T) {
	t.Parallel()
	for name, exported := range map[string]string{
		"handbook": "\uFEFF# **Leave policy** {#leave-policy}\r\n\r\n## \r\n\r\nEverybody gets 20\\.5 days\\! " +
			"See [the form](https://example.org/a_b) \\- soon\\.  \r\n" +
			"Second line of the paragraph\\.\r\n\r\n* one\\_two \\+ three\r\n  * nested\r\n* \\*not bold\\*\r\n\r\n1. first\r\n2. 2026\\. is no list\r\n\r\n" +
			"2026\\. begins a line\\.\r\n\r\n\\- is no bullet\r\n\r\n\\# is no heading\r\n\r\n" +
			"![][image1]\r\n\r\n![A plan\\, drawn][image1] in a line\r\n\r\n```sh\r\n# **kept** \\_\r\n\r\n" +
			"[image1]: <data:kept>\r\n```\r\n\r\n" + picture,
		"japanese": "# **休暇規程**\n\n### **第1条** （目的）\n\nカ\u3099ス\\_料金は `a\\_b` を参照。  \n次の行\n\n| 項目 | 日数 |\n| :---- | :---- |\n| 有給\\|特別 | 20\\.5 |\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			markdown, _ := gdrive.DocsMarkdown([]byte(exported))
			goldie.New(t, goldie.WithNameSuffix(".golden.md")).Assert(t, name, []byte(markdown))
		})
	}
}

func TestFaultR032_Pictures_are_placeholders(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("iVBORw0KGgo", 200_000)
	for exported, want := range map[string]string{
		"![][image1]\n\n[image1]: <data:image/png;base64," + large + ">\n":   "(image)\n",
		"![A  plan][image1]\n\n[image1]: data:image/png;base64," + large:     "(image: A plan)\n",
		"before ![x](data:image/png;base64," + large + ") after\n":           "before (image: x) after\n",
		"![x](https://example.org/x.png) and ![y][other]\n":                  "![x](https://example.org/x.png) and ![y][other]\n",
		"![][image1]\n\n[image1]: https://example.org/image.png\n":           "![][image1]\n\n[image1]: https://example.org/image.png\n",
		"`![][image1]`\n\n" + picture:                                        "`![][image1]`\n",
		"[data: not a definition\n\n[a] data:b\n":                            "[data: not a definition\n\n[a] data:b\n",
		"  [image1]: <DATA:image/gif;base64,AAAA>\n![a][IMAGE1]![b][image1]": "(image: a)(image: b)\n",
	} {
		markdown, pictures := gdrive.DocsMarkdown([]byte(exported))
		assert.Equal(t, want, markdown)
		assert.Equal(t, strings.Count(want, "(image"), pictures)
	}
	s := newOffice(t, drivetest.Options{})
	page := s.fetch(s.doc(s.root.Ref, "Page", "# T\n\n![a](data:image/png;base64,iVBORw0KGgo=) text\n"))
	assert.NotContains(t, page.Markdown, "base64")
	assert.Contains(t, page.Markdown, "(image")
	assert.Contains(t, string(page.Fidelity), `"image":1`)
}

func TestDocsMarkdown_changes_no_meaning(t *testing.T) {
	t.Parallel()
	for exported, want := range map[string]string{
		"":                              "",
		"\n \n\t\n":                     "",
		"# \n\n## ****\n":               "",
		"#no heading\n":                 "#no heading\n",
		"# **a** and **b**\n":           "# **a** and **b**\n",
		"# ***a***\n":                   "# *a*\n",
		"# **Bold and** ***more***":     "# Bold and *more*",
		"# **a** **b**":                 "# a b",
		"# **a****b**":                  "# **a****b**",
		"# **a** ***b** c*":             "# **a** ***b** c*",
		`# **a\** **b**`:                `# **a\** **b**`,
		"####### seven\n":               "####### seven\n",
		"a\n# \n---\n":                  "a\n\n---\n",
		`\*a\* \[b\] \<c\> \|d\| \~\~e`: `\*a\* \[b\] \<c> \|d\| \~\~e`,
		`C:\\dir \\\_x`:                 `C:\\dir \\\_x`,
		`snake\_case \_start end\_`:     `snake_case \_start end\_`,
		`1\. one`:                       `1\. one`,
		`version 1\.2\.3`:               `version 1.2.3`,
		`\- dash`:                       `\- dash`,
		`a \- b \+ c \= d \# e \> f`:    `a - b + c = d # e > f`,
		`\{a\} \! b\! \![c]`:            `{a} ! b! \![c]`,
		`AT\&T \&amp;`:                  `AT\&T \&amp;`,
		"a  \nb  \n\nc  ":               "a  \nb\n\nc",
		"x   \ny":                       "x  \ny",
		"~~~\n\\_  \n\n\n\n~~~":         "~~~\n\\_  \n\n\n\n~~~",
		"`` a`\\_b `` \\_c\\_d":         "`` a`\\_b `` \\_c_d",
		"a\n\n\n\n\nb":                  "a\n\nb",
		"# Title {#a} {#b}":             "# Title",
		`# \{#a}`:                       `# \{#a}`,
		`\!\-`:                          `!-`,
		"see <words> and </x> <!-- c":   `see \<words> and \</x> \<!-- c`,
		"<div>":                         `\<div>`,
		"a < b <3 <":                    "a < b <3 <",
		"<https://a.example/_b_\\->":    "<https://a.example/_b_\\->",
		"<a@example.org>":               `\<a@example.org>`,
		"| a<br>b | <BR /> |":           "| a b |  |",
		"a<br><br/> b<br>":              "a  b",
		"# a<br>b":                      "# a b",
		"a\n<br> <br>\nb":               "a\n\nb",
		"<br># a":                       `\<br># a`,
		"- <br>":                        `- \<br>`,
		"`a<br>b` <brx>":                "`a<br>b` \\<brx>",
		"```\n<br><w>\n```":             "```\n<br><w>\n```",
		`back\slash\end\`:               `back\slash\end\`,
	} {
		markdown, _ := gdrive.DocsMarkdown([]byte(exported))
		assert.Equal(t, strings.TrimSuffix(want, "\n"), strings.TrimSuffix(markdown, "\n"), "%q", exported)
	}
}

func TestDocsMarkdown_loses_no_text(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	page := s.fetch(s.doc(s.root.Ref, "Page", "# **Bold** and _more_\n\nReplace <words> by a < b.\n\n| One | Two |\n|---|---|\n| up<br>down | <x> |\n"))
	assert.Equal(t, "# Bold and *more*\n\nReplace \\<words> by a \\< b.\n\n| One | Two |\n| :---- | :---- |\n| up down | \\<x> |\n", page.Markdown)
	assert.Contains(t, string(page.Fidelity), `"searchable":1`)
	for _, b := range block.Scan(page.Markdown) {
		for _, word := range []string{"<words>", "down", "<x>"} {
			said := page.Markdown[b.Start:b.End]
			assert.Equal(t, strings.Contains(said, word), strings.Contains(text.Plain(said), word))
		}
	}
}

func TestDocsMarkdown_keeps_every_word_whatever_looks_like_a_tag(t *testing.T) {
	t.Parallel()
	around := rapid.SampledFrom([]string{
		"", " ", "\n", "\n\n", "<", ">", "</", "/>", "<br>", "<br/> ", "<!--", "-->", "<!", "<?", "<div>", "<pre>",
		"\\<", "\\>", "| ", "# ", "* ", "**", "_", "=", "\"",
	})
	rapid.Check(t, func(t *rapid.T) {
		var exported strings.Builder
		words := rapid.IntRange(1, 20).Draw(t, "words")
		for i := range words {
			exported.WriteString(around.Draw(t, "before") + fmt.Sprintf("word%dx", i) + around.Draw(t, "behind"))
		}
		markdown, _ := gdrive.DocsMarkdown([]byte(exported.String()))
		said := text.Plain(markdown)
		for i := range words {
			require.Contains(t, said, fmt.Sprintf("word%dx", i), "%q", markdown)
		}
	})
}

// requireSettled checks what the doc comment promises.
func requireSettled(t require.TestingT, exported []byte) {
	markdown, _ := gdrive.DocsMarkdown(exported)
	require.True(t, utf8.ValidString(markdown))
	require.True(t, norm.NFC.IsNormalString(markdown))
	require.NotContains(t, markdown, "\x00")
	require.NotContains(t, markdown, "\r")
	if markdown != "" {
		require.True(t, strings.HasSuffix(markdown, "\n") && !strings.HasSuffix(markdown, "\n\n"), "%q", markdown)
	}
	again, _ := gdrive.DocsMarkdown([]byte(markdown))
	require.Equal(t, markdown, again, "made readable twice")
}

func TestDocsMarkdown_is_settled_after_one_time(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		"a", "é", "e\u0301", "日", " ", "  \n", "\n", "\n\n", "#", "# ", "**", "*", "\\", "\\_", "\\-", "\\.", "1", "\\!", "![", "]", "[", "[image1]", "(", ")",
		"`", "```\n", "~~~", "{#a}", ":", "<data:x>", "[image1]: data:a\n", "|", "_", "-", "+",
		"<br>", "<br", "<w>", "<", "/>", "<a://b>", "\r\n", "\x00", "\xff", "\t", ">", "&", "\u00a0",
	})
	rapid.Check(t, func(t *rapid.T) {
		requireSettled(t, []byte(strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), "")))
	})
}

func FuzzDocsMarkdown(f *testing.F) {
	for _, seed := range []string{
		"# **T**\n\n* a\\_b\n\n![][image1]\n\n" + picture, "```\n\\_\n", "![a](data:x", "\\", "# {#", "`\\`", "**", "# ** **", "a  \n",
		"# **a** ***b***", "a<br>\n| <br> <w> |", "<br><br>", "<a://b>", `<\! <\/ <\?`, "[x]: <data:", "\xff\r",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, exported []byte) { requireSettled(t, exported) })
}
