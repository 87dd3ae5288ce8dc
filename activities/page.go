package activities

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/loresync/loresync/internal/content/render"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/pause"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/transport"
)

// PageStore is what page syncs ask of the store.
type PageStore interface {
	ProgressStore
	TakeNote(ctx context.Context, h knowledge.Holder, sourceID string) ([]byte, bool, error)
	BeginPageSync(ctx context.Context, folder, page, workflowID, firstRunID, runID string, lane knowledge.Lane) (knowledge.Begun, error)
	HeldPage(ctx context.Context, h knowledge.Holder) (knowledge.Begun, bool, error)
	MayGoOn(ctx context.Context, h knowledge.Holder) (bool, error)
	StageRevision(ctx context.Context, h knowledge.Holder, r knowledge.StagedRevision) (knowledge.Staged, error)
	EnrichRevision(ctx context.Context, h knowledge.Holder, e knowledge.Enrichment) (string, error)
	PublishStaged(ctx context.Context, h knowledge.Holder, revisionID int64, modelsAfter *time.Duration) (knowledge.Published, error)
	PublishUnchanged(ctx context.Context, h knowledge.Holder, r knowledge.Reading) (knowledge.Published, error)
	FinishPageSync(ctx context.Context, h knowledge.Holder, outcome knowledge.Outcome, class, sentence, version string) (string, error)
	PublishedRevision(ctx context.Context, folder, page string) (int64, error)
	NoteSourceFacts(ctx context.Context, h knowledge.Holder, facts knowledge.Facts) (bool, error)
	ReportChildren(ctx context.Context, h knowledge.Holder, children []knowledge.Entry) (int, error)
	TextsToEnrich(ctx context.Context, revisionID int64) (knowledge.PublishedTexts, error)
}

// PageActivities read one page and publish it. Every write carries the token that Begin gave, so whatever is late loses.
type PageActivities struct {
	Store   PageStore
	Sources Sources
	Models  Models
	// Gone takes what a read found to be in the source's trash.
	Gone GoneTeller
}

// maxReadAttempts is after how many tries a read that might have gone well is recorded as a failure of the page. The due
// reads go on trying, with growing delays.
const maxReadAttempts = 3

// BeginPageInput names a page and the run that wants it.
type BeginPageInput struct {
	FolderID   string
	PageID     string
	WorkflowID string
	FirstRunID string
	RunID      string
	Lane       knowledge.Lane
}

// ReadPageResult is how a read ended, in ids and words of the code.
type ReadPageResult struct {
	// Outcome is unchanged, skipped, not_found, failed, refused, fenced or cancelled; empty when something is staged, or
	// still to be fetched.
	Outcome knowledge.Outcome
	// Reason is the class of a refusal or failure.
	Reason string
	Token  string
	// Remote is set when the page is still to be fetched, by an activity with heartbeats.
	Remote bool
	// First is set when the page has never been published.
	First bool
	// RevisionID is what is staged, or what is published and still wants models.
	RevisionID int64
	// ModelsWanted is set when a remote model has something to do for RevisionID.
	ModelsWanted bool
}

// ReadPage takes the page and, where the source is at hand, reads, converts and stages it in the same step. A second run
// takes the page again under a new token, which fences the first.
func (a *PageActivities) ReadPage(ctx context.Context, in BeginPageInput) (ReadPageResult, error) {
	begun, err := a.Store.BeginPageSync(ctx, in.FolderID, in.PageID, in.WorkflowID, in.FirstRunID, in.RunID, in.Lane)
	if err != nil {
		return ReadPageResult{}, err
	}
	if begun.Outcome != "begun" {
		return ReadPageResult{Outcome: knowledge.OutcomeRefused, Reason: begun.Outcome}, nil
	}
	src, err := a.Sources.Source(ctx, begun.Source, begun.Connection)
	if err != nil {
		return ReadPageResult{}, err
	}
	if src.Traits().Remote {
		return ReadPageResult{Token: begun.Token, Remote: true, First: begun.ContentHash == nil}, nil
	}
	holder := knowledge.Holder{Folder: in.FolderID, Page: in.PageID, Token: begun.Token}
	result, err := a.fetch(ctx, src, holder, begun)
	if err != nil {
		a.drop(ctx, holder)
	}
	return result, err
}

// dropPatience bounds the cleanup of a read that has failed or was cancelled.
const dropPatience = 10 * time.Second

// drop gives back a page whose read ends without a result, in a context that no cancellation reaches: nobody else knows the
// token, so the workflow's own cleanup could not. What can't be dropped now is the janitor's.
func (a *PageActivities) drop(ctx context.Context, h knowledge.Holder) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), dropPatience)
	defer cancel()
	if _, err := a.Store.FinishPageSync(ctx, h, knowledge.OutcomeCancelled, "", "", ""); err != nil {
		activity.GetLogger(ctx).Warn("a read that ended early could not be cleaned up; the janitor does it", "folder_id", h.Folder, "page_id", h.Page)
	}
}

