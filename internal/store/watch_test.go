package store_test

import (
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

const (
	week    = 7 * 24 * time.Hour
	lasting = time.Minute
)

// claim asks for the opening of a channel on a log of the connection gdrive, and gives the id of the channel.
func (d *desk) claim(log, address string) (id string, claimed bool) {
	d.t.Helper()
	id = uuid.NewString()
	hash := sha256.Sum256([]byte("token of " + id))
	claimed, err := d.ClaimWatch(d.t.Context(), knowledge.WatchClaim{
		Connection: "gdrive", Log: log, ChannelID: id, TokenHash: hash[:], Address: address, Life: week, Lasting: lasting,
	})
	require.NoError(d.t, err)
	return id, claimed
}

// opens makes an open channel on a log, which ends after a life.
func (d *desk) opens(log string, life time.Duration) string {
	d.t.Helper()
	id, _ := d.opensAt(log, "https://lore.test", life)
	return id
}

func (d *desk) opensAt(log, address string, life time.Duration) (id, outcome string) {
	d.t.Helper()
	id, claimed := d.claim(log, address)
	require.True(d.t, claimed)
	outcome, err := d.OpenWatch(d.t.Context(), id, "resource of "+log, time.Now().Add(life))
	require.NoError(d.t, err)
	return id, outcome
}

func (d *desk) idle() []string {
	d.t.Helper()
	taken, err := d.TakeIdleChannels(d.t.Context(), 100)
	require.NoError(d.t, err)
	ids := make([]string, len(taken))
	for i, channel := range taken {
		ids[i] = channel.ChannelID
	}
	return ids
}

func TestALogIsClaimedByOne(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var claims atomic.Int32
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			hash := sha256.Sum256(nil)
			claimed, err := d.ClaimWatch(t.Context(), knowledge.WatchClaim{
				Connection: "gdrive", Log: "user", ChannelID: uuid.NewString(), TokenHash: hash[:], Address: "a", Life: week, Lasting: lasting,
			})
			if err != nil {
				t.Errorf("claim: %v", err)
			}
			if claimed {
				claims.Add(1)
			}
		})
	}
	group.Wait()
	assert.EqualValues(t, 1, claims.Load())
	assert.Equal(t, 1, d.count(`SELECT count(*) FROM watch_channels`))
	_, claimed := d.claim("drive-1", "a")
	assert.True(t, claimed, "another log is another claim")

	d.exec(`UPDATE watched_logs SET claimed_until = now() - interval '1 second'`)
	_, claimed = d.claim("user", "a")
	assert.True(t, claimed, "a claim ends with the process that made it")
}

func TestAChannelIsRenewedBeforeItsEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		life, before time.Duration
	}{
		"a fifth of a week before": {week, week / 5},
		"an hour at least":         {3 * time.Hour, time.Hour},
		"half of a short life":     {time.Hour, 30 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.opens("user", c.life)
			watches, err := d.Watches(t.Context(), "gdrive")
			require.NoError(t, err)
			require.Len(t, watches, 1)
			assert.InDelta(t, c.before.Seconds(), watches[0].ExpiresAt.Sub(*watches[0].RenewAt).Seconds(), 30)
		})
	}
}

