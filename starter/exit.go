package main

import (
	"context"
	"errors"
	"strings"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/search"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/schema"
)

// The exit codes of every command, as the contract fixes them.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitRefused     = 4
	exitUnreachable = 5
)

// usageError is a command line that can't be carried out as it is.
type usageError struct{ sentence string }

// Error gives the sentence.
func (e *usageError) Error() string { return e.sentence }

// endedError ends a command with a code of its own: an answer that was printed and isn't a success, or a setting that is wrong.
type endedError struct {
	code     int
	sentence string
}

// Error gives the sentence.
func (e *endedError) Error() string { return e.sentence }

// commandError is an error of a command's body. What cobra finds wrong before the body begins isn't wrapped: it is wrong usage.
type commandError struct{ err error }

// Error gives the cause's sentence.
func (e *commandError) Error() string { return e.err.Error() }

// Unwrap gives the cause.
func (e *commandError) Unwrap() error { return e.err }

// exitCode is the one place where errors become exit codes.
func exitCode(err error) int {
	var body *commandError
	var usage *usageError
	var ended *endedError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &usage), !errors.As(err, &body):
		return exitUsage
	case errors.As(err, &ended):
		return ended.code
	case errors.Is(err, search.ErrEmptyQuery):
		return exitUsage
	case errors.Is(err, store.ErrNotFound):
		return exitNotFound
	case errors.Is(err, schema.ErrOutdated), errors.Is(err, schema.ErrNewer):
		return exitRefused
	}
	return codeOfKind(control.KindOf(err))
}

func codeOfKind(kind control.Kind) int {
	switch kind {
	case control.KindUsage:
		return exitUsage
	case control.KindNotFound:
		return exitNotFound
	case control.KindRefused:
		return exitRefused
	case control.KindUnreachable:
		return exitUnreachable
	case control.KindFailed:
		return exitFailed
	default:
		return exitFailed
	}
}

// sentenceOf is an error as one line for people. An error of control has a sentence of its own, whatever was wrapped around it.
func sentenceOf(err error) string {
	var known *control.Error
	switch {
	case errors.As(err, &known):
		return known.Sentence
	case errors.Is(err, context.Canceled):
		return "stopped"
	}
	return strings.TrimSpace(err.Error())
}
