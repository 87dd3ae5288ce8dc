package control

import (
	"fmt"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
)

// explain words what is known about a page. Code decides; nothing here asks anybody.
func explain(key store.PageKey, facts store.PageFacts) Explanation {
	e := Explanation{FolderID: key.FolderID, PageID: key.PageID, SourceID: key.SourceID, Title: key.Title, State: string(knowledge.StateExcluded)}
	if facts.Page != nil {
		e.Title, e.State = facts.Page.Title, string(facts.Page.State)
	}
	e.Sentence, e.NextStep = reasonFor(key, facts)
	if e.deleted = facts.FolderDeletedAt != nil; e.deleted {
		e.State, e.Facts = string(knowledge.StateExcluded), []string{}
		return e
	}
	e.Facts = append(pageFacts(facts), folderFacts(facts.FolderFacts)...)
	return e
}

// reasonFor is the sentence that counts, and what to do about it: the first reason that alone decides.
func reasonFor(key store.PageKey, facts store.PageFacts) (sentence, next string) {
	folder, page := key.FolderID, shellWord(key.PageID)
	if facts.FolderDeletedAt != nil {
		return answerDeletedFolder(folder, facts.FolderFacts)
	}
	if facts.ExcludedBy != nil && (facts.Page == nil || facts.Page.State == knowledge.StateExcluded) {
		return answerExcluded(key, facts)
	}
	if facts.Page == nil {
		return "It was purged.", "Run `starter sync page " + folder + " " + shellWord(key.SourceID) + "` to read it again."
	}
	switch facts.Page.State {
	case knowledge.StateLive:
		return answerLive(folder, page, facts)
	case knowledge.StateTombstoned:
		return "It is hidden because the source no longer has it.",
			"Nothing is needed: it comes back by itself when the source has it again. `starter sync folder " + folder + "` looks now."
	case knowledge.StateSkipped:
		return "It is not in the knowledge base because it can't be used: " + facts.Page.Reason,
			"Change the page at its source; the next sync reads it again."
	case knowledge.StatePending, knowledge.StateExcluded:
	}
	return answerPending(folder, page, facts)
}

func answerDeletedFolder(folder string, facts store.FolderFacts) (sentence, next string) {
	sentence = fmt.Sprintf("It is hidden because folder %s was deleted%s on %s.", folder, by(facts.FolderDeletedBy), clock(*facts.FolderDeletedAt))
	if facts.FolderErasing {
		return sentence, "Nothing brings it back: the folder is being removed for good."
	}
	return sentence, fmt.Sprintf("Run `starter folder restore %s` before %s to have it again.", folder, clock(*facts.FolderPurgeAt))
}

func answerExcluded(key store.PageKey, facts store.PageFacts) (sentence, next string) {
	top, subtree := *facts.ExclusionSourceID, ""
	if *facts.ExcludedSubtree {
		subtree = " --subtree"
	}
	sentence = fmt.Sprintf("It is not in the knowledge base because it was deleted%s on %s.", by(facts.ExcludedBy), clock(*facts.ExcludedAt))
	if top != key.SourceID {
		sentence = fmt.Sprintf("It is not in the knowledge base because %s above it was deleted with everything below%s on %s.",
			top, by(facts.ExcludedBy), clock(*facts.ExcludedAt))
	}
	next = fmt.Sprintf("Run `starter restore page %s %s%s` to have it again.", key.FolderID, shellWord(*facts.ExclusionPageID), subtree)
	return sentence, next
}

func answerLive(folder, page string, facts store.PageFacts) (sentence, next string) {
	sentence = "It is in the knowledge base."
	switch {
	case facts.Page.Failure != nil:
		sentence = "It is in the knowledge base with its last good content, since newer reads of it fail: " + facts.Page.Failure.Sentence
		next = failureStep(folder, facts)
	case facts.Page.HoldID != nil:
		sentence = "It is in the knowledge base, but the source doesn't list it any more and its removal waits for a person."
		next = fmt.Sprintf("Run `starter holds approve %s` to remove it, or `starter holds reject %s` to keep it.", *facts.Page.HoldID, *facts.Page.HoldID)
	case facts.Running():
		sentence, next = "It is in the knowledge base, and a sync of it is running.", "Wait for the sync to end."
	case facts.UnseenSince != nil:
		sentence = "It is in the knowledge base, but the last whole listing did not see it."
		next = "If it is gone at the source, the next full sync removes it: `starter sync folder " + folder + " --full`."
	case folderStep(folder, facts.FolderFacts) != "":
		sentence, next = "It is in the knowledge base, but not kept in step at the moment.", folderStep(folder, facts.FolderFacts)
	case mayBeStale(facts):
		sentence = "It is in the knowledge base, but may be stale: it is read again at " + clock(*facts.DueAt) + "."
		next = "Wait for that, or run `starter sync page " + folder + " " + page + "`."
	default:
		next = "Nothing is needed; `starter sync page " + folder + " " + page + "` reads it now."
	}
	return sentence, next
}

func answerPending(folder, page string, facts store.PageFacts) (sentence, next string) {
	switch {
	case facts.Running():
		return "It is not in the knowledge base yet: its first sync is running.", "Wait for the sync to end."
	case facts.Page.Failure != nil:
		return "It is not in the knowledge base because it could not be read: " + facts.Page.Failure.Sentence, failureStep(folder, facts)
	case folderStep(folder, facts.FolderFacts) != "":
		return "It is not in the knowledge base yet, and nothing is being synced at the moment.", folderStep(folder, facts.FolderFacts)
	case facts.Page.Kind == "container":
		return "It is not a page but a place that pages are in.", "Nothing is needed; ask about one of the pages in it."
	}
	return "It is not in the knowledge base yet: it was found, and not read so far.",
		"Run `starter sync page " + folder + " " + page + "`, or wait for the next sync."
}

