package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

// differences are the words for what a dry listing saw.
var differences = map[string]string{
	"new": "the source has it, and the knowledge base doesn't", "changed": "the source has a version that was not read yet",
	"revived": "the source has it again", changeVanished: "the source no longer lists it",
}

const changeVanished = "vanished"

// sources lists each active folder without changing anything, and compares. The repair is a full sync, whose guards hold.
func (f *fsck) sources(ctx context.Context) error {
	folders, err := f.Folders(ctx)
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if folder.State != "active" {
			continue
		}
		if err := f.againstSource(ctx, folder.ID); err != nil {
			return err
		}
	}
	return nil
}

var fsckActor = Actor{Name: "fsck", Trigger: "fsck"}

func (f *fsck) againstSource(ctx context.Context, folder string) error {
	answer, err := f.SyncFolder(ctx, folder, knowledge.ModeDryRun, fsckActor)
	if err != nil {
		return err
	}
	if answer, err = f.Wait(ctx, answer, nil); err != nil {
		return err
	}
	if answer.Status != string(knowledge.RunCompleted) {
		return f.report(Difference{
			Kind: "source_not_whole", FolderID: folder, Sentence: "the source could not be listed whole: " + answer.Reason,
			NextStep: "mend what keeps the source from being listed (`starter connection check` says more), then run the same command again",
		}, nil)
	}
	drifts, err := f.store.SourceDrifts(ctx, answer.WorkflowID)
	if err != nil || len(drifts) == 0 {
		return err
	}
	var syncErr error
	if f.options.Repair {
		syncErr = f.fullSync(ctx, folder)
	}
	for _, drift := range drifts {
		d := Difference{Kind: "source_" + drift.Change, FolderID: folder, PageID: drift.PageID, Sentence: drift.SourceID + ": " + inWords(drift.Change)}
		if !f.options.Repair {
			d.NextStep = beforeRepair(folder, drift.Change)
		} else if d.NextStep, err = f.afterRepair(ctx, folder, drift, syncErr); err != nil {
			return err
		}
		d.Repaired = d.NextStep == ""
		f.found = append(f.found, d)
	}
	return nil
}

func inWords(change string) string {
	if words := differences[change]; words != "" {
		return words
	}
	return "the source has it in another place"
}

// beforeRepair says what mends a difference. One full sync is no evidence that a page is gone, so the repair is only half of it.
func beforeRepair(folder, change string) string {
	if change == changeVanished {
		return fmt.Sprintf("two full syncs in a row that don't see it remove it: run `starter sync folder %s --full --wait` twice", folder)
	}
	return "`starter fsck --against-source --repair` mends it by a full sync, as `starter sync folder " + folder + " --full --wait` does"
}

// afterRepair looks what the full sync made of a difference, and says what is left to do; nothing when it is mended.
func (f *fsck) afterRepair(ctx context.Context, folder string, drift store.SourceDrift, syncErr error) (string, error) {
	page, err := f.pageOf(ctx, folder, drift.SourceID)
	if err != nil {
		return "", err
	}
	gone := drift.Change == changeVanished
	switch {
	case gone && (page == nil || page.State == knowledge.StateTombstoned || page.State == knowledge.StateExcluded):
		return "", nil
	case gone && page.HoldID != nil:
		return fmt.Sprintf("its removal waits for you: `starter holds show %s`", *page.HoldID), nil
	case !gone && page != nil && page.Failure != nil:
		class := page.Failure.Class
		return fmt.Sprintf("it fails with %s: mend the cause, then run `starter retry %s --class %s`", class, folder, shellWord(class)), nil
	case syncErr != nil:
		return "the repair did not end well (" + sentenceOf(syncErr) + "): run the same command again", nil
	case gone:
		return fmt.Sprintf("the next full sync that doesn't see it removes it: `starter sync folder %s --full --wait`", folder), nil
	}
	return "", nil
}

// pageOf reads a page by its source id; nil when there is none any more.
func (f *fsck) pageOf(ctx context.Context, folder, sourceID string) (*knowledge.Page, error) {
	key, err := f.store.FindPage(ctx, folder, sourceID)
	if err == nil && !key.ExclusionOnly {
		var page knowledge.Page
		if page, err = f.store.Page(ctx, folder, key.PageID); err == nil {
			return &page, nil
		}
	}
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return nil, err
}

func (f *fsck) fullSync(ctx context.Context, folder string) error {
	answer, err := f.SyncFolder(ctx, folder, knowledge.ModeFull, fsckActor)
	if err != nil {
		return err
	}
	answer, err = f.Wait(ctx, answer, nil)
	if err == nil && answer.Status != string(knowledge.RunCompleted) {
		err = refuse("not_whole", "the full sync ended as %s: %s", answer.Status, answer.Reason)
	}
	return err
}