func TestANewChannelTakesThePlaceOfTheOld(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	old := d.opens("user", week)
	_, claimed := d.claim("user", "https://lore.test")
	assert.False(t, claimed, "it isn't due")
	assert.Empty(t, d.idle())

	d.exec(`UPDATE watched_logs SET renew_at = now()`)
	next := d.opens("user", week)
	assert.Equal(t, []string{old}, d.idle(), "the old one goes once the new one is open")
	assert.Empty(t, d.idle(), "who took it has a while to close it")
	d.exec(`UPDATE watch_channels SET stop_after = now()`)
	assert.Equal(t, []string{old}, d.idle(), "and another tries again")
	require.NoError(t, d.StopChannel(ctx, old))
	d.exec(`UPDATE watch_channels SET stop_after = now()`)
	assert.Empty(t, d.idle())

	for _, id := range []string{old, next} {
		channel, err := d.WatchChannel(ctx, id)
		require.NoError(t, err)
		assert.False(t, channel.Expired, "calls of both are believed until their end")
		assert.Equal(t, [3]string{"gdrive", "gdrive", "user"}, [3]string{channel.Connection, channel.Source, channel.Log})
	}
	d.exec(`UPDATE watch_channels SET expires_at = now()`)
	channel, err := d.WatchChannel(ctx, old)
	require.NoError(t, err)
	assert.True(t, channel.Expired)

	moved, claimed := d.claim("user", "https://elsewhere.test")
	require.True(t, claimed, "another address needs another channel")
	d.exec(`UPDATE watch_channels SET expires_at = now() - interval '2 days' WHERE channel_id <> $1`, moved)
	dropped, err := d.DropEndedChannels(ctx)
	require.NoError(t, err)
	assert.EqualValues(t, 1, dropped, "what counted last stays to be shown")
	_, err = d.WatchChannel(ctx, old)
	require.ErrorIs(t, err, store.ErrNotFound)
}

func TestAChannelIsTheFirstUnlessAnotherWasOpenUntilNow(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	opens := func(address string) string {
		_, outcome := d.opensAt("user", address, week)
		d.exec(`UPDATE watched_logs SET renew_at = now()`)
		return outcome
	}
	assert.Equal(t, "first", opens("a"))
	assert.Equal(t, "next", opens("a"))
	assert.Equal(t, "first", opens("b"), "nobody may have heard the one with another address")
	d.exec(`UPDATE watch_channels SET expires_at = now()`)
	assert.Equal(t, "first", opens("b"), "the one before had ended")
}

func TestAChannelWhoseSourceTellsNoEndIsOpenForAnHour(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	id, _ := d.claim("user", "https://lore.test")
	_, err := d.OpenWatch(t.Context(), id, "resource", time.Time{})
	require.NoError(t, err)
	assert.Equal(t, 1, d.count(`SELECT count(*) FROM watch_channels WHERE expires_at - opened_at = interval '1 hour'`))
}

func TestAChannelThatComesLateIsGivenUp(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	late, _ := d.claim("user", "https://lore.test")
	d.exec(`UPDATE watched_logs SET claimed_until = now() - interval '1 second'`)
	next := d.opens("user", week)
	for range 2 {
		outcome, err := d.OpenWatch(ctx, late, "resource", time.Now().Add(week))
		require.NoError(t, err)
		assert.Equal(t, "late", outcome)
	}
	assert.Equal(t, []string{late}, d.idle())
	again, err := d.OpenWatch(ctx, next, "resource", time.Now().Add(week))
	require.NoError(t, err)
	assert.Equal(t, "next", again, "a second word on the one that counts changes nothing")
	assert.Equal(t, 1, d.count(`SELECT count(*) FROM watch_channels WHERE opened_at IS NOT NULL AND retired_at IS NULL`))
}