// HeldPageInput names a page and the token that holds it.
type HeldPageInput struct {
	FolderID   string
	PageID     string
	Token      string
	RevisionID int64
	// Outcome and Reason are for FinishPage.
	Outcome knowledge.Outcome
	Reason  string
}

func (in HeldPageInput) holder() knowledge.Holder {
	return knowledge.Holder{Folder: in.FolderID, Page: in.PageID, Token: in.Token}
}

// FetchPage reads, converts and stages a page that ReadPage took. It heartbeats every second, and may run again: what it
// staged before is replaced.
func (a *PageActivities) FetchPage(ctx context.Context, in HeldPageInput) (ReadPageResult, error) {
	holder := in.holder()
	begun, held, err := a.Store.HeldPage(ctx, holder)
	if err != nil {
		return ReadPageResult{}, err
	}
	if !held {
		return ReadPageResult{Outcome: knowledge.OutcomeFenced}, nil
	}
	src, err := a.Sources.Source(ctx, begun.Source, begun.Connection)
	if err != nil {
		return ReadPageResult{}, err
	}
	return a.fetch(ctx, src, holder, begun)
}

// fetch reads the page while it watches whether a delete wants it to stop.
func (a *PageActivities) fetch(ctx context.Context, src source.Source, holder knowledge.Holder, begun knowledge.Begun) (ReadPageResult, error) {
	root, err := rootOf(holder.Folder, begun.Root, begun.Limits)
	if err != nil {
		return ReadPageResult{}, err
	}
	root.Memo, root.At = memo{store: a.Store, holder: holder}, begun.At
	if begun.ContentHash == nil {
		root.Note = a.noteFor(holder)
	}
	asking := transport.WithAttempt(ctx, transport.Attempt{Folder: holder.Folder, Page: holder.Page, Token: holder.Token, Lane: knowledge.LaneBackfill})
	reading, stop := a.watch(asking, holder)
	page, err := a.read(reading, src, root, begun)
	asked := stop()
	result := ReadPageResult{Token: holder.Token, First: begun.ContentHash == nil}
	switch {
	case asked, errors.Is(err, transport.ErrStopped), errors.Is(err, transport.ErrPaused):
		return a.end(ctx, holder, result, knowledge.OutcomeCancelled, "", "", "")
	case err != nil:
		return a.failed(ctx, holder, begun, result, err)
	}
	if page.Entry.ParentUnknown {
		page.Entry.ParentSourceID = begun.Parent
	}
	if len(page.Children) > 0 {
		// Before the page counts as read: who waits for it then finds its children.
		if _, err := a.Store.ReportChildren(ctx, holder, page.Children); err != nil {
			return result, err
		}
	}
	if err := a.noteFacts(ctx, holder, page); err != nil {
		return result, err
	}
	return a.settle(ctx, src, holder, begun, result, page)
}

// noteFacts keeps who may read the page at its source, and what else the source said of it: also of a page whose content is the
// same, since rights change without it.
func (a *PageActivities) noteFacts(ctx context.Context, h knowledge.Holder, page source.Page) error {
	if page.Access == nil && page.Meta == nil {
		return nil
	}
	meta, err := json.Marshal(render.CleanMeta(page.Meta))
	if err != nil {
		meta = json.RawMessage(`{}`)
	}
	_, err = a.Store.NoteSourceFacts(ctx, h, knowledge.Facts{Access: page.Access, Meta: meta})
	return err
}

// watch gives a context that ends when a delete asks the holder to stop, so that a slow read ends within a second or two.
// stop ends the watch and tells whether it was asked to.
func (a *PageActivities) watch(ctx context.Context, holder knowledge.Holder) (reading context.Context, stop func() bool) {
	reading, cancel := context.WithCancel(ctx)
	var asked atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for pause.For(reading, time.Second) == nil {
			if !activity.GetInfo(ctx).IsLocalActivity {
				activity.RecordHeartbeat(ctx)
			}
			if goOn, err := a.Store.MayGoOn(reading, holder); err == nil && !goOn {
				asked.Store(true)
				cancel()
			}
		}
	}()
	return reading, func() bool {
		cancel()
		<-done
		return asked.Load()
	}
}

// end closes the attempt without publishing. Last good content stays.
func (a *PageActivities) end(
	ctx context.Context, h knowledge.Holder, result ReadPageResult, outcome knowledge.Outcome, class, sentence, version string,
) (ReadPageResult, error) {
	sentence = render.Truncate(render.CleanText(sentence), maxSentence)
	how, err := a.Store.FinishPageSync(ctx, h, outcome, class, sentence, version)
	result.Outcome, result.Reason = outcomeOf(how), class
	return result, err
}

