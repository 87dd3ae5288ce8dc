package gdrive_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/gdrive"
	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
	"github.com/loresync/loresync/internal/source/sourcetest"
)

func TestList_names_are_for_people_and_ids_tell_files_apart(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	names := map[string]string{
		`it's "quoted"`: `it's "quoted"`, `a/b`: `a/b`, "tab\tand\nline": "tab and line", "": "Untitled", " \x00 ": "Untitled",
		"Cafe\u0301": "Café", "Café": "Café", `back\slash'`: `back\slash'`, strings.Repeat("長", 400): strings.Repeat("長", 300),
	}
	inside := map[string]string{}
	for name := range names {
		folder := s.folder(s.root.Ref, name)
		inside[s.doc(folder, name, "text")] = folder
	}
	all := s.list(s.root)
	require.Len(t, all.entries, 2*len(names), "nothing is lost to its name")
	for id, folder := range inside {
		page, above := all.entry(t, id), all.entry(t, folder)
		assert.Equal(t, folder, page.ParentSourceID)
		assert.Equal(t, above.Title+"/"+page.Title, page.Path)
		assert.Equal(t, source.KindContainer, above.Kind)
		assert.NotContains(t, page.Path, "\n")
	}
	for name, title := range names {
		assert.Contains(t, titlesOf(all), title, "%q", name)
	}
}

func titlesOf(all seen) []string {
	titles := make([]string, 0, len(all.entries))
	for _, e := range all.entries {
		titles = append(titles, e.Title)
	}
	return titles
}

func TestList_a_file_with_several_parents_is_listed_once(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	outside := s.folder("", "Outside")
	a, b := s.folder(s.root.Ref, "A"), s.folder(s.root.Ref, "B")
	deep := s.folder(a, "Deep")
	twice, up, orphan := s.doc(a, "Twice", "x"), s.doc(deep, "Up", "x"), s.doc(a, "Orphan", "x")
	s.did(s.AddParent(twice, outside))
	s.did(s.AddParent(twice, b))
	s.did(s.AddParent(up, b))
	s.did(s.Orphan(orphan))
	all := s.list(s.root)
	assert.ElementsMatch(t, []string{a, b, deep, twice, up}, all.ids(), "what lies in no folder isn't below the root")
	assert.Equal(t, min(a, b), all.entry(t, twice).ParentSourceID)
	assert.Equal(t, b, all.entry(t, up).ParentSourceID, "the highest place wins")
	for _, id := range []string{twice, up} {
		page, err := s.source().Fetch(t.Context(), s.root, id)
		require.NoError(t, err)
		listed := all.entry(t, id)
		assert.Equal(t, listed, page.Entry, "a read finds the same place from below")
	}
	assert.Equal(t, source.PresenceGone, s.presence(orphan), "it was shared by its folder")
}