func TestAChannelThatDoesNotOpenIsTriedAgainLaterAndLater(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	fail := func(refused bool, after time.Duration) string {
		id, claimed := d.claim("user", "https://lore.test")
		require.True(t, claimed)
		require.NoError(t, d.FailWatch(t.Context(), knowledge.WatchFailure{ChannelID: id, Sentence: "the address is refused", Refused: refused, RetryAfter: after}))
		_, claimed = d.claim("user", "https://lore.test")
		assert.False(t, claimed, "it isn't time yet")
		return id
	}
	wait := func() time.Duration {
		watches, err := d.Watches(t.Context(), "gdrive")
		require.NoError(t, err)
		require.Len(t, watches, 1)
		w := watches[0]
		assert.Equal(t, "failed", w.State)
		assert.Equal(t, "the address is refused", w.Sentence)
		d.exec(`UPDATE watched_logs SET next_try_at = now()`)
		return w.NextTryAt.Sub(*w.FailedAt).Round(time.Second)
	}
	fail(true, 0)
	assert.Equal(t, time.Minute, wait())
	fail(true, 0)
	assert.Equal(t, 2*time.Minute, wait())
	fail(true, 4*time.Hour)
	assert.Equal(t, 4*time.Hour, wait(), "the source's own wish")
	for range 8 {
		fail(true, 0)
		d.exec(`UPDATE watched_logs SET next_try_at = now() WHERE failures < 11`)
	}
	assert.Equal(t, time.Hour, wait(), "at most an hour")
	assert.Zero(t, d.count(`SELECT count(*) FROM watch_channels`), "what was refused isn't there")

	doubtful := fail(false, 0)
	assert.Empty(t, d.idle(), "nobody knows how the source names it")
	require.NoError(t, d.NoteCall(t.Context(), doubtful, "resource"))
	assert.Equal(t, []string{doubtful}, d.idle(), "until it calls")

	d.exec(`UPDATE watched_logs SET next_try_at = now()`)
	d.opens("user", week)
	watches, err := d.Watches(t.Context(), "gdrive")
	require.NoError(t, err)
	assert.Zero(t, watches[0].Failures)
	assert.Empty(t, watches[0].Sentence)
	assert.Equal(t, "waiting", watches[0].State)
}

func TestAnOpeningThatNobodyEndedIsClosedWhenItCalls(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	id, _ := d.claim("user", "https://lore.test")
	require.NoError(t, d.NoteCall(ctx, id, "resource"))
	assert.Empty(t, d.idle(), "somebody may be at it")
	d.exec(`UPDATE watched_logs SET claimed_until = now() - interval '1 second'`)
	assert.Equal(t, []string{id}, d.idle())
}

func TestChannelsOfLogsThatNobodyNeedsAreRetired(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	d.exec(`INSERT INTO connections (name, source) VALUES ('drive-2', 'gdrive')`)
	user, drive := d.opens("user", week), d.opens("drive-1", week)
	opening, _ := d.claim("drive-2", "https://lore.test")
	require.NoError(t, d.RetireWatches(ctx, []string{"gdrive", "drive-2"}, []string{"user", "drive-1"}, nil))
	assert.Equal(t, []string{drive}, d.idle(), "the same log of another connection is another log")
	assert.Equal(t, 1, d.count(`SELECT count(*) FROM watched_logs WHERE claim = $1`, opening), "what is being opened is left for the next time")

	require.NoError(t, d.RetireWatches(ctx, nil, nil, []string{"gdrive"}))
	assert.Empty(t, d.idle(), "a connection that can't tell keeps what it has")
	require.NoError(t, d.RetireWatches(ctx, nil, nil, nil))
	assert.Equal(t, []string{user}, d.idle())
	watches, err := d.Watches(ctx, "gdrive")
	require.NoError(t, err)
	require.Len(t, watches, 1)
	assert.Equal(t, "opening", watches[0].State)
}

func TestCallsAreNoted(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	id := d.opens("user", week)
	watch := func() knowledge.Watch {
		watches, err := d.Watches(ctx, "gdrive")
		require.NoError(t, err)
		require.Len(t, watches, 1)
		return watches[0]
	}
	assert.Nil(t, watch().HeardAt)
	require.NoError(t, d.NoteCall(ctx, id, "another name"))
	first := watch()
	assert.Equal(t, "active", first.State)
	assert.NotNil(t, first.HeardAt)
	channel, err := d.WatchChannel(ctx, id)
	require.NoError(t, err)
	assert.Equal(t, "resource of user", channel.ResourceID, "the source's answer counts")
	hash := sha256.Sum256([]byte("token of " + id))
	assert.Equal(t, hash[:], channel.TokenHash)
	require.NoError(t, d.NoteCall(ctx, id, ""))
	assert.Equal(t, first.HeardAt, watch().HeardAt, "one note a second")
	d.exec(`UPDATE watch_channels SET expires_at = now() - interval '1 day'`)
	assert.Equal(t, "expired", watch().State)
	_, err = d.WatchChannel(ctx, uuid.NewString())
	require.ErrorIs(t, err, store.ErrNotFound)
}

