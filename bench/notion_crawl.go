package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

// start begins a full sync of all folders.
func (n *notionLab) start(ctx context.Context) ([]control.Answer, error) {
	answers := make([]control.Answer, len(n.folders))
	for i, folder := range n.folders {
		var err error
		if answers[i], err = n.door.Control.SyncFolder(ctx, folder, knowledge.ModeFull, person); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

func (n *notionLab) counted(until time.Time) crawl {
	return crawl{rate: n.rate, requests: n.server.Requests(), until: until, perMinute: n.server.MaxInWindow(time.Minute)}
}

// watch looks at a crawl for a while, counted from its first request.
func (n *notionLab) watch(ctx context.Context, lasting time.Duration) (crawl, error) {
	if _, err := n.start(ctx); err != nil {
		return crawl{}, err
	}
	for n.server.Count() == 0 {
		if err := pause(ctx, lookTick); err != nil {
			return crawl{}, err
		}
	}
	if err := pause(ctx, lasting); err != nil {
		return crawl{}, err
	}
	seen := n.counted(time.Now())
	return seen, n.leave(ctx)
}

// crawl reads everything, while a person asks for pages.
func (n *notionLab) crawl(ctx context.Context) (crawl, error) {
	answers, err := n.start(ctx)
	if err != nil {
		return crawl{}, err
	}
	var persons []time.Duration
	for i := range personAsks {
		took, err := n.askAt(ctx, int64(n.options.notionPages*(i+1)/(personAsks+1)))
		if err != nil {
			return crawl{}, err
		}
		n.say("  a person's page was asked for after %s", took.Round(time.Millisecond))
		persons = append(persons, took)
	}
	for _, answer := range answers {
		answer, err := n.door.Control.Wait(ctx, answer, n.progress())
		if err != nil {
			return crawl{}, err
		}
		if answer.Status != string(knowledge.RunCompleted) {
			return crawl{}, fmt.Errorf("sync folder %s: %w: %s %s", answer.FolderID, errIncomplete, answer.Status, answer.Reason)
		}
	}
	requests := n.server.Requests()
	seen := n.counted(requests[len(requests)-1].Time)
	seen.persons = persons
	return seen, n.leave(ctx)
}

const (
	pagesRead = `SELECT count(*) FROM live_pages WHERE folder_id = ANY ($1)`
	// someRead is one that was read a while ago, so that the crawl has no request for it any more.
	someRead = `SELECT folder_id, page_id FROM live_pages WHERE folder_id = ANY ($1) ORDER BY verified_at, page_id LIMIT 1`
)

// askAt has a person ask for a page once so many were read, and tells how long its first request took.
func (n *notionLab) askAt(ctx context.Context, read int64) (time.Duration, error) {
	const tick = 250 * time.Millisecond
	for {
		live, err := n.number(ctx, pagesRead, n.folders)
		if err != nil {
			return 0, err
		}
		if live >= read {
			break
		}
		if err := pause(ctx, tick); err != nil {
			return 0, err
		}
	}
	var folder, page string
	if err := n.sql.QueryRow(ctx, someRead, n.folders).Scan(&folder, &page); err != nil {
		return 0, fmt.Errorf("choose a page: %w", err)
	}
	asked := time.Now()
	if _, err := n.door.Control.SyncPage(ctx, folder, page, person); err != nil {
		return 0, err
	}
	for {
		for _, r := range n.server.Requests(notiontest.KindPage) {
			if r.Time.After(asked) && strings.Contains(r.Path, page) {
				return r.Time.Sub(asked), nil
			}
		}
		if err := pause(ctx, tick/10); err != nil {
			return 0, err
		}
	}
}