func TestList_skips_what_holds_no_text_with_a_reason(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	s.root.Limits.MaxBytes = 100
	skipped := map[string]string{}
	for name, mimeType := range map[string]string{
		"a.png": "image/png", "a.mp4": "video/mp4", "a.mp3": "audio/mpeg", "a.zip": "application/zip", "a.bin": "application/octet-stream",
		"a.exe": "application/x-msdownload", "third party": "application/vnd.google-apps.drive-sdk.123", "a.jar": "application/java-archive",
	} {
		skipped[s.file(s.root.Ref, name, mimeType, "x")] = "unsupported"
	}
	for _, mimeType := range []string{drivetest.MimeForm, drivetest.MimeSite, drivetest.MimeDrawing, drivetest.MimeScript, "application/vnd.google-apps.future"} {
		id, err := s.AddNative(s.root.Ref, "native", mimeType, nil)
		require.NoError(t, err)
		skipped[id] = "unsupported"
	}
	skipped[s.file(s.root.Ref, "large.txt", "text/plain", strings.Repeat("x", 101))] = "too_large"
	locked := s.doc(s.root.Ref, "Locked", "text")
	s.did(s.SetDownload(locked, false))
	skipped[locked] = "no_download"
	read := []string{
		s.file(s.root.Ref, "notes.md", "application/octet-stream", "x"), s.file(s.root.Ref, "a.txt", "text/plain; charset=utf-8", "x"),
		s.file(s.root.Ref, "a.pdf", "application/pdf", "x"), s.doc(s.root.Ref, "Doc", strings.Repeat("long ", 100)),
		s.file(s.root.Ref, "a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document", "x"),
		s.file(s.root.Ref, "a.json", "application/json", "{}"), s.file(s.root.Ref, "a.odt", "application/vnd.oasis.opendocument.text", "x"),
	}
	all := s.list(s.root)
	require.Len(t, all.entries, len(skipped)+len(read))
	for id, class := range skipped {
		e := all.entry(t, id)
		require.NotNil(t, e.Skip, e.Title)
		assert.Equal(t, class, e.Skip.Class, e.Title)
		assert.NotEmpty(t, e.Skip.Sentence)
		assert.Equal(t, class, s.skipped(id), "a read says the same: %s", e.Title)
	}
	for _, id := range read {
		assert.Nil(t, all.entry(t, id).Skip, all.entry(t, id).Title)
	}
	assert.Contains(t, all.entry(t, locked).Skip.Sentence, "download")
}

func TestList_leaves_out_what_is_in_the_trash(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	folder := s.folder(s.root.Ref, "Old")
	s.doc(folder, "Below", "x")
	gone, kept := s.doc(s.root.Ref, "Gone", "x"), s.doc(s.root.Ref, "Kept", "x")
	s.did(s.Trash(folder))
	s.did(s.Trash(gone))
	assert.Equal(t, []string{kept}, s.list(s.root).ids())
}

func TestList_resumes_in_another_process_with_the_tokens_of_its_beginning(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	for i := range 4 {
		folder := s.folder(s.root.Ref, fmt.Sprintf("Folder %d", i))
		s.docs(folder, 5)
		s.shortcut(folder, "Link", s.doc("", fmt.Sprintf("Elsewhere %d", i), "x"))
	}
	outside := s.folder("", "Outside")
	s.docs(outside, 3)
	s.shortcut(s.root.Ref, "Folder link", outside)
	s.shortcut(s.root.Ref, "Dead link", "1nothing-has-this-id")
	whole := s.list(s.root)
	require.Greater(t, len(whole.batches), 4)
	require.Len(t, whole.ids(), 4*(1+5+1)+(1+3)+1, "folders with Docs and a target each, the folder that was linked with its Docs, the dead link")
	s.doc("", "A change after the beginning", "x")
	before := 0
	for _, b := range whole.batches[:len(whole.batches)-1] {
		before += len(b.Entries)
		rest := s.listAfter(s.source(), s.root, b.Cursor)
		assert.Equal(t, whole.ids()[before:], rest.ids())
		assert.Equal(t, whole.listed, rest.listed, "the checkpoint is the first one's")
		assert.LessOrEqual(t, len(b.Cursor), 4096)
	}
	assert.Equal(t, whole.ids(), s.listAfter(s.src, s.root, "not a cursor").ids(), "what can't be read starts anew")
}

func TestFaultR085_Tokens_are_taken_before_anything_is_listed(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	s.docs(s.root.Ref, 20)
	s.ResetLog()
	late := ""
	var all seen
	var err error
	all.listed, err = s.src.List(t.Context(), s.root, "", func(b source.Batch) error {
		if late == "" {
			late = s.doc(s.root.Ref, "Made while it was listed", "x")
		}
		all.entries = append(all.entries, b.Entries...)
		return nil
	})
	require.NoError(t, err)
	assert.NotContains(t, all.ids(), late)
	assert.Equal(t, []string{late}, s.changes(s.root, all).ids())
	asked := s.Requests(drivetest.KindStartToken, drivetest.KindList)
	assert.Equal(t, drivetest.KindStartToken, asked[0].Kind)
	assert.Equal(t, drivetest.KindList, asked[1].Kind)
}

