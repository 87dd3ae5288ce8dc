package storm

import (
	"bufio"
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/pause"
)

// proxy carries the connections of one process to one server. Held, it delays every byte and loses none, as a network does
// whose partition heals: what was sent before arrives afterwards.
type proxy struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	pairs map[net.Conn]net.Conn
	// delay is added to whatever passes.
	delay time.Duration
	// gate is closed while bytes may pass.
	gate chan struct{}
}

func newProxy(ctx context.Context, target string) (*proxy, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, target: target, pairs: map[net.Conn]net.Conn{}, gate: make(chan struct{})}
	close(p.gate)
	go p.serve(context.WithoutCancel(ctx))
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) serve(ctx context.Context) {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.connect(ctx, near)
	}
}

// connect joins a connection to one to the server; while the server is down it is refused.
func (p *proxy) connect(ctx context.Context, near net.Conn) {
	far, err := new(net.Dialer).DialContext(ctx, "tcp", p.target)
	if err != nil {
		_ = near.Close()
		return
	}
	p.mu.Lock()
	p.pairs[near] = far
	p.mu.Unlock()
	go p.carry(ctx, near, far)
	p.carry(ctx, far, near)
	p.mu.Lock()
	delete(p.pairs, near)
	p.mu.Unlock()
}

// carry moves bytes one way until either side ends, which ends both.
func (p *proxy) carry(ctx context.Context, from, to net.Conn) {
	defer func() { _ = from.Close(); _ = to.Close() }()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			gate, delay := p.passage()
			_ = pause.For(ctx, delay)
			<-gate
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (p *proxy) passage() (gate chan struct{}, delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gate, p.delay
}

// slow adds a delay to whatever passes from now on.
func (p *proxy) slow(delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = delay
}

// cut ends all connections at once.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for near, far := range p.pairs {
		_ = near.Close()
		_ = far.Close()
	}
}

// hold lets no byte pass until release. It may be held already.
func (p *proxy) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gate:
		p.gate = make(chan struct{})
	default:
	}
}

func (p *proxy) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.gate:
	default:
		close(p.gate)
	}
}

func (p *proxy) close() {
	_ = p.listener.Close()
	p.release()
	p.cut()
}

func TestProxy(t *testing.T) {
	t.Parallel()
	server, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = server.Close() }()
	go echo(server)
	p, err := newProxy(t.Context(), server.Addr().String())
	require.NoError(t, err)
	defer p.close()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.address())
	require.NoError(t, err)
	lines := bufio.NewReader(conn)
	say := func(words string) {
		_, err := io.WriteString(conn, words+"\n")
		require.NoError(t, err)
	}
	hear := func(want string) {
		got, err := lines.ReadString('\n')
		require.NoError(t, err)
		assert.Equal(t, want+"\n", got)
	}
	say("one")
	hear("one")
	p.hold()
	say("two")
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
	_, err = lines.ReadString('\n')
	require.Error(t, err, "nothing passes while it is held")
	require.NoError(t, conn.SetReadDeadline(time.Time{}))
	p.release()
	hear("two")
	p.cut()
	_, err = lines.ReadString('\n')
	require.ErrorIs(t, err, io.EOF)
}

func echo(server net.Listener) {
	for {
		conn, err := server.Accept()
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(conn, conn) }()
	}
}
