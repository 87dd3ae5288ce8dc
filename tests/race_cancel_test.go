package tests

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/content/embed"
	"github.com/loresync/loresync/internal/content/model"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
	"github.com/loresync/loresync/internal/source/sourcetest"
	"github.com/loresync/loresync/internal/testenv"
	"github.com/loresync/loresync/workflows"
)

// stuckEmbedder is a remote model that doesn't answer until it is freed; with deaf, not even to a context that has ended.
type stuckEmbedder struct {
	embed.Lexical
	deaf  bool
	asked chan struct{}
	freed chan struct{}
}

func newStuckEmbedder(deaf bool) *stuckEmbedder {
	return &stuckEmbedder{deaf: deaf, asked: make(chan struct{}, 1000), freed: make(chan struct{})}
}

func (*stuckEmbedder) Remote() bool { return true }

func (e *stuckEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	e.asked <- struct{}{}
	if e.deaf {
		ctx = context.WithoutCancel(ctx)
	}
	select {
	case <-e.freed:
		return e.Lexical.Embed(ctx, texts)
	case <-ctx.Done():
		return nil, &model.Error{Retryable: true, Sentence: "the request was interrupted", Err: ctx.Err()}
	}
}

// distant is a source on this machine that calls itself remote, so that its reads are activities of their own.
type distant struct{ source.Source }

func (s distant) Traits() source.Traits {
	traits := s.Source.Traits()
	traits.Remote = true
	return traits
}

// stuck is a rig whose next sync of a page hangs, until free.
type stuck struct {
	*rig
	// hang asks for the nth page and returns when its sync hangs.
	hang func(n int) (page string)
	free func()
}

// stuckInARead hangs in the read: at hand, in a local step; remote, in an activity.
func stuckInARead(t testing.TB, remote, deaf bool) *stuck {
	t.Helper()
	var gate *sourcetest.Gate
	r := newRig(t, patiently, throughSource(func(s source.Source) source.Source {
		gate = sourcetest.NewGate(s)
		if remote {
			return distant{gate.Source()}
		}
		return gate.Source()
	}))
	gate.IgnoreCancel(deaf)
	return &stuck{rig: r, free: func() { gate.Open() }, hang: func(n int) string {
		gate.Open() // the registration of a page looks at it too
		path := fmt.Sprintf("%d.md", n)
		r.put(path, "# A page\n\ntext\n")
		page, err := r.ResolvePage(t.Context(), folderID, path, true)
		require.NoError(t, err)
		gate.Hold()
		begun := gate.Begun(path)
		require.NoError(t, r.RequestPageSync(t.Context(), folderID, page.PageID, knowledge.LanePerson))
		require.NoError(t, gate.AwaitBegun(t.Context(), path, begun+1))
		return page.PageID
	}}
}

// stuckInAModel hangs in the embedding call.
func stuckInAModel(t testing.TB, deaf bool) *stuck {
	t.Helper()
	embedder := newStuckEmbedder(deaf)
	r := newRig(t, patiently, func(r *rig) { r.embedder.Embedder = embedder })
	free := sync.OnceFunc(func() { close(embedder.freed) })
	t.Cleanup(free)
	return &stuck{rig: r, free: free, hang: func(n int) string {
		path := fmt.Sprintf("%d.md", n)
		r.put(path, fmt.Sprintf("# A page\n\ntext number %d\n", n))
		answer, err := r.SyncPage(t.Context(), folderID, path, person)
		require.NoError(t, err)
		<-embedder.asked
		return answer.PageID
	}}
}

// stuckAtTheRateLimit hangs in the wait for a slot: the vendor wants nothing for nearly a minute.
func stuckAtTheRateLimit(t testing.TB) *stuck {
	t.Helper()
	pages := make([]string, 60)
	w := newWikiAt(t, 2000, notiontest.ServerOptions{}, notion.Workspace, func(space *notiontest.Workspace) {
		for i := range pages {
			pages[i] = notiontest.Must(space.AddPage("", fmt.Sprintf("Page %d", i), paragraph("text")))
		}
	})
	require.Len(t, pages, int(w.synced().New))
	slots := w.store.Slots(2000, 100)
	return &stuck{rig: w.rig, free: func() {}, hang: func(n int) string {
		require.NoError(t, slots.Block(t.Context(), notion.Name, 55*time.Second))
		requests := w.server.Count()
		require.NoError(t, w.RequestPageSync(t.Context(), folderID, w.page(pages[n]).PageID, knowledge.LanePerson))
		testenv.Eventually(t, patience, func() bool { return w.count(`SELECT count(*) FROM in_flight`) == 1 }, "the page is being read")
		require.Equal(t, requests, w.server.Count(), "and waits for its slot")
		return w.page(pages[n]).PageID
	}}
}

