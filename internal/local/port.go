package local

import (
	"errors"
	"fmt"
	"net"
	"sync"
)

// host is the address that servers of this package listen on unless they are told another.
const host = "127.0.0.1"

var errPortsRepeat = errors.New("the system keeps offering ports that are already promised")

// handedOut remembers the ports this process has promised: the kernel may offer a port again before the server it was
// meant for listens on it.
var handedOut sync.Map

// FreePort returns a TCP port of 127.0.0.1 on which nothing listens, and never the same one twice in a process. Another
// process may still take it before it is used, so whoever starts a server on it has to be ready to choose again.
func FreePort() (int, error) {
	const tries = 100
	for range tries {
		port, err := offeredPort()
		if err != nil {
			return 0, err
		}
		if _, promised := handedOut.LoadOrStore(port, struct{}{}); !promised {
			return port, nil
		}
	}
	return 0, fmt.Errorf("choose a free port: %w", errPortsRepeat)
}

// offeredPort asks the kernel for a port and gives it back at once.
func offeredPort() (int, error) {
	listener, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.ParseIP(host)})
	if err != nil {
		return 0, fmt.Errorf("choose a free port: %w", err)
	}
	defer func() { _ = listener.Close() }()
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return 0, fmt.Errorf("choose a free port: %w", net.UnknownNetworkError(listener.Addr().Network()))
	}
	return address.Port, nil
}
