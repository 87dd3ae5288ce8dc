package notion_test

import (
	"context"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
	"github.com/loresync/loresync/internal/source/sourcetest"
	"github.com/loresync/loresync/internal/source/transport"
)

func TestNotionConformsToSource(t *testing.T) {
	t.Parallel()
	sourcetest.Run(t, func(t *testing.T) sourcetest.Fixture {
		t.Helper()
		return newSpace(t, notiontest.ServerOptions{})
	})
}

// space is a workspace behind a stand-in server, as the conformance suite sees it: a page is a Notion page, a container a page
// that nobody put.
type space struct {
	*notiontest.Workspace
	t      testing.TB
	server *notiontest.Server
	clock  *notiontest.Clock
	src    *notion.Source
	root   source.Root
	ids    map[string]string
	// containers are the paths of pages that were made to hold others.
	containers map[string]bool
}

func newSpace(tb testing.TB, options notiontest.ServerOptions) *space {
	tb.Helper()
	clock := notiontest.NewClock(time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC))
	workspace := notiontest.New(notiontest.Options{Seed: 1, Clock: clock})
	server := notiontest.NewServer(workspace, options)
	url, err := server.Start()
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, server.Close()) })
	config := notion.Transport("notion", nil)
	config.Backoff, config.MaxBackoff = time.Millisecond, 10*time.Millisecond
	src := notion.New(notion.Options{
		BaseURL: url, BatchSize: 7, Transport: transport.New(config),
		Token: func(context.Context) (string, error) { return server.Token(), nil },
	})
	return &space{
		Workspace: workspace, t: tb, server: server, clock: clock, src: src,
		root: source.Root{FolderID: "hr", Ref: notion.Workspace}, ids: map[string]string{}, containers: map[string]bool{},
	}
}

func (s *space) Source() source.Source { return s.src }

func (s *space) Root() source.Root { return s.root }

// parent makes the pages above a path.
func (s *space) parent(at string) string {
	dir := path.Dir(at)
	if dir == "." {
		return ""
	}
	if id, made := s.ids[dir]; made {
		return id
	}
	id, err := s.AddPage(s.parent(dir), path.Base(dir))
	require.NoError(s.t, err)
	s.ids[dir], s.containers[dir] = id, true
	return id
}

func (s *space) Put(at, text string) string {
	var blocks []notiontest.Block
	if text != "" {
		blocks = append(blocks, notiontest.Paragraph(notiontest.Text(text)))
	}
	if id, made := s.ids[at]; made && !s.containers[at] {
		require.NoError(s.t, s.Edit(id, blocks...))
		return id
	}
	id, err := s.AddPage(s.parent(at), path.Base(at), blocks...)
	require.NoError(s.t, err)
	s.ids[at] = id
	return id
}

func (s *space) Remove(at string) {
	require.NoError(s.t, s.Delete(s.ids[at]))
	delete(s.ids, at)
}

func (s *space) Rename(from, to string) string {
	id := s.ids[from]
	require.NoError(s.t, s.Move(id, s.parent(to)))
	require.NoError(s.t, s.Workspace.Rename(id, path.Base(to)))
	delete(s.ids, from)
	s.ids[to] = id
	return id
}

func (s *space) IsContainer(sourceID string) bool {
	for at := range s.containers {
		if s.ids[at] == sourceID {
			return true
		}
	}
	return false
}

func (s *space) PassTime() { s.clock.Advance(3 * time.Minute) }

// Allows leaves out names that are not titles: Notion trims them.
func (*space) Allows(at string) bool {
	for name := range strings.SplitSeq(at, "/") {
		if strings.TrimSpace(name) != name {
			return false
		}
	}
	return true
}
