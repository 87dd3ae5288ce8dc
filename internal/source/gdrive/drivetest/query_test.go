package drivetest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

// library is a Drive whose files the queries below tell apart.
func library(t *testing.T) (s stand, folder string) {
	t.Helper()
	clock := drivetest.NewClock(start())
	s = newStand(t, drivetest.Options{Clock: clock})
	folder = drivetest.Must(s.AddFolder("", "Plans"))
	drivetest.Must(s.AddDoc(folder, "HelloWorld", "The quick brown fox"))
	clock.Advance(time.Hour)
	drivetest.Must(s.AddFile("", "O'Brien's \\ notes.txt", "text/plain", []byte("a brown quick dog")))
	trashed := drivetest.Must(s.AddFile("", "old report.pdf", "application/pdf", []byte("%PDF quick")))
	require.NoError(t, s.Trash(trashed))
	return s, folder
}

func TestQueries(t *testing.T) {
	t.Parallel()
	s, folder := library(t)
	const plans, hello, notes, old = "Plans", "HelloWorld", `O'Brien's \ notes.txt`, "old report.pdf"
	cases := []struct {
		q    string
		want []string
	}{
		{"", []string{plans, hello, notes, old}},
		{"trashed = false", []string{plans, hello, notes}},
		{"trashed != false", []string{old}},
		{"not trashed = true", []string{plans, hello, notes}},
		{"'" + folder + "' in parents", []string{hello}},
		{"'root' in parents and trashed=false", []string{plans, notes}},
		{"name = 'HelloWorld'", []string{hello}},
		{"name = 'helloworld'", nil},
		{"name contains 'hello'", []string{hello}},
		{"name contains 'World'", nil},
		{"name contains 'rep'", []string{old}},
		{`name = 'O\'Brien\'s \\ notes.txt'`, []string{notes}},
		{"name != 'Plans' and trashed = false", []string{hello, notes}},
		{"mimeType = '" + drivetest.MimeFolder + "'", []string{plans}},
		{"mimeType contains 'application/vnd.google-apps'", []string{plans, hello}},
		{"fullText contains 'quick'", []string{hello, notes}},
		{"fullText contains 'qui'", nil},
		{"fullText contains 'fox the'", []string{hello}},
		{`fullText contains '"quick brown"'`, []string{hello}},
		{"modifiedTime > '2026-07-04T09:30:00'", []string{notes, old}},
		{"modifiedTime <= '2026-07-04T11:30:00+02:00'", []string{plans, hello}},
		{"createdTime = '2026-07-04T10:08:57.778Z'", []string{notes, old}},
		{"sharedWithMe", nil},
		{"'owner@example.org' in owners and mimeType = 'application/pdf'", []string{old}},
		{"'loresync@stand-in.iam.gserviceaccount.com' in readers and name = 'Plans'", []string{plans}},
		{"'loresync@stand-in.iam.gserviceaccount.com' in writers", nil},
		{"visibility = 'limited' and name = 'Plans'", []string{plans}},
		{"properties has { key='a' and value='b' }", nil},
		// From the left to the right: (A or B) and C, (A and B) or C.
		{"name = 'Plans' or name = 'HelloWorld' and mimeType = 'application/pdf'", nil},
		{"name = 'Plans' and mimeType = 'application/pdf' or name = 'HelloWorld'", []string{hello}},
		{"name = 'Plans' or (name = 'HelloWorld' and trashed = false)", []string{plans, hello}},
		{"not (name = 'Plans' or name = 'HelloWorld')", []string{notes, old}},
	}
	for _, c := range cases {
		t.Run(c.q, func(t *testing.T) {
			t.Parallel()
			assert.ElementsMatch(t, c.want, names(t, s.owner().Files.List().Q(c.q)))
		})
	}
}

func TestQueriesThatAreRefused(t *testing.T) {
	t.Parallel()
	s, _ := library(t)
	for _, q := range []string{
		"name", "name =", "name = Plans", `name = "Plans"`, "name = 'Plans", `name = 'a\nb'`, "name > 'a'", "name has 'a'", "title = 'a'",
		"Name = 'a'", "name = 'a' AND trashed = false", "name = 'a' name = 'b'", "name = 'a' and", "and name = 'a'", "(name = 'a'",
		"name = 'a')", "not", "trashed", "trashed = 'false'", "trashed = maybe", "trashed > false", "'a' in", "'a' in children",
		"a in parents", "modifiedTime > '12/24/2026'", "modifiedTime contains '2026'", "modifiedTime > 2026", "mimeType in 'a'",
		"fullText = 'a'", "! trashed", "name == 'a'", "visibility = 'secret'", "properties has { key='a' }", "name 'contains' 'a'",
		strings.Repeat("(", 200) + "trashed = true" + strings.Repeat(")", 200),
	} {
		t.Run(q, func(t *testing.T) {
			t.Parallel()
			_, err := s.owner().Files.List().Q(q).Do()
			requireStatus(t, err, 400, drivetest.Invalid)
		})
	}
}

// TestAQueryForAFolderThatIsNotThere has Drive's odd message: the folder isn't named.
func TestAQueryForAFolderThatIsNotThere(t *testing.T) {
	t.Parallel()
	s, folder := library(t)
	_, err := s.account().Files.List().Q("'1nothing' in parents").Do()
	notFound(t, err)
	_, _, message := refused(t, err)
	assert.Equal(t, "File not found: .", message)
	require.NoError(t, s.LoseAccess(folder, s.ServiceAccount()))
	_, err = s.account().Files.List().Q("'" + folder + "' in parents and trashed = false").Do()
	notFound(t, err)
}

// TestAnyNameIsFoundByItself writes names of any characters into queries, escaped as Drive wants it.
func TestAnyNameIsFoundByItself(t *testing.T) {
	t.Parallel()
	s := newStand(t, drivetest.Options{})
	owner := s.owner()
	id := drivetest.Must(s.AddFolder("", "x"))
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z'\\"() ü語\n%&]{1,12}`).Draw(t, "name")
		require.NoError(t, s.Rename(id, name))
		escaped := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(name)
		list, err := owner.Files.List().Q("name = '" + escaped + "'").Do()
		require.NoError(t, err)
		require.Len(t, list.Files, 1)
		require.Equal(t, name, list.Files[0].Name)
		list, err = owner.Files.List().Q("not name = '" + escaped + "'").Do()
		require.NoError(t, err)
		require.Empty(t, list.Files)
	})
}

// FuzzQuery sends queries of any kind: each is answered or refused, and never more than a refusal.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{
		"name contains 'a' and not (trashed = true or 'root' in parents)", `name = 'a\'b\\c'`, "((", "'", `'\`, "sharedWithMe and x",
		"modifiedTime > '2026-11-01T00:00:00'", "properties has { key='a' and value='b' }", "not (not trashed = true)",
	} {
		f.Add(seed)
	}
	server := drivetest.New(drivetest.Options{})
	f.Cleanup(server.Close)
	drivetest.Must(server.AddFolder("", "a"))
	f.Fuzz(func(t *testing.T, q string) {
		s := stand{Server: server, t: t}
		if _, err := s.owner().Files.List().Q(q).Do(); err != nil {
			status, _, _ := refused(t, err)
			assert.Contains(t, []int{400, 404}, status)
		}
		last := s.Requests(drivetest.KindList)
		assert.True(t, slices.ContainsFunc(last, func(r drivetest.Request) bool { return r.Query.Get("q") == q || q == "" }))
	})
}
