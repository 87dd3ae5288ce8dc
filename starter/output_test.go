package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/starter/internal/out"
)

var update = flag.Bool("update", false, "write the golden files anew")

// everyCommand is a command line for each thing that starter can be asked, with what its JSON begins with.
var everyCommand = map[string]string{
	"folder add hr --source files --root /srv/hr": "{",
	"folder list":                           "[",
	"folder show hr":                        "{",
	"folder set hr --title X":               "{",
	"folder pause hr":                       "{",
	"folder resume hr":                      "{",
	"folder delete hr":                      "{",
	"folder delete hr --now --wait":         "{",
	"folder restore hr":                     "{",
	"folder restore hr --wait":              "{",
	"connection add mine --source notion":   "{",
	"connection authorize mine":             "{",
	"connection authorize mine --code c0de": "{",
	"connection list":                       "[",
	"connection check files":                "[",
	"connection check notion":               "[",
	"connection pause files":                "{",
	"connection resume files":               "{",
	"connection webhook notion":             "{",
	"connection webhook notion --forget":    "{",
	"connection webhook gdrive":             "{",
	"connection webhook files":              "{",
	"connection webhook by-setting":         "{",
	"token add ci --role operator":          "{",
	"token add help --role viewer --folder hr --folder it --expires 90d": "{",
	"token list":                              "[",
	"token revoke ci":                         "{",
	"sync folder hr":                          "{",
	"sync folder hr --full --wait":            "{",
	"sync folder hr --dry-run":                "{",
	"sync folder hr --dry-run --wait":         "{",
	"sync page hr travel/trains.md":           "{",
	"sync page hr travel/trains.md --wait":    "{",
	"sync all":                                "{",
	"delete page hr travel/trains.md":         "{",
	"delete page hr travel --subtree --wait":  "{",
	"restore page hr travel/trains.md":        "{",
	"restore page hr travel/trains.md --wait": "{",
	"deletes":                       "[",
	"pages hr":                      "[",
	"pages hr --state failed":       "[",
	"pages hr --tree":               "[",
	"page show hr travel/trains.md": "{",
	"page show hr travel/trains.md --markdown":  "{",
	"page show hr travel/trains.md --chunks":    "[",
	"page show hr travel/trains.md --revisions": "[",
	"runs":                               "[",
	"runs hr --limit 3":                  "[",
	"runs show r1":                       "{",
	"runs cancel r1":                     "{",
	"retry hr --class Unavailable":       "{",
	"holds list":                         "[",
	"holds list --all":                   "[",
	"holds show h1":                      "{",
	"holds approve h1":                   "{",
	"holds reject h1":                    "{",
	"schedule show":                      "{",
	"schedule set --timezone Asia/Tokyo": "{",
	"schedule set --jitter 0":            "{",
	"schedule trigger":                   "{",
	"status":                             "{",
	"why drafts/a.md":                    "[",
	"search train ticket --folder hr":    "[",
	"fsck":                               "[",
	"janitor":                            "{",
	"maintenance on":                     "{",
	"maintenance off":                    "{",
	"migrate":                            "{",
	"version":                            "{",
}

func TestEveryCommandAnswersWithExactlyOneJSONDocument(t *testing.T) {
	t.Parallel()
	for line, opening := range everyCommand {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			got := run1(t, furnished(), append(strings.Fields(line), "--json")...)
			assert.Equal(t, exitDone, got.code, got.err)
			document[any](t, got.out)
			assert.Equal(t, opening, got.out[:1])
			assert.Empty(t, got.err)
			assert.NotContains(t, got.out, "+09:00", "times are in UTC")
			assert.Zero(t, got.connections)
		})
	}
}

func TestListCommandsAnswerAnEmptyArrayWhenThereIsNothing(t *testing.T) {
	t.Parallel()
	for line, opening := range everyCommand {
		if opening != "[" || strings.Contains(line, "--chunks") || strings.Contains(line, "--revisions") || strings.HasPrefix(line, "connection list") ||
			strings.HasPrefix(line, "why") {
			continue
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			got := run1(t, &canned{}, append(strings.Fields(line), "--json")...)
			assert.Equal(t, exitDone, got.code, got.err)
			assert.Equal(t, "[]\n", got.out)
		})
	}
}

func TestEveryCommandIsInTheList(t *testing.T) {
	t.Parallel()
	var missing []string
	eachCommand(tree(), func(command *cobra.Command) {
		path := strings.TrimPrefix(command.CommandPath(), "starter ")
		if command.HasSubCommands() && command.Name() != "runs" {
			return
		}
		for line := range everyCommand {
			if line == path || strings.HasPrefix(line, path+" ") {
				return
			}
		}
		missing = append(missing, path)
	})
	assert.Empty(t, missing)
}

