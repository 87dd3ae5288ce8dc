package handbook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
)

// Place is where the sample is: a directory, or a workspace of a stand-in.
type Place struct {
	// FolderID is the folder that syncs it, Title its name for people.
	FolderID, Title string
	Source, Root    string
}

// Files is the sample as a directory.
func Files(root string) Place {
	return Place{FolderID: "sample", Title: "Sample handbook", Source: "files", Root: root}
}

// Sandbox is the sample as the workspace of a stand-in Notion, and as a folder of a stand-in Drive.
func Sandbox(driveRoot string) []Place {
	return []Place{
		{FolderID: "sandbox", Title: "Sample handbook in the sandbox's Notion", Source: "notion", Root: "workspace"},
		{FolderID: "sandbox-drive", Title: "Company drive in the sandbox's Google Drive", Source: "gdrive", Root: driveRoot},
	}
}

// maxPages is more than a sample has, and less than counting chunks page by page would bear.
const maxPages = 5000

// ErrIncomplete says that a sync ended otherwise than completed.
var ErrIncomplete = errors.New("the sync is not complete")

// Door is what the sample asks of control.
type Door interface {
	Folder(ctx context.Context, id string) (knowledge.Folder, error)
	AddFolder(ctx context.Context, spec control.FolderSpec, actor control.Actor) (knowledge.Folder, error)
	SyncFolder(ctx context.Context, id string, mode knowledge.Mode, actor control.Actor) (control.Answer, error)
	Wait(ctx context.Context, answer control.Answer, progress func(knowledge.RunProgress)) (control.Answer, error)
	Pages(ctx context.Context, folder string, filter control.PageFilter) ([]knowledge.Page, error)
	Revisions(ctx context.Context, folder, pageID string) ([]knowledge.Revision, error)
}

// Result is what a sync of the sample did.
type Result struct {
	// Skipped says why there was no sync: a person has deleted or paused the folder.
	Skipped string
	Counts  knowledge.Counts
	// Live and Chunks are what readers find afterwards.
	Live, Chunks int64
	Took         time.Duration
}

// Sync registers the place's folder, unless it is there, and syncs it in full. A sync that doesn't complete is ErrIncomplete.
func Sync(ctx context.Context, door Door, place Place, actor control.Actor, progress func(knowledge.RunProgress)) (Result, error) {
	began := time.Now()
	folder, err := register(ctx, door, place, actor)
	if err != nil {
		return Result{}, err
	}
	if folder.State != "active" {
		return Result{Skipped: skipped(place.FolderID, folder.State)}, nil
	}
	answer, err := door.SyncFolder(ctx, place.FolderID, knowledge.ModeFull, actor)
	if err == nil {
		answer, err = door.Wait(ctx, answer, progress)
	}
	if err != nil {
		return Result{}, fmt.Errorf("sync the sample: %w", err)
	}
	result := Result{Took: time.Since(began)}
	if answer.Counts != nil {
		result.Counts = *answer.Counts
	}
	if answer.Status != string(knowledge.RunCompleted) {
		return result, fmt.Errorf("%w: it ended as %s (%s)", ErrIncomplete, answer.Status, answer.Reason)
	}
	result.Live, result.Chunks, err = count(ctx, door, place.FolderID)
	return result, err
}

func register(ctx context.Context, door Door, place Place, actor control.Actor) (knowledge.Folder, error) {
	folder, err := door.Folder(ctx, place.FolderID)
	if control.KindOf(err) == control.KindNotFound {
		folder, err = door.AddFolder(ctx, control.FolderSpec{ID: place.FolderID, Source: place.Source, Root: place.Root, Title: place.Title}, actor)
	}
	if err != nil {
		return folder, fmt.Errorf("register the sample: %w", err)
	}
	return folder, nil
}

func skipped(folder, state string) string {
	if state == "deleted" {
		return "deleted, so it was left alone: `starter folder restore " + folder + "` brings it back"
	}
	return state + ", so it was left alone: `starter folder resume " + folder + "` lets it go on"
}

// count looks at what is live now, page by page: the sample is small.
func count(ctx context.Context, door Door, folder string) (live, chunks int64, err error) {
	pages, err := door.Pages(ctx, folder, control.PageFilter{State: string(knowledge.StateLive), Limit: maxPages})
	if err != nil {
		return 0, 0, fmt.Errorf("count the sample: %w", err)
	}
	for _, page := range pages {
		revisions, err := door.Revisions(ctx, folder, page.PageID)
		if err != nil {
			return 0, 0, fmt.Errorf("count the sample: %w", err)
		}
		for _, revision := range revisions {
			if revision.State == "published" {
				chunks += int64(revision.Chunks)
			}
		}
	}
	return int64(len(pages)), chunks, nil
}
