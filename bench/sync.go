package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/loresync/loresync/bench/internal/proc"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
)

const (
	// folderMain is the folder that most measures share.
	folderMain = "bench"
	// progressEvery is how often a long sync says how far it is.
	progressEvery = 10 * time.Second
)

var (
	person        = control.Actor{Name: "bench", Trigger: "cli"}
	errIncomplete = errors.New("the sync did not end as it should")
)

// root is the directory of a folder's pages.
func (l *lab) root(folder string) string { return filepath.Join(l.dataDir, "pages", folder) }

// addFolder registers a folder with the first n pages of the corpus.
func (l *lab) addFolder(ctx context.Context, folder string, n int) error {
	if err := os.MkdirAll(l.root(folder), 0o700); err != nil {
		return fmt.Errorf("make a folder of pages: %w", err)
	}
	if err := l.corpus.Write(l.root(folder), n); err != nil {
		return err
	}
	_, err := l.Control.AddFolder(ctx, control.FolderSpec{ID: folder, Source: "files", Root: l.root(folder)}, person)
	return err
}

// sync runs a full sync to its end and demands that it completed.
func (l *lab) sync(ctx context.Context, folder string) (control.Answer, error) {
	answer, err := l.Control.SyncFolder(ctx, folder, knowledge.ModeFull, person)
	if err != nil {
		return answer, err
	}
	answer, err = l.Control.Wait(ctx, answer, l.progress())
	if err != nil {
		return answer, err
	}
	if answer.Status != string(knowledge.RunCompleted) {
		return answer, fmt.Errorf("sync folder %s: %w: %s %s", folder, errIncomplete, answer.Status, answer.Reason)
	}
	return answer, nil
}

// progress gives a reporter that speaks now and then.
func (l *lab) progress() func(knowledge.RunProgress) {
	spoke := time.Now()
	return func(p knowledge.RunProgress) {
		if time.Since(spoke) < progressEvery {
			return
		}
		spoke = time.Now()
		l.say("  %s of %s pages", humanize.Comma(p.Done), humanize.Comma(p.Total))
	}
}

// addMain makes sure that the shared folder is there.
func (l *lab) addMain(ctx context.Context) error {
	if l.added {
		return nil
	}
	l.added = true
	return l.addFolder(ctx, folderMain, l.options.pages)
}

// fill makes sure that the shared folder is there and synced.
func (l *lab) fill(ctx context.Context) error {
	if l.filled {
		return nil
	}
	if err := l.addMain(ctx); err != nil {
		return err
	}
	if err := l.withWorker(ctx, func(*child) error { _, err := l.sync(ctx, folderMain); return err }); err != nil {
		return err
	}
	l.filled = true
	return nil
}

// withWorker runs something while a worker of its own runs.
func (l *lab) withWorker(ctx context.Context, do func(*child) error) error {
	return l.withChild(ctx, roleWorker, do)
}

// measured is a sync with what it took.
type measured struct {
	answer control.Answer
	usage  usage
	// peak is the most memory that the worker held, in bytes; 0 where the system doesn't tell.
	peak int64
}

// syncMeasured syncs a folder with a worker of its own.
func (l *lab) syncMeasured(ctx context.Context, folder string) (measured, error) {
	var m measured
	err := l.withWorker(ctx, func(worker *child) error {
		before := l.clock(worker)
		var err error
		if m.answer, err = l.sync(ctx, folder); err != nil {
			return err
		}
		m.usage = l.clock(worker).since(before)
		if peak, err := proc.PeakMemory(worker.pid()); err == nil {
			m.peak = peak
		}
		return nil
	})
	return m, err
}
