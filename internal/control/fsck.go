package control

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

// FsckOptions say how deep to look, and whether to mend.
type FsckOptions struct {
	Repair bool
	// AgainstSource also lists each active folder and compares.
	AgainstSource bool
	// AfterRestore says that the database comes from a backup: everything that began before is fenced at once.
	AfterRestore bool
}

// Difference is something that doesn't fit, with its meaning.
type Difference struct {
	Kind     string `json:"kind"`
	FolderID string `json:"folder_id"`
	PageID   string `json:"page_id"`
	Sentence string `json:"sentence"`
	Repaired bool   `json:"repaired"`
	// NextStep is what to do about one that is left; empty for a repaired one.
	NextStep string `json:"next_step"`
}

// fsckGrace is how old a row must be before fsck calls it left behind: what is younger may be under way.
const fsckGrace = 30 * time.Second

// fsck is one check under way.
type fsck struct {
	*Control
	options FsckOptions
	found   []Difference
}

// Fsck compares Temporal, the in-flight rows, pages, revisions, chunks and embeddings (and with AgainstSource the sources), and
// gives each difference with its meaning. It is safe during syncs: what is younger than half a minute is left alone, and every
// repair looks again under the lock.
func (c *Control) Fsck(ctx context.Context, options FsckOptions) ([]Difference, error) {
	f := &fsck{Control: c, options: options, found: []Difference{}}
	steps := []func(context.Context) error{f.flights, f.runs, f.deletes, f.restores, f.strangers, f.drift}
	if options.AfterRestore {
		steps = append([]func(context.Context) error{f.incarnation}, steps...)
	}
	if options.AgainstSource {
		steps = append(steps, f.sources)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return f.found, err
		}
	}
	return f.found, nil
}

// report notes a difference and, when asked to, mends it.
func (f *fsck) report(d Difference, mend func() error) error {
	var err error
	switch {
	case mend == nil:
	case !f.options.Repair:
		d.NextStep = "`starter fsck --repair` mends it"
	default:
		if err = mend(); err == nil {
			d.Repaired = true
		}
	}
	f.found = append(f.found, d)
	return err
}

func (f *fsck) incarnation(ctx context.Context) error {
	d := Difference{
		Kind: "restored_database",
		Sentence: "the database comes from a backup: runs that began before the restore are fenced now " +
			"(deletes accepted after the backup was taken are not in it: delete those pages again)",
	}
	_, err := f.store.RenewIncarnation(ctx)
	d.Repaired = err == nil
	f.found = append(f.found, d)
	return err
}

