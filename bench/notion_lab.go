package main

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
	"github.com/loresync/loresync/internal/source/transport"
)

// notionLab is a stand-in with two folders and the workers that read them.
type notionLab struct {
	*lab
	door   *config.Wiring
	server *notiontest.Server
	rate   float64
	// folders are of one connection.
	folders []string
}

// minuteLimit is what a budget permits within a minute, and so what the stand-in permits.
func minuteLimit(rate float64) int { return int(rate*60+1e-6) + transport.DefaultBurst }

// withNotion makes the stand-in and its folders, and runs something while workers read them. Afterwards nothing of it is left.
func (l *lab) withNotion(ctx context.Context, pages int, rate float64, do func(*notionLab) error) error {
	space := notiontest.New(notiontest.Options{Seed: l.options.seed, Clock: notiontest.NewClock(l.begun.Add(-24 * time.Hour))})
	n := &notionLab{lab: l, rate: rate, folders: foldersAt(rate), server: notiontest.NewServer(space, notiontest.ServerOptions{
		RateLimit: notiontest.RateLimit{Requests: minuteLimit(rate), Window: time.Minute},
	})}
	url, err := n.server.Start() //nolint:contextcheck // it listens until Close, whatever this context does
	if err != nil {
		return err
	}
	defer func() { _ = n.server.Close() }()
	roots, err := fillWorkspace(space, notionFolders, pages)
	if err != nil {
		return err
	}
	settings := config.Notion{Token: n.server.Token(), BaseURL: url, Rate: rate}
	if n.door, err = config.Connect(ctx, config.Config{
		DatabaseURL: l.postgres.URL(database), Notion: settings,
		Temporal: client.Options{HostPort: l.temporal.Address(), Namespace: client.DefaultNamespace},
	}, slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	defer n.door.Close()
	l.notion = settings
	defer func() { l.notion = config.Notion{} }()
	return n.withFolders(ctx, roots, func() error {
		return n.withWorkers(ctx, notionWorkers, func() error { return do(n) })
	})
}

// foldersAt names the folders of one stand-in.
func foldersAt(rate float64) []string {
	names := make([]string, notionFolders)
	for i := range names {
		names[i] = fmt.Sprintf("bench-notion-%.0f-%d", rate, i)
	}
	return names
}

// fillWorkspace makes pages below one root for each folder.
func fillWorkspace(space *notiontest.Workspace, folders, pages int) ([]string, error) {
	roots := make([]string, folders)
	for i := range roots {
		var err error
		if roots[i], err = space.AddPage("", "Root "+strconv.Itoa(i)); err != nil {
			return nil, fmt.Errorf("fill the stand-in of Notion: %w", err)
		}
	}
	for i := range pages {
		text := notiontest.Paragraph(notiontest.Text("What is to be known of subject " + strconv.Itoa(i) + "."))
		if _, err := space.AddPage(roots[i%len(roots)], "Page "+strconv.Itoa(i), text); err != nil {
			return nil, fmt.Errorf("fill the stand-in of Notion: %w", err)
		}
	}
	return roots, nil
}

func (n *notionLab) withFolders(ctx context.Context, roots []string, do func() error) error {
	for i, folder := range n.folders {
		spec := control.FolderSpec{ID: folder, Source: notion.Name, Root: roots[i], Title: folder}
		if _, err := n.door.Control.AddFolder(ctx, spec, person); err != nil {
			return err
		}
	}
	n.server.ResetLog()
	return do()
}

// withWorkers runs something while n workers run.
func (n *notionLab) withWorkers(ctx context.Context, left int, do func() error) error {
	if left == 0 {
		return do()
	}
	return n.withWorker(ctx, func(*child) error { return n.withWorkers(ctx, left-1, do) })
}

// leave deletes the folders, so that nothing of them takes the budget any more.
func (n *notionLab) leave(ctx context.Context) error {
	for _, folder := range n.folders {
		answer, err := n.door.Control.DeleteFolder(ctx, folder, true, person)
		if err != nil {
			return err
		}
		if _, err := n.door.Control.Wait(ctx, answer, nil); err != nil {
			return err
		}
	}
	return nil
}
