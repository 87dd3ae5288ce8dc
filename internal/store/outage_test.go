package store_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/internal/testenv"
)

// wire is a way to Postgres that can be cut: at once, or in the middle of an answer.
type wire struct {
	t        *testing.T
	listener net.Listener
	postgres string

	mu    sync.Mutex
	conns []*net.TCPConn
	// left is how many bytes of answers pass before all is cut; all of them below zero.
	left int
}

func newWire(t *testing.T, databaseURL string) (w *wire, throughIt string) {
	t.Helper()
	address, err := url.Parse(databaseURL)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w = &wire{t: t, listener: listener, postgres: address.Host, left: -1}
	go w.accept()
	t.Cleanup(func() { _ = listener.Close(); w.cut(false) })
	address.Host = listener.Addr().String()
	return w, address.String()
}

func (w *wire) accept() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", w.postgres)
		if err != nil {
			_ = client.Close()
			continue
		}
		near, isTCP := client.(*net.TCPConn)
		far, areTCP := server.(*net.TCPConn)
		if !isTCP || !areTCP {
			panic("the network of a TCP listener is TCP")
		}
		w.mu.Lock()
		w.conns = append(w.conns, near, far)
		w.mu.Unlock()
		go func() {
			_, _ = io.Copy(far, near)
			_ = far.Close()
		}()
		go func() {
			w.answer(near, far)
			_ = near.Close()
		}()
	}
}

// answer passes on what Postgres says, up to the byte at which it is to be cut.
func (w *wire) answer(near io.Writer, far io.Reader) {
	buffer := make([]byte, 4096)
	for {
		n, err := far.Read(buffer)
		if err != nil {
			return
		}
		passes, last := w.take(n)
		if _, err := near.Write(buffer[:passes]); err != nil {
			return
		}
		if last {
			w.cut(false)
			return
		}
	}
}

func (w *wire) take(n int) (passes int, last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.left < 0 || n < w.left {
		w.left -= min(n, max(w.left, 0))
		return n, false
	}
	passes, w.left = w.left, -1
	return passes, true
}

// cutAfter cuts all connections once so many more bytes of answers have passed.
func (w *wire) cutAfter(bytes int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.left = bytes
}

// cut ends all connections, by a reset or as if the other side had closed them.
func (w *wire) cut(reset bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, conn := range w.conns {
		if reset {
			_ = conn.SetLinger(0)
		}
		_ = conn.Close()
	}
	w.conns, w.left = nil, -1
}

// throughWire is a second store on the desk's database.
func (d *desk) throughWire() (*store.Store, *wire) {
	d.t.Helper()
	w, through := newWire(d.t, d.url)
	st, err := store.Open(d.t.Context(), through, store.Options{MaxConns: 1, LockTimeout: time.Hour})
	require.NoError(d.t, err)
	d.t.Cleanup(st.Close)
	return st, w
}

func TestAConnectionThatBreaksDuringAQueryIsUnreachable(t *testing.T) {
	t.Parallel()
	queries := map[string]func(context.Context, *store.Store) error{
		"one row": func(ctx context.Context, st *store.Store) error {
			_, err := st.SyncRefusal(ctx, folder, "x")
			return err
		},
		"many rows": func(ctx context.Context, st *store.Store) error { _, err := st.Folders(ctx); return err },
		"a write": func(ctx context.Context, st *store.Store) error {
			return st.AddDueRead(ctx, folder, "x", time.Minute, "retry")
		},
		"a slot": func(ctx context.Context, st *store.Store) error {
			_, _, _, err := st.Slots(1, 1).TakeSlot(ctx, connection, knowledge.Holder{Folder: folder}, knowledge.LanePerson, false)
			return err
		},
	}
	for how, reset := range map[string]bool{"closed": false, "reset": true} {
		for what, query := range queries {
			t.Run(what+" "+how, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t)
				st, w := d.throughWire()
				// Whoever asks about folders waits for whoever alters them.
				d.exec(`BEGIN; LOCK TABLE folders, due_reads IN ACCESS EXCLUSIVE MODE`)
				failed := make(chan error, 1)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a query that isn't cut would wait for ever
				defer cancel()
				go func() { failed <- query(ctx, st) }()
				const waits = `SELECT count(*) FROM pg_locks l JOIN pg_database b ON b.oid = l.database
					WHERE b.datname = current_database() AND NOT l.granted AND l.relation IN ('folders'::regclass, 'due_reads'::regclass)`
				testenv.Eventually(t, 10*time.Second, func() bool { return d.count(waits) == 1 }, "the query is in the middle")
				w.cut(reset)
				require.ErrorIs(t, <-failed, store.ErrUnreachable)
				d.exec(`ROLLBACK`)
				require.NoError(t, st.Ping(t.Context()), "the next one has a connection of its own")
			})
		}
	}
}

func TestAnAnswerThatBreaksOffAnywhereIsUnreachable(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	st, w := d.throughWire()
	broken := 0
	for after := 1; ; after += 13 {
		_, err := st.Budgets(t.Context())
		require.NoError(t, err, "a connection is there, and knows the statement")
		w.cutAfter(after)
		// An idle connection may have been looked at before: then the cut met that look.
		if _, err = st.Folders(t.Context()); err == nil {
			break
		}
		require.ErrorIs(t, err, store.ErrUnreachable, "after %d bytes", after)
		broken++
	}
	assert.Greater(t, broken, 10, "the answer is longer than a few bytes")
}

func TestRefusalsOfPostgres(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		"53300": "unreachable", "57P01": "unreachable", "57P03": "unreachable", "08006": "unreachable", "53100": "disk full",
		"57014": "", "55P03": "", "": "",
	} {
		t.Run("code "+code, func(t *testing.T) {
			t.Parallel()
			err := store.Wrap("ask", &pgconn.PgError{Code: code})
			require.ErrorContains(t, err, "ask: ")
			assert.Equal(t, want == "unreachable", errors.Is(err, store.ErrUnreachable))
			assert.Equal(t, want == "disk full", errors.Is(err, store.ErrDiskFull))
		})
	}
}