// stuckSyncs are the ways in which a sync hangs, and whether only the ladder ends it.
var stuckSyncs = []struct {
	name   string
	start  func(t testing.TB) *stuck
	ladder bool
}{
	{"in a slow read of a file", func(t testing.TB) *stuck { t.Helper(); return stuckInARead(t, false, false) }, false},
	{"in a slow read of a vendor", func(t testing.TB) *stuck { t.Helper(); return stuckInARead(t, true, false) }, false},
	{"in an embedding call", func(t testing.TB) *stuck { t.Helper(); return stuckInAModel(t, false) }, false},
	{"in a rate-limit wait", func(t testing.TB) *stuck { t.Helper(); return stuckAtTheRateLimit(t) }, false},
	{"in a read of a vendor that ignores its context", func(t testing.TB) *stuck { t.Helper(); return stuckInARead(t, true, true) }, true},
	{"in an embedding call that ignores its context", func(t testing.TB) *stuck { t.Helper(); return stuckInAModel(t, true) }, true},
}

func TestRule5AStuckSyncEndsSoonAfterADelete(t *testing.T) {
	t.Parallel()
	for _, c := range stuckSyncs {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := c.start(t)
			page := s.hang(0)
			begun := time.Now()
			deleted, err := s.DeletePage(t.Context(), folderID, page, control.DeleteOptions{}, person)
			require.NoError(t, err)
			assert.Equal(t, "completed", s.wait(deleted, nil).Status)
			t.Logf("ended after %s", time.Since(begun).Round(time.Millisecond))
			assert.Zero(t, s.count(`SELECT count(*) FROM in_flight`))
			assert.Zero(t, s.count(`SELECT count(*) FROM revisions WHERE state = 'staged'`))
			var result workflows.DeleteResult
			require.NoError(t, s.temporal.GetWorkflow(t.Context(), deleted.WorkflowID, "").Get(t.Context(), &result))
			assert.Equal(t, c.ladder, result.Terminated > 0, "ended by the ladder: %+v", result)
			s.free()
			s.clean()
		})
	}
}

func TestRule5NoVendorRequestAfterAnAccept(t *testing.T) {
	t.Parallel()

	t.Run("of a page whose read is under way", func(t *testing.T) {
		t.Parallel()
		var page string
		w := newWiki(t, notiontest.ServerOptions{}, notion.Workspace, func(space *notiontest.Workspace) {
			page = notiontest.Must(space.AddPage("", "Long", notiontest.Toggle(notiontest.Text("More")).With(paragraph("inside"))))
		})
		held := w.server.Hold(notiontest.OfKind(notiontest.KindChildren))
		_, err := w.SyncPage(t.Context(), folderID, page, person)
		require.NoError(t, err)
		require.NoError(t, held.Await(t.Context(), 1))
		requests := w.server.Count()
		deleted, err := w.DeletePage(t.Context(), folderID, page, control.DeleteOptions{}, person)
		require.NoError(t, err)
		held.Release()
		assert.Equal(t, "completed", w.wait(deleted, nil).Status)
		assert.Equal(t, requests, w.server.Count(), "the one that was on its way, and none after it")
		w.clean()
	})

	t.Run("of a folder that is being crawled", func(t *testing.T) {
		t.Parallel()
		const rate, n = 40, 120
		w := newWikiAt(t, rate, notiontest.ServerOptions{}, notion.Workspace, wide(t, n))
		_, err := w.SyncFolder(t.Context(), folderID, knowledge.ModeFull, person)
		require.NoError(t, err)
		testenv.Eventually(t, patience, func() bool { return w.server.Count(notiontest.KindChildren) > n/10 }, "the crawl is under way")
		deleted, err := w.DeleteFolder(t.Context(), folderID, false, person)
		require.NoError(t, err)
		requests := w.server.Count()
		assert.Equal(t, "completed", w.wait(deleted, nil).Status)
		assert.LessOrEqual(t, w.server.Count()-requests, 1, "one process, which may have taken a slot already")
		w.clean()
	})
}