func TestList_gives_the_verdict_that_is_due(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		spoil   func(s *office, closed string)
		verdict source.Verdict
	}{
		"all was seen":             {func(*office, string) {}, source.VerdictComplete},
		"the root was deleted":     {func(s *office, _ string) { s.did(s.Delete(s.root.Ref)) }, source.VerdictRootMissing},
		"the root is in the trash": {func(s *office, _ string) { s.did(s.Trash(s.root.Ref)) }, source.VerdictRootMissing},
		"the root is not shared":   {func(s *office, _ string) { s.did(s.LoseAccess(s.root.Ref, s.ServiceAccount())) }, source.VerdictRootMissing},
		"the root is forbidden": {func(s *office, _ string) {
			s.Fail(drivetest.About(s.root.Ref), 0, drivetest.Refuse(drivetest.InsufficientFile))
		}, source.VerdictRootUnreadable},
		"the root is a file": {func(s *office, _ string) { s.root.Ref = s.doc("", "Doc", "x") }, source.VerdictRootUnreadable},
		"a folder is forbidden": {func(s *office, closed string) {
			s.Fail(naming(closed), 0, drivetest.Refuse(drivetest.InsufficientFile))
		}, source.VerdictPartUnreadable},
		"a folder vanished": {func(s *office, closed string) { s.Fail(naming(closed), 0, drivetest.Refuse(drivetest.NotFound)) }, source.VerdictPartUnreadable},
		"Drive didn't look everywhere": {func(s *office, _ string) {
			s.Fail(drivetest.OfKind(drivetest.KindList), 1, drivetest.IncompleteSearch())
		}, source.VerdictCapped},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newOffice(t, drivetest.Options{})
			open, closed := s.folder(s.root.Ref, "Open"), s.folder(s.root.Ref, "Closed")
			s.doc(closed, "Inside", "x")
			kept := s.doc(open, "Kept", "x")
			c.spoil(s, closed)
			all := s.list(s.root)
			assert.Equal(t, c.verdict, all.listed.Verdict)
			assert.Equal(t, c.verdict == source.VerdictComplete, all.listed.Sentence == "")
			if c.verdict == source.VerdictRootMissing || c.verdict == source.VerdictRootUnreadable {
				assert.Empty(t, all.entries)
				return
			}
			if c.verdict != source.VerdictCapped {
				assert.Contains(t, all.ids(), kept, "the rest is listed")
			}
		})
	}
}

func TestFaultR119_A_list_without_an_end_is_an_error(t *testing.T) {
	t.Parallel()
	for what, effect := range map[string]drivetest.Effect{
		"the same token twice": drivetest.RepeatedToken(), "the page token is refused": drivetest.Refuse(drivetest.Invalid),
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newOffice(t, drivetest.Options{PageCap: 2})
			s.docs(s.root.Ref, 7)
			s.Break(drivetest.Fault{Match: drivetest.OfKind(drivetest.KindList), After: 1, Effects: []drivetest.Effect{effect}})
			_, err := s.src.List(t.Context(), s.root, "", func(source.Batch) error { return nil })
			assert.Equal(t, source.ClassUnavailable, failureOf(t, err).Class)
		})
	}
}

func TestList_hands_back_what_its_caller_says(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	s.docs(s.root.Ref, 9)
	_, err := s.src.List(t.Context(), s.root, "", func(source.Batch) error { return errYield })
	assert.Equal(t, errYield, err)
}

