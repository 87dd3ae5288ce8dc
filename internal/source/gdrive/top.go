package gdrive

import (
	"context"
	"strings"
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
	if who == "" {
		who = "the connection's account"
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
		return &source.Failure{Class: source.ClassNotFound, Doing: "look at the root", Sentence: sayRoot(listed.Sentence, who)}
	}
	return nil
}

func sayNothingShared(who string) string {
	return "connected, but nothing is shared: share a folder or a shared drive in Google Drive with " + who
}

// sayRoot words what is wrong with a root for a person who may just have given it: nothing was there to be lost.
func sayRoot(verdict, who string) string {
	switch verdict {
	case sayRootMissing:
		return "Google Drive shows no such folder to " + who + ": share the folder with " + who + " (as a viewer), and check its URL"
	case sayRootUnreadable:
		return who + " may not read this folder in Google Drive: share the folder with " + who + " (as a viewer)"
	case sayRootTrashed:
		return "this folder is in Google Drive's trash: restore it, or give another one"
	case sayRootIsFile:
		return "this is a file in Google Drive, not a folder: give the URL of a folder or shared drive"
	}
	return verdict
}

// serviceDomain ends the addresses of service accounts.
const serviceDomain = ".gserviceaccount.com"

// Advice warns of a service account's own drive with nothing in it: nobody can open it to put anything there.
func (s *Source) Advice(ctx context.Context, root source.Root) ([]string, error) {
	if refOf(root).id != MyDrive {
		return nil, nil
	}
	ctx = transport.WithAttempt(ctx, transport.Attempt{Lane: knowledge.LanePerson, Check: true})
	who, err := s.client.account(ctx)
	if err != nil || !strings.HasSuffix(who, serviceDomain) {
		return nil, failure(err)
	}
	found, err := s.client.list(ctx, query{q: "'root' in parents and trashed = false", fields: "id", size: 1})
	if err != nil || len(found.files) > 0 || found.next != "" {
		return nil, failure(err)
	}
	return []string{"My Drive of the service account " + who + " is empty, and people can't put files there: share a folder with " + who +
		" and register its URL, or read as a user of the domain (`starter connection add NAME --source gdrive --secret REF --subject USER`)"}, nil
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
