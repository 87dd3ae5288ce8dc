package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/loresync/loresync/starter/internal/out"
)

// confirm asks a person to type a name before something is erased that no restore brings back. Where nobody sits at the
// terminal nothing is asked: a script has decided already.
func (a *app) confirm(ctx context.Context, what, name string, yes bool) error {
	if yes || !a.Terminals.In {
		return nil
	}
	fmt.Fprintf(a.Messages(), "This erases %s for good, and starter restore won't bring it back.\nType %s to go on: ",
		out.Clean(what), out.Clean(name))
	typed, err := a.readLine(ctx)
	if err != nil {
		return err
	}
	if typed != out.Clean(name) {
		return &endedError{code: exitRefused, sentence: "that isn't its name: nothing was deleted"}
	}
	return nil
}

// readLine reads a line, and gives up when the context ends: reading a terminal can't be interrupted otherwise.
func (a *app) readLine(ctx context.Context) (string, error) {
	lines := make(chan string, 1)
	go func() {
		// An error leaves what was read so far, which then isn't the name.
		line, _ := bufio.NewReader(a.in).ReadString('\n')
		lines <- strings.TrimSpace(line)
	}()
	select {
	case line := <-lines:
		return line, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
