package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Probe asks whether Postgres answers, on a connection of its own: a pool whose connections are all in use, or stand before a cut
// wire, would keep the question waiting. It isn't safe for concurrent use.
type Probe struct {
	config *pgx.ConnConfig
	conn   *pgx.Conn
}

// Probe gives a probe, which connects when it is asked first.
func (s *Store) Probe() *Probe {
	return &Probe{config: s.pool.Config().ConnConfig}
}

// Ask tells whether Postgres answers within the context's time. After an error the next question connects anew.
func (p *Probe) Ask(ctx context.Context) error {
	if p.conn == nil {
		conn, err := pgx.ConnectConfig(ctx, p.config)
		if err != nil {
			return wrap("ask postgres", err)
		}
		p.conn = conn
	}
	if err := p.conn.Ping(ctx); err != nil {
		p.Close(ctx)
		return wrap("ask postgres", err)
	}
	return nil
}

// Close ends the connection, without waiting for a server that doesn't answer.
func (p *Probe) Close(ctx context.Context) {
	if p.conn == nil {
		return
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_ = p.conn.Close(ended)
	p.conn = nil
}