func failureStep(folder string, facts store.PageFacts) string {
	retry := fmt.Sprintf("`starter retry %s --class %s`", folder, shellWord(facts.Page.Failure.Class))
	if facts.RetryAt == nil {
		return "It is not tried again by itself until it changes at the source: mend the cause, then run " + retry + "."
	}
	return "It is tried again at " + clock(*facts.RetryAt) + "; " + retry + " tries now."
}

// folderStep is what keeps all pages of a folder from being synced, as something to do; empty when nothing does.
func folderStep(folder string, facts store.FolderFacts) string {
	switch {
	case facts.Maintenance:
		return "Run `starter maintenance off`: all starts are stopped."
	case facts.ConnectionPausedAt != nil:
		return "The connection is paused " + pauseWords(facts) + ": " + resumeWords(facts) + "."
	case facts.FolderPausedAt != nil:
		return "Run `starter folder resume " + folder + "`: the folder is paused."
	}
	return ""
}

// pageFacts are what is known of the page, the weightiest first.
func pageFacts(f store.PageFacts) []string {
	facts := factList{}
	if f.ExcludedBy != nil {
		facts.add("deleted%s on %s, by the exclusion of %s%s", by(f.ExcludedBy), clock(*f.ExcludedAt), *f.ExclusionSourceID, subtreeWords(*f.ExcludedSubtree))
	}
	if f.Page == nil {
		facts.add("purged: only the exclusion is left")
		return facts
	}
	if f.TombstonedAt != nil {
		facts.add("hidden since %s: %s%s", clock(*f.TombstonedAt), f.Page.Reason, purgeWords(f.Page.PurgeAt))
	}
	facts.addFailure(f)
	if f.Page.HoldID != nil {
		facts.add("its removal waits in hold %s", *f.Page.HoldID)
	}
	if f.RemovalRejected {
		facts.add("a person rejected its removal; it isn't proposed again until the source lists it")
	}
	if f.UnseenSince != nil {
		facts.add("not seen by whole listings since %s, with %d of 2 strikes", clock(*f.UnseenSince), f.Strikes)
	}
	if f.Running() {
		facts.add("a sync of it runs since %s as %s%s", clock(*f.RunningSince), *f.RunningID, cancelWords(f.CancelRequested))
	}
	facts.addDue(f)
	if f.Page.Fidelity != nil {
		facts.add("its published content: %s", f.Page.Fidelity)
	}
	facts.addTime("last published at", f.Page.SyncedAt)
	if mayBeStale(f) {
		facts.addTime("last read, but not verified since, at", f.Page.VerifiedAt)
	} else {
		facts.addTime("last verified at", f.Page.VerifiedAt)
	}
	facts.addTime("last edited at the source at", f.Page.SourceEditedAt)
	return facts
}

// folderFacts are what is known of the folder.
func folderFacts(f store.FolderFacts) []string {
	facts := factList{}
	facts.addTime("folder paused at", f.FolderPausedAt)
	if f.ConnectionPausedAt != nil {
		facts.add("connection %s paused at %s%s", f.ConnectionName, clock(*f.ConnectionPausedAt), reasonIn(f.ConnectionReason))
	}
	if f.ListedAt == nil {
		facts.add("the folder has no complete listing yet")
	} else {
		facts.addTime("the folder's last complete listing ended at", f.ListedAt)
	}
	if f.LastRunStatus != nil {
		facts.add("the folder's last sync ended at %s as %s%s", clock(*f.LastRunEndedAt), *f.LastRunStatus, reasonIn(*f.LastRunReason))
	}
	facts.add("the folder is synced every %s, and in full by the daily batch", f.SyncInterval)
	return facts
}

type factList []string

func (l *factList) add(format string, args ...any) { *l = append(*l, fmt.Sprintf(format, args...)) }

func (l *factList) addTime(what string, at *time.Time) {
	if at != nil {
		l.add("%s %s", what, clock(*at))
	}
}

func (l *factList) addFailure(f store.PageFacts) {
	failure := f.Page.Failure
	if failure == nil {
		return
	}
	then := "no further try by itself"
	if f.RetryAt != nil {
		then = "next try at " + clock(*f.RetryAt)
	}
	l.add("failing with %s since %s, %d attempts, %s", failure.Class, clock(failure.Since), failure.Attempts, then)
}

func (l *factList) addDue(f store.PageFacts) {
	switch {
	case f.DueAt == nil:
	case mayBeStale(f):
		l.add("may be stale: it was read so soon after an edit that a further one would look the same; it is read again at %s", clock(*f.DueAt))
	default:
		l.add("due to be read at %s (%s)", clock(*f.DueAt), *f.DueReason)
	}
}

// mayBeStale tells whether an edit may have been missed: the read that would find it is still due.
func mayBeStale(f store.PageFacts) bool { return f.DueAt != nil && *f.DueReason == store.DueRecentEdit }

func by(who *string) string {
	if who == nil || *who == "" {
		return " by a person"
	}
	return " by " + *who
}

func reasonIn(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

func subtreeWords(subtree bool) string {
	if subtree {
		return " with all that is below it"
	}
	return ""
}

func purgeWords(at *time.Time) string {
	if at == nil {
		return ""
	}
	return ", purged after " + clock(*at)
}

func cancelWords(requested *bool) string {
	if requested != nil && *requested {
		return ", asked to stop"
	}
	return ""
}
