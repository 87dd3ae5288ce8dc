package gdrive

import (
	"context"
	"time"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/transport"
)

const (
	sayRootMissing = "the folder's root is not in Google Drive, or isn't shared with the connection's account any more: share it again, " +
		"or set another root; nothing is removed meanwhile"
	sayRootTrashed    = "the folder's root is in Google Drive's trash: restore it, or set another root; nothing is removed meanwhile"
	sayRootUnreadable = "the connection's account may not read the folder's root in Google Drive: share it with the account; nothing is removed meanwhile"
	sayRootIsFile     = "the folder's root is a file in Google Drive, not a folder: set the URL of a folder or shared drive as its root"
)

// top reads the root as old as it may be, and the verdict if it can't be listed. What was shared with the account has no folder of
// its own.
func (s *Source) top(ctx context.Context, root source.Root, age time.Duration) (placed, source.Listed, error) {
	ref := refOf(root)
	if ref.id == SharedWithMe {
		return placed{file: file{id: SharedWithMe, name: "Shared with me", mime: mimeFolder}}, source.Listed{}, nil
	}
	s.client.keys.note(ref.id, ref.key)
	f, err := s.folder(ctx, ref.id, age)
	switch {
	case notFound(err):
		return placed{}, source.Listed{Verdict: source.VerdictRootMissing, Sentence: sayRootMissing}, nil
	case withheld(err):
		return placed{}, source.Listed{Verdict: source.VerdictRootUnreadable, Sentence: sayRootUnreadable}, nil
	case err != nil:
		return placed{}, source.Listed{}, err
	case f.trashed:
		return placed{}, source.Listed{Verdict: source.VerdictRootMissing, Sentence: sayRootTrashed}, nil
	case !f.isFolder():
		return placed{}, source.Listed{Verdict: source.VerdictRootUnreadable, Sentence: sayRootIsFile}, nil
	}
	return placed{file: f}, source.Listed{}, nil
}

// fresh asks for no answer from before.
const fresh = 0

// Check tells whether the credentials are good and show the root. An account that sees nothing at all gets its address told, since
// that is whom to share with.
func (s *Source) Check(ctx context.Context, root source.Root) error {
	ctx = transport.WithAttempt(ctx, transport.Attempt{Lane: knowledge.LanePerson, Check: true})
	who, err := s.client.account(ctx)
	if err != nil {
		return failure(err)
	}
	_, listed, err := s.top(ctx, root, fresh)
	if err != nil {
		return failure(err)
	}
	if listed.Verdict == "" && refOf(root).id != MyDrive && refOf(root).id != SharedWithMe {
		return nil
	}
	seesNothing, err := s.seesNothing(ctx)
	switch {
	case err != nil:
		return failure(err)
	case seesNothing:
		return &source.Failure{Class: source.ClassNotFound, Doing: "look at the root", Sentence: sayNothingShared(who)}
	case listed.Verdict != "":
		return &source.Failure{Class: source.ClassNotFound, Doing: "look at the root", Sentence: listed.Sentence}
	}
	return nil
}

func sayNothingShared(who string) string {
	if who == "" {
		who = "the connection's account"
	}
	return "connected, but nothing is shared: share a folder or a shared drive in Google Drive with " + who
}

// seesNothing tells an account that sees no file at all.
func (s *Source) seesNothing(ctx context.Context) (bool, error) {
	found, err := s.client.list(ctx, query{q: "trashed = false", fields: "id", size: 1})
	if err != nil || len(found.files) > 0 || found.next != "" {
		return false, err
	}
	drives, err := s.client.driveCount(ctx)
	return drives == 0, err
}
