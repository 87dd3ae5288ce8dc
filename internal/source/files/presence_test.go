package files_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/files"
)

func presence(t *testing.T, s source.Source, d *dir, id string) source.Presence {
	t.Helper()
	answer, err := s.Presence(t.Context(), d.root(), id)
	require.NoError(t, err)
	return answer
}

func TestPresence(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	d.write("page.md", "text")
	d.write("guide/page.md", "text")
	d.write("assets/logo.svg", "text")
	d.write(".hidden/page.md", "text")
	d.write("notes.docx", "text")
	d.write("closed/page.md", "text")
	require.NoError(t, os.Mkdir(d.at("hollow"), 0o755))
	require.NoError(t, os.Chmod(d.at("closed"), 0))
	t.Cleanup(func() { _ = os.Chmod(d.at("closed"), 0o755) })
	s := newUnprivileged(files.Options{})
	for id, want := range map[string]source.Presence{
		"page.md":         source.PresenceAlive,
		"guide":           source.PresenceAlive,
		"guide/page.md":   source.PresenceAlive,
		"none.md":         source.PresenceGone,
		"none/page.md":    source.PresenceGone,
		"page.md/page.md": source.PresenceGone,
		".hidden/page.md": source.PresenceMoved,
		"notes.docx":      source.PresenceMoved,
		"assets":          source.PresenceMoved,
		"hollow":          source.PresenceMoved,
		"closed":          source.PresenceUnknown,
		"closed/page.md":  source.PresenceUnknown,
		"../page.md":      source.PresenceUnknown,
		"":                source.PresenceUnknown,
	} {
		require.Equal(t, want, presence(t, s, d, id), "%q", id)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	s := files.New(files.Options{})
	root := source.Root{Ref: "/srv/my docs"}
	for ref, want := range map[string]string{
		"page.md":                                "page.md",
		"./guide//page.md/":                      "guide/page.md",
		"guide/../page.md":                       "page.md",
		"guide/":                                 "guide",
		"page.md\n":                              "page.md",
		"100% sure.md":                           "100% sure.md",
		"%~a%FF.md":                              "%~a%FF.md",
		"%~plain.md":                             "%~%25~plain.md",
		"/srv/my docs/guide/page.md":             "guide/page.md",
		"/srv/my docs/./guide/":                  "guide",
		"/srv/my docs/a\xff.md":                  "%~a%FF.md",
		"file:///srv/my%20docs/a%20b.md":         "a b.md",
		"file://localhost/srv/my%20docs/p.md":    "p.md",
		"FILE:///srv/my%20docs/100%25.md#part":   "100%.md",
		"file:///srv/my%20docs/a%FF.md":          "%~a%FF.md",
		"file:///srv/my%20docs/guide/../page.md": "page.md",
	} {
		id, ok := s.Resolve(root, ref)
		require.True(t, ok, "%q", ref)
		require.Equal(t, want, id, "%q", ref)
	}
	for _, ref := range []string{
		"", ".", "/", "..", "../page.md", "guide/../../page.md", "/srv/my docs", "/srv/my docs/", "/srv/my docsx/page.md", "/etc/passwd",
		"/srv/my docs/../page.md", "file:///etc/passwd", "file://server/srv/my%20docs/p.md", "file:///srv/my%20docs/%zz",
		"file:///srv/my%20docs/../page.md", "https://example.com/page.md", "a\x00b.md", ".git/page.md", "guide/.page.md",
		strings.Repeat("long/", 500) + "page.md",
	} {
		id, ok := s.Resolve(root, ref)
		require.False(t, ok, "%q must not resolve to %q", ref, id)
	}
	id, ok := s.Resolve(source.Root{Ref: "/"}, "/etc/motd.txt")
	require.True(t, ok)
	require.Equal(t, "etc/motd.txt", id)
}
