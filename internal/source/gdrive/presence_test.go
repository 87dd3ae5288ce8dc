package gdrive_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/gdrive"
	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

func TestPresence_is_what_Drive_says_and_nothing_else(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		change func(s *office, folder, id string)
		want   source.Presence
	}{
		"as it was":               {func(*office, string, string) {}, source.PresenceAlive},
		"edited":                  {func(s *office, _, id string) { s.did(s.EditDoc(id, "y")) }, source.PresenceAlive},
		"moved within the root":   {func(s *office, _, id string) { s.did(s.Move(id, s.root.Ref)) }, source.PresenceAlive},
		"in the trash":            {func(s *office, _, id string) { s.did(s.Trash(id)) }, source.PresenceTrashed},
		"in the trash by folder":  {func(s *office, folder, _ string) { s.did(s.Trash(folder)) }, source.PresenceTrashed},
		"deleted":                 {func(s *office, _, id string) { s.did(s.Delete(id)) }, source.PresenceGone},
		"not shared any more":     {func(s *office, _, id string) { s.did(s.LoseAccess(id, s.ServiceAccount())) }, source.PresenceGone},
		"moved out":               {func(s *office, _, id string) { s.did(s.Move(id, s.folder("", "Outside"))) }, source.PresenceMoved},
		"moved out with a folder": {func(s *office, folder, _ string) { s.did(s.Move(folder, s.folder("", "Outside"))) }, source.PresenceMoved},
		"Drive has trouble": {func(s *office, _, id string) {
			s.Fail(drivetest.About(id), 0, drivetest.Unavailable())
		}, source.PresenceUnknown},
		"Drive has trouble with the folder": {func(s *office, folder, _ string) {
			s.Fail(drivetest.About(folder), 0, drivetest.BadGateway())
		}, source.PresenceUnknown},
		"its folder can't be seen": {func(s *office, folder, _ string) {
			s.Fail(drivetest.About(folder), 0, drivetest.Refuse(drivetest.NotFound))
		}, source.PresenceUnknown},
		"the page is forbidden": {func(s *office, _, id string) {
			s.Fail(drivetest.About(id), 0, drivetest.Refuse(drivetest.InsufficientFile))
		}, source.PresenceUnknown},
		"the root is gone": {func(s *office, _, _ string) { s.did(s.Delete(s.root.Ref)) }, source.PresenceUnknown},
		"the root can't be read": {func(s *office, _, id string) {
			s.did(s.Delete(id))
			s.Fail(drivetest.About(s.root.Ref), 0, drivetest.Unavailable())
		}, source.PresenceUnknown},
		"the shortcuts can't be listed": {func(s *office, _, id string) {
			s.did(s.Move(id, s.folder("", "Outside")))
			s.Fail(drivetest.OfKind(drivetest.KindList), 0, drivetest.IncompleteSearch())
		}, source.PresenceUnknown},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newOffice(t, drivetest.Options{})
			folder := s.folder(s.root.Ref, "Folder")
			id := s.doc(folder, "Page", "x")
			c.change(s, folder, id)
			assert.Equal(t, c.want, s.presence(id))
		})
	}
}

func TestPresence_lets_refused_credentials_be_seen(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	id := s.doc(s.root.Ref, "Page", "x")
	s.Revoke(s.ServiceAccount())
	presence, err := s.src.Presence(t.Context(), s.root, id)
	assert.Equal(t, source.PresenceUnknown, presence)
	assert.Equal(t, source.ClassUnauthorized, failureOf(t, err).Class)
}

func TestPresence_survives_a_circle_of_folders(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	a, b := s.folder("", "A"), s.folder("", "B")
	id := s.doc(a, "Page", "x")
	swap := map[string]string{a: b, b: a}
	s.Fail(drivetest.OfKind(drivetest.KindGet), 0, drivetest.EachFile(func(f drivetest.Object) {
		if fileID, ok := f["id"].(string); ok && swap[fileID] != "" {
			f["parents"] = []any{swap[fileID]}
		}
	}))
	assert.Equal(t, source.PresenceMoved, s.presence(id))
}

