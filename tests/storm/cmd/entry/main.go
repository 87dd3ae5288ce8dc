// Command entry is an entry point of a storm: it takes orders as JSON lines on stdin, carries each out through control at once,
// beside the others, and prints a reply for each as it ends. It ends when stdin does.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/tests/storm/order"
)

// What one order may take; a person would have given up long before.
const patience = 40 * time.Second

func main() {
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := run(context.Background(), log, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "entry:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, log *slog.Logger, in io.Reader, out io.Writer) error {
	cfg, err := config.Load()
	if err != nil {
		return err
	}
	wiring, err := connect(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer wiring.Close()
	d := &desk{control: wiring.Control, log: log, out: json.NewEncoder(out)}
	return d.serve(ctx, in)
}

// connect waits for servers that are down, as a supervisor would by starting it again.
func connect(ctx context.Context, cfg config.Config, log *slog.Logger) (*config.Wiring, error) {
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for {
		wiring, err := config.Connect(ctx, cfg, log)
		if control.KindOf(err) != control.KindUnreachable || err == nil {
			return wiring, err
		}
		log.WarnContext(ctx, "waiting for Postgres", "error", err)
		<-ticker.C
	}
}

// desk takes orders and gives replies.
type desk struct {
	control *control.Control
	log     *slog.Logger
	mu      sync.Mutex
	out     *json.Encoder
}

func (d *desk) serve(ctx context.Context, in io.Reader) error {
	var group sync.WaitGroup
	defer group.Wait()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var o order.Order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return fmt.Errorf("read an order: %w", err)
		}
		group.Go(func() { d.take(ctx, o) })
	}
	return lines.Err()
}

func (d *desk) take(ctx context.Context, o order.Order) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := d.carryOut(ctx, o)
	reply := order.Reply{N: o.N, Answer: answer}
	if err != nil {
		reply.Kind, reply.Sentence = control.KindOf(err), err.Error()
		if known, ok := errors.AsType[*control.Error](err); ok {
			reply.Code = known.Code
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.out.Encode(reply); err != nil {
		d.log.WarnContext(ctx, "nobody takes the reply any more", "error", err)
	}
}
