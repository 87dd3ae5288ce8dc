package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/pprof"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/workers"
)

// The roles of child processes.
const (
	// roleWorker is a whole worker of loresync, made of the settings in its environment as the worker's own main does.
	roleWorker = "worker"
	// roleFloor is a worker whose workflows do nothing.
	roleFloor = "floor"
)

func isRole(word string) bool { return word == roleWorker || word == roleFloor }

// play runs a role until the input ends. A profile that is named takes the processor profile of all of it.
func play(ctx context.Context, role, profile string, in io.Reader, out io.Writer) error {
	stopProfile, err := startProfile(profile)
	if err != nil {
		return err
	}
	defer stopProfile()
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	settings, err := config.Load()
	if err != nil {
		return err
	}
	wiring, err := config.Connect(ctx, settings, log)
	if err != nil {
		return err
	}
	defer wiring.Close()
	start := startWorker
	if role == roleFloor {
		start = startFloor
	}
	stop, err := start(settings, wiring, log)
	if err != nil {
		return err
	}
	defer stop()
	fmt.Fprintln(out, readyLine)
	_, err = io.Copy(io.Discard, in)
	return err
}

func startProfile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, fmt.Errorf("make the folder of profiles: %w", err)
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("open a profile: %w", err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, fmt.Errorf("start a profile: %w", err)
	}
	return func() { pprof.StopCPUProfile(); _ = file.Close() }, nil
}

func startWorker(c config.Config, w *config.Wiring, log *slog.Logger) (stop func(), err error) {
	set, err := workers.Start(workers.Options{
		Store: w.Store, Temporal: w.Temporal, Control: w.Control, Sources: w.Sources, Log: log,
		Models: activities.Models{Embedder: w.Embedder, Summarizer: w.Summarizer},
		Timeouts: activities.Timeouts{
			Ladder: c.Timeouts.Ladder, Abandoned: c.Timeouts.Abandoned, AskAgain: c.Timeouts.AskAgain, Undo: c.Timeouts.Undo,
		},
	})
	if err != nil {
		return nil, err
	}
	return set.Stop, nil
}