func TestList_knows_the_roots_that_have_names(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{Private: true}, func(o *gdrive.Options) { o.Credentials.Subject = "mika@example.org" })
	s.AddUser("mika@example.org", "Mika")
	given := s.folder("", "Given")
	below := s.doc(given, "Below", "x")
	file := s.doc("", "File", "x")
	s.doc("", "Not given", "x")
	s.did(s.Share(given, "mika@example.org", drivetest.RoleReader))
	s.did(s.Share(file, "mika@example.org", drivetest.RoleReader))
	s.did(s.As("mika@example.org"))
	own := s.doc("", "Own", "x")
	all := s.list(s.at(gdrive.SharedWithMe))
	assert.ElementsMatch(t, []string{given, below, file}, all.ids())
	assert.Equal(t, "Given/Below", all.entry(t, below).Path)
	assert.Empty(t, all.entry(t, file).ParentSourceID)
	assert.Equal(t, []string{own}, s.list(s.at(gdrive.MyDrive)).ids())
	for id, want := range map[string]source.Presence{file: source.PresenceAlive, below: source.PresenceAlive, own: source.PresenceMoved} {
		got, err := s.src.Presence(t.Context(), s.at(gdrive.SharedWithMe), id)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	page, err := s.src.Fetch(t.Context(), s.at(gdrive.SharedWithMe), below)
	require.NoError(t, err)
	assert.Equal(t, all.entry(t, below), page.Entry)
}

func TestList_asks_a_shared_drive_by_itself(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	company, err := s.AddDrive("Company")
	require.NoError(t, err)
	folder := s.folder(company, "Team")
	page := s.doc(folder, "Page", "x")
	all := s.list(s.at(company))
	assert.Equal(t, []string{folder, page}, all.ids())
	assert.Equal(t, source.VerdictComplete, all.listed.Verdict)
	var logs map[string]string
	require.NoError(t, json.Unmarshal([]byte(all.listed.Checkpoint), &logs))
	assert.Len(t, logs, 2)
	assert.Equal(t, []string{"user", company}, s.src.Logs(all.listed.Checkpoint))
	for _, r := range s.Requests(drivetest.KindList) {
		assert.Equal(t, "drive", r.Query.Get("corpora"))
		assert.Equal(t, company, r.Query.Get("driveId"))
		assert.Equal(t, "true", r.Query.Get("supportsAllDrives"))
	}
	assert.Empty(t, s.src.Logs("no checkpoint"))
}

func TestList_costs_a_request_for_each_folder_and_a_first_sync_one_more_for_each_file(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{}, func(o *gdrive.Options) { o.BatchSize = 500 })
	const folders, files = 20, 400
	made := append(make([]string, 0, folders+1), s.root.Ref)
	for i := range folders {
		made = append(made, s.folder(made[i/3], fmt.Sprintf("Folder %d", i)))
	}
	for i := range files {
		s.doc(made[i%len(made)], fmt.Sprintf("Page %d", i), "text")
	}
	// Only who may share a file is told with whom it is shared.
	s.did(s.Share(s.root.Ref, s.ServiceAccount(), drivetest.RoleWriter))
	var notes sourcetest.Notes
	s.root = notes.Noting(s.root)
	s.ResetLog()
	all := s.list(s.root)
	assert.Equal(t, files, notes.Len())
	assert.Equal(t, folders+1, s.Count(drivetest.KindList), "one for each folder and the root")
	readers := []*gdrive.Source{s.src, s.source(), s.source()}
	for i, e := range all.entries {
		if e.Kind == source.KindDocument {
			page, err := readers[i%len(readers)].Fetch(t.Context(), s.root, e.SourceID)
			require.NoError(t, err)
			require.Equal(t, e, page.Entry)
			require.NotEmpty(t, page.Access)
		}
	}
	// The root, the change token and each process's access token come on top.
	assert.LessOrEqual(t, float64(s.Count()), 1.02*(files+folders+1), "%v", s.Counts())

	s.ResetLog()
	s.fetch(all.ids()[folders])
	assert.Equal(t, 1, s.Count(drivetest.KindGet), "the second read of a page asks for its metadata")
	s.ResetLog()
	s.root.Known = func(context.Context) (map[string]string, error) { return all.parents(), nil }
	s.list(s.root)
	assert.LessOrEqual(t, s.Count(), folders+3, "a second listing costs no more than its folders: %v", s.Counts())
	assert.Zero(t, notes.Len(), "and notes nothing")
}