// flights finds in-flight rows whose workflow doesn't run any more.
func (f *fsck) flights(ctx context.Context) error {
	flights, err := f.store.OldFlights(ctx, fsckGrace)
	if err != nil {
		return err
	}
	for _, flight := range flights {
		run, exists, err := f.Describe(ctx, flight.WorkflowID)
		if err != nil {
			return err
		}
		if exists && run.Running && run.RunID == flight.RunID {
			continue
		}
		err = f.report(Difference{
			Kind: "in_flight_without_workflow", FolderID: flight.FolderID, PageID: flight.PageID,
			Sentence: fmt.Sprintf("a sync that began at %s holds the page, and its workflow is gone", flight.BeganAt.UTC().Format(time.RFC3339)),
		}, func() error {
			_, err := f.store.DropAttempt(ctx, flight.Holder())
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// runs finds runs that are recorded as running and have no workflow.
func (f *fsck) runs(ctx context.Context) error {
	runs, err := f.store.RunningRuns(ctx, fsckGrace)
	if err != nil {
		return err
	}
	for _, r := range runs {
		run, exists, err := f.Describe(ctx, r.WorkflowID)
		if err != nil {
			return err
		}
		if exists && run.Running {
			continue
		}
		err = f.report(Difference{
			Kind: "run_without_workflow", FolderID: r.FolderID, Sentence: "run " + r.WorkflowID + " is recorded as running, and its workflow is gone",
		}, func() error {
			return f.store.FinishRun(ctx, knowledge.FinishedRun{
				WorkflowID: r.WorkflowID, Folder: r.FolderID, Kind: r.Kind, Counts: r.Counts,
				Status: knowledge.RunFailed, Reason: "its workflow was gone: closed by fsck",
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// deletes finds accepted deletes that nobody carries out.
func (f *fsck) deletes(ctx context.Context) error {
	open, err := f.store.UnfinishedDeletes(ctx, fsckGrace)
	if err != nil {
		return err
	}
	for _, del := range open {
		run, exists, err := f.Describe(ctx, del.WorkflowID)
		if err != nil {
			return err
		}
		if exists && run.Running {
			continue
		}
		page := ""
		if del.PageID != nil {
			page = *del.PageID
		}
		err = f.report(Difference{
			Kind: "delete_without_workflow", FolderID: del.FolderID, PageID: page,
			Sentence: "a delete was accepted (and is hidden from readers), and its workflow doesn't run",
		}, func() error { return f.StartDelete(ctx, del) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *fsck) restores(ctx context.Context) error {
	half, err := f.store.HalfRestored(ctx)
	if err != nil {
		return err
	}
	for _, del := range half {
		err := f.report(Difference{
			Kind: "half_restored", FolderID: del.FolderID, PageID: *del.PageID, Sentence: "the restore of a subtree stopped in the middle",
		}, func() error {
			_, err := f.restoreSwept(ctx, del.DeleteID)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// strangers finds running workflows of folders that there are not.
func (f *fsck) strangers(ctx context.Context) error {
	running, err := f.ListRunning(ctx, ids.Folders)
	if err != nil {
		return err
	}
	folders, err := f.Folders(ctx)
	if err != nil {
		return err
	}
	now, err := f.store.Now(ctx)
	if err != nil {
		return err
	}
	known := make(map[string]bool, len(folders))
	for _, folder := range folders {
		known[folder.ID] = true
	}
	for _, run := range running {
		parsed, err := ids.Parse(run.WorkflowID)
		if err != nil || known[parsed.Folder] || now.Sub(run.StartedAt) < fsckGrace || !strings.HasPrefix(run.WorkflowID, ids.Folders) {
			continue
		}
		err = f.report(Difference{
			Kind: "workflow_without_folder", FolderID: parsed.Folder, PageID: parsed.Page,
			Sentence: "workflow " + run.WorkflowID + " runs for a folder that there is not",
		}, func() error { return f.Cancel(ctx, run.WorkflowID) })
		if err != nil {
			return err
		}
	}
	return nil
}

// meanings says what each kind of drift inside the database is.
var meanings = map[string]string{
	"staged_leftover":           "a staged revision that no sync holds was left behind",
	"published_pointer_wrong":   "the page points to a revision that isn't its published one",
	"published_without_pointer": "a published revision isn't the one that the page points to",
	"excluded_but_visible":      "a person deleted the page, and its row doesn't say so",
	"orphan_embeddings":         "embeddings that no chunk uses have not been collected",
	"purge_overdue":             "its undo window has been over for more than an hour, and it has not been purged",
	"models_missing":            "its embeddings or summary are missing, and nothing will ask for them",
}

func (f *fsck) drift(ctx context.Context) error {
	found, err := f.store.Drifts(ctx)
	if err != nil {
		return err
	}
	for _, d := range found {
		sentence := meanings[d.Kind]
		if d.Detail != "" {
			sentence += " (" + d.Detail + ")"
		}
		if err := f.report(Difference{Kind: d.Kind, FolderID: d.FolderID, PageID: d.PageID, Sentence: sentence}, f.mend(ctx, d)); err != nil {
			return err
		}
	}
	return nil
}

func (f *fsck) mend(ctx context.Context, d store.Drift) func() error {
	return func() error {
		var err error
		switch d.Kind {
		case "staged_leftover":
			_, err = f.store.DropLeftovers(ctx)
		case "published_pointer_wrong", "published_without_pointer":
			err = f.store.MendPointer(ctx, d.FolderID, d.PageID)
		case "excluded_but_visible":
			err = f.store.MendExcluded(ctx, d.FolderID, d.PageID)
		case "orphan_embeddings":
			_, err = f.store.DropOrphanEmbeddings(ctx, 100_000)
		case "purge_overdue":
			_, err = f.store.PurgePages(ctx, 0, 500)
		case "models_missing":
			err = f.store.AddDueRead(ctx, d.FolderID, d.PageID, 0, "models")
		}
		return err
	}
}