func TestEveryCommandHasHelpWorthReading(t *testing.T) {
	t.Parallel()
	eachCommand(tree(), func(command *cobra.Command) {
		assert.NotEmpty(t, command.Short, command.CommandPath())
		assert.Greater(t, len(command.Long), len(command.Short), command.CommandPath())
		assert.True(t, strings.HasPrefix(command.Example, "  starter "), command.CommandPath())
		for line := range strings.SplitSeq(command.Long, "\n") {
			assert.LessOrEqual(t, out.Width(line), 130, command.CommandPath())
		}
	})
}

func TestEveryExampleIsACommandLineThatWorks(t *testing.T) {
	t.Parallel()
	eachCommand(tree(), func(command *cobra.Command) {
		for line := range strings.SplitSeq(command.Example, "\n") {
			got := run1(t, furnished(), words(strings.TrimPrefix(strings.TrimSpace(line), "starter "))...)
			assert.Equal(t, exitDone, got.code, "%s\n%s", line, got.err)
		}
	})
}

// words splits an example as a shell would, up to a pipe.
func words(line string) []string {
	var split []string
	line, _, _ = strings.Cut(line, " | ")
	for i, part := range strings.FieldsFunc(line, func(r rune) bool { return r == '"' || r == '\'' }) {
		if i%2 == 1 {
			split = append(split, part)
		} else {
			split = append(split, strings.Fields(part)...)
		}
	}
	return split
}

func TestOutputForPeople(t *testing.T) {
	t.Parallel()
	for line := range everyCommand {
		if line == "version" {
			continue // differs from build to build
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			got := call{terminals: out.Terminals{Width: 110}}.run(t.Context(), t, furnished(), strings.Fields(line)...)
			assert.Equal(t, exitDone, got.code, got.err)
			assert.NotContains(t, got.out, "\x1b")
			golden(t, line, "$ starter "+line+"\n"+got.out+"--- stderr\n"+got.err)
		})
	}
}

func TestOutputForPeopleWhenThereIsNothing(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"folder list", "pages hr", "pages hr --state held", "deletes", "runs", "holds list", "search x", "status"} {
		d := &canned{status: control.StatusInfo{TemporalOK: true}}
		got := run1(t, d, strings.Fields(line)...)
		assert.Equal(t, exitDone, got.code)
		assert.NotEmpty(t, got.err, line)
	}
}

// golden compares a text with the file of its name in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", strings.NewReplacer(" ", "_", "/", ".", "--", "").Replace(name)+".txt")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

func TestColoursAreForTerminalsOnly(t *testing.T) {
	text.EnableColors()
	got := call{terminals: out.Terminals{Out: true, Err: true, Width: 100}}.run(t.Context(), t, furnished(), "folder", "list")
	assert.Contains(t, got.out, "\x1b[32mactive\x1b[0m")
	assert.Contains(t, got.out, "人事ハンドブック")
	text.DisableColors()
	defer text.EnableColors()
	got = call{terminals: out.Terminals{Out: true, Err: true, Width: 100}}.run(t.Context(), t, furnished(), "folder", "list")
	assert.NotContains(t, got.out, "\x1b")
}

func TestMarkdownIsGivenWithoutWhatSteersATerminal(t *testing.T) {
	t.Parallel()
	d := furnished()
	assert.Equal(t, "# Trains\n\nAsk first.\n", run1(t, d, "page", "show", "hr", "p2", "--markdown").out, "what is piped mostly ends on a terminal")
	shown := call{terminals: out.Terminals{Out: true}}.run(t.Context(), t, d, "page", "show", "hr", "p2", "--markdown")
	assert.Equal(t, "# Trains\n\nAsk first.\n", shown.out)
}

func TestPagesAreAskedForBatchByBatch(t *testing.T) {
	t.Parallel()
	d := &canned{}
	for i := range 2*pageBatch + 1 {
		d.pages = append(d.pages, knowledge.Page{PageID: "p" + strings.Repeat("i", i), FolderID: "hr"})
	}
	got := run1(t, d, "pages", "hr", "--json")
	assert.Len(t, document[[]any](t, got.out), 2*pageBatch+1)
}

func TestACircleInTheTreeIsDrawnOnce(t *testing.T) {
	t.Parallel()
	a, b := "a", "b"
	d := &canned{pages: []knowledge.Page{
		{PageID: "a", ParentPageID: &b, Title: "A", State: "live"},
		{PageID: "b", ParentPageID: &a, Title: "B", State: "live"},
		{PageID: "c", Title: "C", State: "live"},
	}}
	assert.Equal(t, "C\nA\n└─ B\n", run1(t, d, "pages", "hr", "--tree").out)
}

func tree() *cobra.Command {
	return newRoot(&app{Printer: out.New(&strings.Builder{}, &strings.Builder{}, out.Terminals{}, nil)})
}

// eachCommand visits the commands below a root that are ours.
func eachCommand(root *cobra.Command, visit func(*cobra.Command)) {
	for _, command := range root.Commands() {
		visit(command)
		eachCommand(command, visit)
	}
}
