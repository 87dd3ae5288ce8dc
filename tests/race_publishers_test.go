package tests

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
)

// publishers publish pages of their own without a pause, from four processes' worth of connections, until they are refused.
func (r *rig) publishers(n int) (published *atomic.Int64, done *sync.WaitGroup) {
	r.t.Helper()
	published, done = &atomic.Int64{}, &sync.WaitGroup{}
	pools := make([]*store.Store, 4)
	for i := range pools {
		st, err := store.Open(r.t.Context(), r.url, store.Options{})
		require.NoError(r.t, err)
		r.t.Cleanup(st.Close)
		pools[i] = st
	}
	for i := range n {
		path := fmt.Sprintf("%02d.md", i)
		r.put(path, "# A page\n\ntext\n")
		page, err := r.ResolvePage(r.t.Context(), folderID, path, true)
		require.NoError(r.t, err)
		done.Go(func() {
			for publishOnce(r.t.Context(), pools[i%len(pools)], page.PageID) {
				published.Add(1)
			}
		})
	}
	return published, done
}

func publishOnce(ctx context.Context, st *store.Store, page string) bool {
	begun, err := st.BeginPageSync(ctx, folderID, page, pageSyncOf(page), "first", "run", knowledge.LaneBackfill)
	if err != nil || begun.Outcome != "begun" {
		return false
	}
	published, err := st.PublishUnchanged(ctx, knowledge.Holder{Folder: folderID, Page: page, Token: begun.Token}, knowledge.Reading{Title: "T"})
	return err == nil && published.Outcome == "unchanged"
}

func TestRule4AFolderIsDeletedUnder64Publishers(t *testing.T) {
	t.Parallel()
	r := newRig(t, withoutWorker)
	const n = 64
	published, done := r.publishers(n)
	testenv.Eventually(t, patience, func() bool { return published.Load() > 4*n }, "all of them publish")
	begun := time.Now()
	accepted, err := r.store.AcceptFolderDelete(t.Context(), store.DeleteRequest{Folder: folderID, Who: "eve", WorkflowID: "w", Undo: time.Hour})
	took := time.Since(begun)
	require.NoError(t, err, "nobody pauses for it, and it comes in between all the same")
	assert.Equal(t, "accepted", accepted.Outcome)
	done.Wait()
	t.Logf("accepted in %s, after %d publishes", took.Round(time.Millisecond), published.Load())
	assert.Zero(t, r.count(`SELECT count(*) FROM in_flight WHERE NOT cancel_requested`), "each of them was asked to stop, or refused")
}