func TestCheck_says_what_to_do(t *testing.T) {
	t.Parallel()
	t.Run("a readable root says nothing", func(t *testing.T) {
		t.Parallel()
		s := newOffice(t, drivetest.Options{})
		require.NoError(t, s.src.Check(t.Context(), s.root), "an empty one included")
		require.NoError(t, s.src.Check(t.Context(), s.at(gdrive.SharedWithMe)), "there is one folder")
	})
	t.Run("a missing root is told", func(t *testing.T) {
		t.Parallel()
		s := newOffice(t, drivetest.Options{})
		failure := failureOf(t, s.src.Check(t.Context(), s.at(folderID)))
		assert.Equal(t, source.ClassNotFound, failure.Class)
		assert.NotContains(t, failure.Sentence, "nothing is shared")
		assert.Contains(t, failure.Sentence, "share the folder with "+s.ServiceAccount(), "which is how it comes to be seen")
		assert.NotContains(t, failure.Sentence, "any more", "it may never have been seen")
	})
	t.Run("what is no folder is told", func(t *testing.T) {
		t.Parallel()
		s := newOffice(t, drivetest.Options{})
		assert.Contains(t, failureOf(t, s.src.Check(t.Context(), s.at(s.doc(s.root.Ref, "Plan", "x")))).Sentence, "not a folder")
		s.folder("", "Another")
		s.did(s.Trash(s.root.Ref))
		assert.Contains(t, failureOf(t, s.src.Check(t.Context(), s.root)).Sentence, "trash")
	})
	t.Run("refused credentials are told", func(t *testing.T) {
		t.Parallel()
		s := newOffice(t, drivetest.Options{})
		s.Revoke(s.ServiceAccount())
		assert.Equal(t, source.ClassUnauthorized, failureOf(t, s.src.Check(t.Context(), s.root)).Class)
	})
}

func TestAdvice_warns_of_a_service_accounts_own_drive_while_it_is_empty(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	advice, err := s.src.Advice(t.Context(), s.root)
	require.NoError(t, err)
	assert.Empty(t, advice, "what is shared needs none")
	advice, err = s.src.Advice(t.Context(), s.at(gdrive.MyDrive))
	require.NoError(t, err)
	require.Len(t, advice, 1)
	assert.Contains(t, advice[0], "share a folder with "+s.ServiceAccount())

	person := s.source(func(o *gdrive.Options) { o.Credentials.Key = key(s.UserCredentialsJSON(s.Owner())) })
	advice, err = person.Advice(t.Context(), s.at(gdrive.MyDrive))
	require.NoError(t, err)
	assert.Empty(t, advice, "people can put files into their own drives")

	s.doc(s.Root(s.ServiceAccount()), "Made by a program", "x")
	advice, err = s.src.Advice(t.Context(), s.at(gdrive.MyDrive))
	require.NoError(t, err)
	assert.Empty(t, advice)
	s.Revoke(s.ServiceAccount())
	_, err = s.src.Advice(t.Context(), s.at(gdrive.MyDrive))
	assert.Equal(t, source.ClassUnauthorized, failureOf(t, err).Class)
}

func TestFaultR079_An_account_that_sees_nothing_is_told_so(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{Private: true})
	for _, ref := range []string{s.root.Ref, gdrive.SharedWithMe, gdrive.MyDrive} {
		failure := failureOf(t, s.src.Check(t.Context(), s.at(ref)))
		assert.Equal(t, source.ClassNotFound, failure.Class)
		assert.Contains(t, failure.Sentence, "connected, but nothing is shared")
		assert.Contains(t, failure.Sentence, s.ServiceAccount(), "which says with whom to share")
	}
	s.did(s.Share(s.root.Ref, s.ServiceAccount(), drivetest.RoleReader))
	require.NoError(t, s.src.Check(t.Context(), s.root))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.src.Check(ctx, s.root), context.Canceled)
}
