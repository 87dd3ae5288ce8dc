package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

const (
	headerPatience = 5 * time.Second
	readPatience   = 30 * time.Second
	writePatience  = time.Minute
	idlePatience   = 2 * time.Minute
	// farewell is what answers under way get when the gateway stops.
	farewell     = 10 * time.Second
	maxHeaderLen = 64 << 10
)

// Serve answers on the listener until the context ends, and then lets what is under way end.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, log *slog.Logger) error {
	server := &http.Server{
		Handler: handler, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		ReadHeaderTimeout: headerPatience, ReadTimeout: readPatience, WriteTimeout: writePatience, IdleTimeout: idlePatience,
		MaxHeaderBytes: maxHeaderLen,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	parting, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	if err := server.Shutdown(parting); err != nil {
		return errors.Join(fmt.Errorf("end the answers under way: %w", err), server.Close())
	}
	return nil
}
