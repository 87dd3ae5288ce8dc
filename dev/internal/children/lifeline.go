package children

import (
	"io"
	"os"
)

// HoldLifeline ends this process when its standard input does. The parent holds the other end and never writes: however it
// ends, the kernel closes it. It is called once, by a child, at its start.
func HoldLifeline() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
}