func TestFoldersNeedALogOnlyWhileTheyAreActiveAndListed(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	needing := func() int {
		folders, err := d.WatchedFolders(ctx)
		require.NoError(t, err)
		targets, err := d.LogTargets(ctx, "files", nil, nil, time.Minute)
		require.NoError(t, err)
		assert.Len(t, targets, len(folders))
		return len(folders)
	}
	assert.Zero(t, needing(), "without a checkpoint nothing is known")
	require.NoError(t, d.RememberListing(ctx, d.listed(doc("a.md", "1")), "checkpoint"))
	assert.Equal(t, 1, needing())
	for _, paused := range []bool{true, false} {
		_, err := d.PauseFolder(ctx, folder, paused, "mika")
		require.NoError(t, err)
		assert.Equal(t, map[bool]int{true: 0, false: 1}[paused], needing())
	}
	for _, paused := range []bool{true, false} {
		_, err := d.PauseConnection(ctx, "files", paused, "", "mika")
		require.NoError(t, err)
		assert.Equal(t, map[bool]int{true: 0, false: 1}[paused], needing())
	}
	_, err := d.AcceptFolderDelete(ctx, store.DeleteRequest{Folder: folder, Who: "mika", WorkflowID: "folder/hr/delete", Undo: undo})
	require.NoError(t, err)
	assert.Zero(t, needing())
}

func TestLogTargetsTellWhatBecameOfListings(t *testing.T) {
	t.Parallel()
	d, ctx := newDesk(t), t.Context()
	require.NoError(t, d.RememberListing(ctx, d.listed(doc("a.md", "1")), "checkpoint"))
	d.exec(`UPDATE sync_runs SET status = 'completed', ended_at = now()`)
	look := func(since *time.Time) knowledge.LogTarget {
		found, err := d.LogTargets(ctx, "files", []string{folder}, since, 5*time.Second)
		require.NoError(t, err)
		require.Len(t, found, 1)
		return found[0]
	}
	first := look(nil)
	assert.Equal(t, "checkpoint", first.Checkpoint)
	assert.False(t, first.Listed || first.Listing || first.Asked)
	_, err := d.ClaimFolderRun(ctx, folder, "folder/hr/sync/u1", knowledge.ModeIncremental, "webhook", "loresync")
	require.NoError(t, err)
	waiting := look(&first.At)
	assert.False(t, waiting.Listed || waiting.Listing || waiting.Asked, "one that waits to list is joined")

	listing, err := d.BeginListing(ctx, "folder/hr/sync/u1", folder, "run-1")
	require.NoError(t, err)
	begun := look(&first.At)
	assert.True(t, begun.Listed && begun.Listing && begun.Asked)
	later := look(nil).At
	assert.False(t, look(&later).Listed, "it began before")
	_, err = d.CompleteListing(ctx, listing.ListingID, "complete", "")
	require.NoError(t, err)
	assert.False(t, look(&later).Listing)
	d.exec(`UPDATE sync_runs SET status = 'failed', ended_at = now() WHERE workflow_id = 'folder/hr/sync/u1'`)
	assert.False(t, look(&first.At).Listed, "a run that failed has followed nothing")
	d.exec(`UPDATE sync_runs SET listing_began_at = listing_began_at - interval '1 minute'`)
	assert.False(t, look(nil).Asked)
	d.exec(`UPDATE deployment SET maintenance = true`)
	found, err := d.LogTargets(ctx, "files", nil, nil, time.Minute)
	require.NoError(t, err)
	assert.Empty(t, found)
	maintained, err := d.Maintenance(ctx)
	require.NoError(t, err)
	assert.True(t, maintained)
}
