package workers

import (
	"context"
	"log/slog"
	"time"

	"github.com/loresync/loresync/internal/pause"
)

const (
	// Postgres is asked this often whether it answers, and somewhat more often after a question that got no answer.
	askEvery, askAgain = 2 * time.Second, time.Second
	// askPatience is after how long a question is given up.
	askPatience = 4 * time.Second
	// lostAfter is for how long there is no answer before Postgres is taken for lost. A restart of it, or a busy machine, takes less.
	lostAfter = 12 * time.Second
	// lostAsks is how many questions get no answer in that time. A process that was stopped for longer had asked one before.
	lostAsks = 3
)

// asker tells whether the database answers.
type asker interface {
	Ask(ctx context.Context) error
}

// awaitLoss returns once the database has not answered for a while, with the last error; nil when the context ended.
func awaitLoss(ctx context.Context, database asker) error {
	answered, next, unanswered := time.Now(), askEvery, 0
	for pause.For(ctx, next) == nil {
		err := ask(ctx, database)
		switch {
		case err == nil:
			answered, next, unanswered = time.Now(), askEvery, 0
		case ctx.Err() == nil && unanswered+1 >= lostAsks && time.Since(answered) >= lostAfter:
			return err
		default:
			next = askAgain
			unanswered++
		}
	}
	return nil
}

// awaitReturn returns once the database answers, or the context ends.
func awaitReturn(ctx context.Context, database asker, log *slog.Logger) {
	for ask(ctx, database) != nil {
		if pause.For(ctx, askEvery) != nil {
			return
		}
	}
	log.InfoContext(ctx, "postgres answers again")
}

func ask(ctx context.Context, database asker) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	return database.Ask(ctx)
}

// run runs workers until the context ends, but not while the database is lost: a worker that polls without it takes work that it can
// only fail at, and that others could do. What it has in hand gets its time to end, and is tried again elsewhere.
func run(ctx context.Context, database asker, start func() (*Set, error), log *slog.Logger) error {
	for ctx.Err() == nil {
		set, err := start()
		if err != nil {
			return err
		}
		log.InfoContext(ctx, "worker is ready")
		lost := awaitLoss(ctx, database)
		if lost == nil {
			log.InfoContext(context.WithoutCancel(ctx), "worker stops")
			set.Stop()
			break
		}
		log.WarnContext(ctx, "postgres doesn't answer: the worker takes no work until it does", "error", lost)
		set.Stop()
		awaitReturn(ctx, database, log)
	}
	return nil
}