const maxSentence = 500

// settle records an unchanged page, or converts and stages what was read.
func (a *PageActivities) settle(
	ctx context.Context, src source.Source, h knowledge.Holder, begun knowledge.Begun, result ReadPageResult, page source.Page,
) (ReadPageResult, error) {
	identity := page.Identity
	if identity == nil {
		identity = page.Raw
	}
	hash := sha256.Sum256(identity)
	recheck := recheckAfter(page.Entry, src.Traits(), begun.At)
	if recheck == nil && !src.Traits().Remote {
		recheck = recheckAfter(page.Entry, src.Traits(), time.Now()) // the times of files at hand are by this machine's clock
	}
	if bytes.Equal(hash[:], begun.ContentHash) && !begun.ModelsPending {
		return a.unchanged(ctx, h, begun, result, page, recheck)
	}
	revision, err := a.convert(ctx, page, hash[:])
	if errors.Is(err, render.ErrInvalidUTF8) {
		return a.end(ctx, h, result, knowledge.OutcomeSkipped, "invalid_utf8",
			"the text isn't valid UTF-8: save it as UTF-8", page.Entry.Version)
	}
	if err != nil {
		return a.end(ctx, h, result, knowledge.OutcomeFailed, FailureInvalid, "the page can't be converted to Markdown", page.Entry.Version)
	}
	revision.RecheckAfter = recheck
	return a.stage(ctx, h, result, revision)
}

func (a *PageActivities) unchanged(
	ctx context.Context, h knowledge.Holder, begun knowledge.Begun, result ReadPageResult, page source.Page, recheck *time.Duration,
) (ReadPageResult, error) {
	title := begun.Title
	if title == "" {
		title = page.Entry.Title
	}
	published, err := a.Store.PublishUnchanged(ctx, h, knowledge.Reading{
		Title: title, Place: placeOf(page.Entry), Version: page.Entry.Version, EditedAt: editedAt(page.Entry), Fingerprint: page.Fingerprint,
		RecheckAfter: recheck,
	})
	result.Outcome = outcomeOf(published.Outcome)
	return result, err
}

// stage writes the revision and embeds with models that are at hand; remote ones get an activity of their own.
func (a *PageActivities) stage(ctx context.Context, h knowledge.Holder, result ReadPageResult, revision knowledge.StagedRevision) (ReadPageResult, error) {
	staged, err := a.Store.StageRevision(ctx, h, revision)
	if err != nil {
		return result, err
	}
	if staged.Outcome != "staged" {
		result.Outcome = outcomeOf(staged.Outcome)
		return result, nil
	}
	result.RevisionID = *staged.RevisionID
	result.ModelsWanted = a.Models.Summarizer.Remote() || a.Models.Embedder.Remote() && len(staged.Missing) > 0
	if a.Models.Embedder.Remote() || len(staged.Missing) == 0 {
		return result, nil
	}
	outcome, err := a.embed(ctx, h, result.RevisionID, pick(revision.Chunks, staged.Missing), nil, "")
	if outcome != "enriched" && err == nil {
		result.Outcome = outcomeOf(outcome)
	}
	return result, err
}

// outcomeOf names what the store answered: a delete that asked to stop makes it cancelled, being overtaken makes it fenced.
func outcomeOf(answer string) knowledge.Outcome {
	if answer == "cancel_requested" {
		return knowledge.OutcomeCancelled
	}
	return knowledge.Outcome(answer)
}

func placeOf(e source.Entry) knowledge.Place {
	return knowledge.Place{URL: e.URL, Path: e.Path, Parent: e.ParentSourceID, ListedTitle: e.Title}
}

func editedAt(e source.Entry) *time.Time {
	if e.EditedAt.IsZero() {
		return nil
	}
	return &e.EditedAt
}

// recheckAfter says when a page must be read again because it was read within the source's granularity of its edit: a second
// edit in the same tick would carry the same version.
func recheckAfter(e source.Entry, traits source.Traits, now time.Time) *time.Duration {
	doubt := 2 * traits.EditGranularity
	if e.EditedAt.IsZero() || now.Sub(e.EditedAt) >= doubt {
		return nil
	}
	after := max(doubt, time.Second)
	return &after
}

func pick(chunks []knowledge.StagedChunk, hashes [][]byte) []knowledge.StagedChunk {
	wanted := make(map[string]bool, len(hashes))
	for _, h := range hashes {
		wanted[string(h)] = true
	}
	picked := make([]knowledge.StagedChunk, 0, len(hashes))
	for _, c := range chunks {
		if wanted[string(c.TextHash)] {
			picked = append(picked, c)
			delete(wanted, string(c.TextHash))
		}
	}
	return picked
}
