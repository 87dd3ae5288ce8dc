package store

import (
	"errors"

	"github.com/jackc/pgx/v5/pgconn"
)

// insistTries is how often what a person asked for waits for a lock. Whoever was stopped with locks in its hands loses them after
// IdleInTransaction, 5 s, which is within the second LockTimeout of 3 s; the third is for those who had waited too.
const insistTries = 3

// insist tries again what waited too long for a lock. Activities are tried again by Temporal; a person's delete has nobody else.
func insist[T any](attempt func() (T, error)) (T, error) {
	for tries := 1; ; tries++ {
		answer, err := attempt()
		refused, ok := errors.AsType[*pgconn.PgError](err)
		if !ok || refused.Code != lockNotAvailable || tries == insistTries {
			return answer, err
		}
	}
}
