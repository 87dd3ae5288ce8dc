package knowledge

import "errors"

// ErrUnreachable says that Postgres could not be reached, or went away in the middle.
var ErrUnreachable = errors.New("postgres is not reachable")

// ErrNotFound says that a row that was asked for by its key isn't there.
var ErrNotFound = errors.New("not found")

// ErrDiskFull says that Postgres could not write because its disk is full.
var ErrDiskFull = errors.New("the disk of postgres is full")
