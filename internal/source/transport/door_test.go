package transport_test

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// door is the way to Postgres, which a test can shut.
type door struct {
	url      string
	listener net.Listener
	behind   string

	mu      sync.Mutex
	closed  bool
	refused int
	conns   map[net.Conn]bool
}

func newDoor(t *testing.T, address string) *door {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	d := &door{listener: listener, behind: u.Host, conns: map[net.Conn]bool{}}
	u.Host = listener.Addr().String()
	d.url = u.String()
	t.Cleanup(func() { _ = listener.Close(); d.shut() })
	go d.serve()
	return d
}

func (d *door) serve() {
	for {
		conn, err := d.listener.Accept()
		if err != nil {
			return
		}
		go d.pass(conn)
	}
}

func (d *door) pass(conn net.Conn) {
	d.mu.Lock()
	if d.closed {
		d.refused++
		d.mu.Unlock()
		_ = conn.Close()
		return
	}
	server, err := (&net.Dialer{}).Dial("tcp", d.behind)
	if err != nil {
		d.mu.Unlock()
		_ = conn.Close()
		return
	}
	d.conns[conn], d.conns[server] = true, true
	d.mu.Unlock()
	go func() { _, _ = io.Copy(server, conn); _ = server.Close() }()
	_, _ = io.Copy(conn, server)
	_ = conn.Close()
}

func (d *door) shut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for conn := range d.conns {
		_ = conn.Close()
	}
	clear(d.conns)
}

func (d *door) open() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = false
}

func (d *door) knocks() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.refused
}
