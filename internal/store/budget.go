package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/loresync/loresync/internal/knowledge"
)

const setBudget = `
INSERT INTO rate_budgets (connection, per_second, burst)
SELECT name, $2::double precision, $3::integer FROM connections WHERE name = $1
ON CONFLICT (connection) DO UPDATE SET per_second = excluded.per_second, burst = excluded.burst`

// SetBudget sets how many requests a second a connection may send, and how many at once after a pause. Both zero bring back the
// default of whoever sends. It holds from the next slot on; slots that were given away count. ErrNotFound without the connection.
func (s *Store) SetBudget(ctx context.Context, connection string, perSecond float64, burst int) error {
	const doing = "set a rate budget"
	var rate *float64
	var size *int
	if perSecond != 0 || burst != 0 {
		if !(perSecond > 0) || burst < 1 {
			return fmt.Errorf("%s: %g a second with bursts of %d: both must be above zero", doing, perSecond, burst)
		}
		rate, size = &perSecond, &burst
	}
	n, err := exec(ctx, s, doing, setBudget, connection, rate, size)
	if err == nil && n == 0 {
		return fmt.Errorf("%s: connection %q: %w", doing, connection, ErrNotFound)
	}
	return err
}

// Budget is how many slots a connection has, and how they are used.
type Budget struct {
	Connection string
	// PerSecond and Burst are nil where the default of the sender holds.
	PerSecond *float64
	Burst     *int
	// Taken counts the slots that were ever taken, the last one at TakenAt.
	Taken   int64
	TakenAt *time.Time
	// BlockedUntil is set while the vendor wants no requests.
	BlockedUntil *time.Time
}

const budgets = `
SELECT connection, per_second, burst, taken, taken_at, CASE WHEN blocked_until > now() THEN blocked_until END AS blocked_until
FROM rate_budgets ORDER BY connection`

// Budgets gives the budgets of all connections that ever sent a request or had one set.
func (s *Store) Budgets(ctx context.Context) ([]Budget, error) {
	return list[Budget](ctx, s, "read the rate budgets", budgets)
}

const pace = `SELECT coalesce((SELECT per_second FROM rate_budgets WHERE connection = $1), $2)`

// Pace gives how many requests a second a connection may send; fallback where nothing was set.
func (s *Store) Pace(ctx context.Context, connection string, fallback float64) (float64, error) {
	return scalar[float64](ctx, s, "read a rate budget", pace, connection, fallback)
}

// Slots is one process' way to the rate budgets of the connections of a vendor.
type Slots struct {
	store     *Store
	waiter    string
	perSecond float64
	burst     int
}

// Slots gives a way to the rate budgets; perSecond and burst (both above zero) are the default of a connection that has none
// set. Each value counts as a process of its own: what waits on it leaves one mark, that of its most urgent waiter.
func (s *Store) Slots(perSecond float64, burst int) *Slots {
	return &Slots{store: s, waiter: uuid.NewString(), perSecond: perSecond, burst: burst}
}

type slotRow struct {
	Outcome string
	Wait    time.Duration
	Lane    int16
}

const takeSlot = `SELECT * FROM take_slot($1, $2, $3, $4, $5, $6, $7, $8, $9)`

// TakeSlot asks for one slot of a connection's budget, in one round trip. h says who asks: its token is empty outside a page
// sync, its folder for what serves none. check marks a request that finds out whether the connection works: it is sent even while
// the connection is paused.
//
// The outcome is go (the slot is taken); wait (ask again after wait, at most a second); blocked (the vendor wants nothing before
// wait is over, which may be long); stop (a delete asked for it, or another sync of the page began); paused; or
// connection_unknown. now is the lane that holds now: the in-flight row's, which may have been lifted since the caller read it.
func (s *Slots) TakeSlot(ctx context.Context, connection string, h knowledge.Holder, lane knowledge.Lane, check bool) (
	outcome string, wait time.Duration, now knowledge.Lane, err error,
) {
	var token *string
	if h.Token != "" {
		token = &h.Token
	}
	row, err := one[slotRow](ctx, s.store, "take a slot", takeSlot, connection, s.waiter, int16(lane), h.Folder, h.Page, token, check, s.perSecond, s.burst)
	return row.Outcome, row.Wait, knowledge.Lane(row.Lane), passing(err)
}

const standing = `
SELECT i.folder_id, i.page_id, i.token, i.lane
FROM unnest($1::text[], $2::text[], $3::uuid[]) AS w (folder_id, page_id, token)
JOIN in_flight i ON i.folder_id = w.folder_id AND i.page_id = w.page_id AND i.token = w.token
JOIN folders f ON f.folder_id = i.folder_id AND f.deleted_at IS NULL
WHERE NOT i.cancel_requested`

type standingRow struct {
	FolderID, PageID, Token string
	Lane                    int16
}

// Standing gives the present lane of each holder that may go on. One that is missing in the answer has to stop.
func (s *Slots) Standing(ctx context.Context, holders []knowledge.Holder) (map[knowledge.Holder]knowledge.Lane, error) {
	folders, pages, tokens := make([]string, len(holders)), make([]string, len(holders)), make([]string, len(holders))
	for i, h := range holders {
		folders[i], pages[i], tokens[i] = h.Folder, h.Page, h.Token
	}
	rows, err := list[standingRow](ctx, s.store, "look at who waits for a slot", standing, folders, pages, tokens)
	lanes := make(map[knowledge.Holder]knowledge.Lane, len(rows))
	for _, row := range rows {
		lanes[knowledge.Holder{Folder: row.FolderID, Page: row.PageID, Token: row.Token}] = knowledge.Lane(row.Lane)
	}
	return lanes, passing(err)
}

const blockBudget = `SELECT block_budget($1, $2, $3, $4)`

// Block keeps a connection from sending anything for a while, in all processes; a longer block stays. ErrNotFound without the
// connection.
func (s *Slots) Block(ctx context.Context, connection string, lasting time.Duration) error {
	const doing = "block a rate budget"
	found, err := scalar[bool](ctx, s.store, doing, blockBudget, connection, lasting, s.perSecond, s.burst)
	if err == nil && !found {
		return fmt.Errorf("%s: connection %q: %w", doing, connection, ErrNotFound)
	}
	return passing(err)
}

// passing counts as unreachable what a waiter for a slot can only wait for too: the budget's lock, which others held for too long.
func passing(err error) error {
	if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code == lockNotAvailable {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return err
}
