package gdrive_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/gdrive"
	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

func TestFetch_reads_a_Doc_in_two_requests(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	id := s.doc(s.root.Ref, "Leave", "# Leave\n\n- 20 days\n- *more* for some\n\nAsk `hr` first.\n")
	s.list(s.root)
	s.ResetLog()
	page := s.fetch(id)
	assert.Equal(t, 2, s.Count(), "%v", s.Counts())
	assert.Equal(t, source.FormatConverted, page.Format)
	assert.Contains(t, page.Markdown, "# Leave\n")
	assert.Contains(t, page.Markdown, "Ask `hr` first.")
	assert.Equal(t, "Leave\n"+page.Markdown, string(page.Identity))
	assert.Len(t, page.Fingerprint, 32)
	assert.True(t, json.Valid(page.Raw))
	assert.NotContains(t, string(page.Raw), "http", "no link, which may end")
	again := s.fetch(id)
	assert.Equal(t, page, again, "nothing differs between two reads")
}

func TestFetch_tells_who_may_read_and_who_wrote(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{Private: true, Clock: drivetest.NewClock(time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC))})
	s.AddUser(s.Owner(), "Olga Owner")
	s.did(s.SetPermissions(s.root.Ref, drivetest.Permission{Type: "user", Email: s.ServiceAccount(), Role: drivetest.RoleWriter}))
	id := s.doc(s.root.Ref, "Page", "x")
	s.did(s.SetPermissions(id,
		drivetest.Permission{Type: "domain", Domain: "example.org", Role: drivetest.RoleReader, Discoverable: true},
		drivetest.Permission{Type: "group", Email: "team@example.org", Role: drivetest.RoleCommenter},
		drivetest.Permission{Type: "anyone", Role: drivetest.RoleReader}))
	page := s.fetch(id)
	var access []map[string]any
	require.NoError(t, json.Unmarshal(page.Access, &access))
	assert.Contains(t, access, map[string]any{"type": "anyone", "role": "reader"})
	assert.Contains(t, access, map[string]any{"type": "domain", "role": "reader", "domain": "example.org", "allow_file_discovery": true})
	assert.Contains(t, access, map[string]any{"type": "group", "role": "commenter", "email": "team@example.org"})
	assert.Equal(t, map[string]any{
		"owner": "Olga Owner", "modified_by": "Olga Owner", "created_at": "2026-11-30T09:00:00Z", "mime_type": drivetest.MimeDoc,
	}, page.Meta)
}

func TestFaultR070_Permissions_that_may_not_be_read_cost_no_page(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	drive, err := s.AddDrive("Company", "mika@example.org")
	require.NoError(t, err)
	s.root = s.at(drive)
	ids := s.docs(drive, 5)
	heal := s.Fail(drivetest.OfKind(drivetest.KindPermissions), 0, drivetest.Refuse(drivetest.InsufficientFile))
	for _, id := range ids {
		page := s.fetch(id)
		assert.NotEmpty(t, page.Markdown)
		assert.Nil(t, page.Access, "nobody knows")
	}
	assert.Equal(t, 1, s.Count(drivetest.KindPermissions), "a shared drive is asked once, not for each page")
	heal()
	other := s.source()
	for _, id := range ids {
		page, err := other.Fetch(t.Context(), s.root, id)
		require.NoError(t, err)
		assert.Contains(t, string(page.Access), "mika@example.org")
	}
	assert.Equal(t, 2, s.Count(drivetest.KindPermissions))
}

func TestFetch_reads_all_tabs_of_a_Sheet(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	id, err := s.AddSheet(s.root.Ref, "Budget",
		drivetest.Tab{Name: "2026", Rows: [][]any{{"Rent", 100}}}, drivetest.Tab{Name: "2027", Rows: [][]any{{"家賃", 120}}})
	require.NoError(t, err)
	page := s.fetch(id)
	assert.Contains(t, page.Markdown, "## 2026\n\nRent | 100")
	assert.Contains(t, page.Markdown, "## 2027\n\n家賃 | 120")
}

func TestFetch_reads_Slides_as_a_file_or_else_as_text(t *testing.T) {
	t.Parallel()
	slides := []drivetest.Slide{{Title: "Plans", Body: "Grow", Notes: "slowly"}}
	s := newOffice(t, drivetest.Options{})
	id, err := s.AddSlides(s.root.Ref, "Plans", slides...)
	require.NoError(t, err)
	page := s.fetch(id)
	assert.Contains(t, page.Markdown, "Plans\nGrow")
	assert.NotContains(t, page.Markdown, "\uFEFF")
	assert.NotContains(t, page.Markdown, "\r")
	assert.Contains(t, string(page.Fidelity), "plain text", "a note says what is missing")

	var kind, name string
	able := s.source(func(o *gdrive.Options) {
		o.Extract = func(_ context.Context, mimeType, named string, _ io.Reader) (gdrive.Extracted, error) {
			kind, name = mimeType, named
			return gdrive.Extracted{Text: "## Slide 1: Plans\n", Searchable: true, Pages: 1}, nil
		}
	})
	page, err = able.Fetch(t.Context(), s.root, id)
	require.NoError(t, err)
	assert.Equal(t, "## Slide 1: Plans\n", page.Markdown)
	assert.Equal(t, "Plans.pptx", name)
	assert.Contains(t, kind, "presentationml")
}

func TestFetch_hands_files_to_the_extractor_byte_by_byte(t *testing.T) {
	t.Parallel()
	var got []byte
	var kind, name string
	s := newOffice(t, drivetest.Options{}, func(o *gdrive.Options) {
		o.Extract = func(_ context.Context, mimeType, named string, r io.Reader) (gdrive.Extracted, error) {
			var err error
			got, err = io.ReadAll(r)
			kind, name = mimeType, named
			return gdrive.Extracted{Text: "the text", Searchable: true, Truncated: true, Pages: 12}, err
		}
	})
	body := "%PDF-1.7 \x00\xff\xfe any bytes"
	id := s.file(s.root.Ref, "handbook.pdf", "application/pdf", body)
	page := s.fetch(id)
	assert.Equal(t, body, string(got))
	assert.Equal(t, "application/pdf", kind)
	assert.Equal(t, "handbook.pdf", name)
	var report knowledge.Fidelity
	require.NoError(t, json.Unmarshal(page.Fidelity, &report))
	assert.Equal(t, 12, report.Blocks)
	assert.Equal(t, 1, report.Truncated)
	assert.NotEmpty(t, report.Notes)
	assert.True(t, json.Valid(page.Raw), "of what is no text, only the metadata is kept")
}

func TestFetch_what_gives_no_text_is_skipped_with_its_reason(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{}, func(o *gdrive.Options) {
		o.Extract = func(_ context.Context, _, name string, _ io.Reader) (gdrive.Extracted, error) {
			switch name {
			case "scan.pdf":
				return gdrive.Extracted{Reason: "scanned: no text layer", Pages: 3}, nil
			case "empty.pdf":
				return gdrive.Extracted{Reason: "empty: there is no text in it"}, nil
			}
			return gdrive.Extracted{}, errors.New("the child was killed")
		}
	})
	scan := s.refused(s.file(s.root.Ref, "scan.pdf", "application/pdf", "x"))
	require.NotNil(t, scan.Skip)
	assert.Equal(t, "unreadable", scan.Skip.Class)
	assert.Contains(t, scan.Skip.Sentence, "no text layer")
	empty := s.fetch(s.file(s.root.Ref, "empty.pdf", "application/pdf", "x"))
	assert.Empty(t, empty.Markdown)
	assert.Nil(t, empty.Fingerprint)
	broken := s.refused(s.file(s.root.Ref, "broken.pdf", "application/pdf", "x"))
	assert.Equal(t, source.ClassUnavailable, broken.Class, "another try may go better")
	without := s.source(func(o *gdrive.Options) { o.Extract = nil })
	_, err := without.Fetch(t.Context(), s.root, s.file(s.root.Ref, "scan.pdf", "application/pdf", "x"))
	assert.Equal(t, "unsupported", failureOf(t, err).Skip.Class)
}

func TestFetch_a_cut_download_is_read_again(t *testing.T) {
	t.Parallel()
	for what, effect := range map[string]drivetest.Effect{
		"short": drivetest.ShortBody(), "other bytes": drivetest.Corrupt(), "cut off": drivetest.CutBody(),
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newOffice(t, drivetest.Options{})
			id := s.file(s.root.Ref, "a.txt", "text/plain", strings.Repeat("the text ", 1000))
			heal := s.Fail(drivetest.OfKind(drivetest.KindMedia), 0, effect)
			assert.Equal(t, source.ClassUnavailable, s.refused(id).Class)
			heal()
			assert.Len(t, s.fetch(id).Markdown, 9000)
		})
	}
	s := newOffice(t, drivetest.Options{})
	id := s.file(s.root.Ref, "a.txt", "text/plain", "the text")
	s.Fail(drivetest.OfKind(drivetest.KindGet), 1, drivetest.WrongChecksum())
	assert.Equal(t, source.ClassUnavailable, s.refused(id).Class)
	assert.Equal(t, "the text", s.fetch(id).Markdown)
}

func TestFetch_bounds_what_it_reads(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	s.root.Limits.MaxBytes = 1000
	id := s.file(s.root.Ref, "a.txt", "text/plain", strings.Repeat("x", 1001))
	assert.Equal(t, "too_large", s.skipped(id))
	assert.Zero(t, s.Count(drivetest.KindMedia), "the size was told")
	// A size that isn't told, or a lie, is found out while reading.
	s.Fail(drivetest.OfKind(drivetest.KindGet), 1, drivetest.EachFile(func(f drivetest.Object) { delete(f, "size") }))
	assert.Equal(t, "too_large", s.skipped(id))
	large := s.file(s.root.Ref, "b.txt", "text/plain", strings.Repeat("text and more ", 200_000))
	s.root.Limits.MaxBytes = 0
	page := s.fetch(large)
	assert.Len(t, page.Markdown, 2_800_000)
	assert.Less(t, len(page.Raw), 2000, "large texts aren't kept twice")
}

func TestFaultR031_An_export_that_is_too_large_goes_by_its_link_then_as_text_then_not_at_all(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{ExportLimit: 2000})
	id := s.doc(s.root.Ref, "Long", "# Long\n\n"+strings.Repeat("words and *more* words. ", 200))
	page := s.fetch(id)
	assert.Contains(t, page.Markdown, "# Long")
	assert.Greater(t, len(page.Markdown), 2000)
	assert.Equal(t, 1, s.Count(drivetest.KindExportLink))

	for what, effect := range map[string]drivetest.Effect{
		"refused": drivetest.Refuse(drivetest.InsufficientFile), "a page to sign in": signIn, "another host": elsewhere,
	} {
		t.Run("the link is "+what, func(t *testing.T) {
			t.Parallel()
			s := newOffice(t, drivetest.Options{ExportLimit: 2000})
			id := s.doc(s.root.Ref, "Pictures", "# Pictures\n\n"+strings.Repeat("![](data:image/png;base64,"+strings.Repeat("A", 1000)+") ", 4))
			s.Fail(drivetest.OfKind(drivetest.KindExportLink), 0, effect)
			page, err := s.src.Fetch(t.Context(), s.root, id)
			require.NoError(t, err)
			assert.Contains(t, page.Markdown, "Pictures")
			assert.Contains(t, string(page.Fidelity), "too large")
		})
	}
	s.Fail(drivetest.OfKind(drivetest.KindExportLink), 0, drivetest.Refuse(drivetest.ExportTooLarge))
	failure := s.refused(id)
	require.NotNil(t, failure.Skip)
	assert.Equal(t, "too_large", failure.Skip.Class)
	other := s.doc(s.root.Ref, "Other", "x")
	assert.Equal(t, "x\n", s.fetch(other).Markdown, "the others are fine")
}

func signIn(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, "<html><form>Sign in</form></html>")
}

func elsewhere(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
	http.Redirect(w, r, "http://127.0.0.2:9/steal", http.StatusFound)
}

func TestFaultR047_A_file_that_counts_as_malware_is_skipped(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	id := s.file(s.root.Ref, "a.txt", "text/plain", "x")
	s.did(s.SetAbusive(id, true))
	assert.Equal(t, "abusive", s.skipped(id))
}

func TestFaultR027_A_slow_read_never_claims_to_be_newer_than_it_is(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	id := s.doc(s.root.Ref, "Page", "old")
	held := s.Hold(drivetest.OfKind(drivetest.KindExport))
	read := make(chan source.Page, 1)
	go func() {
		defer close(read)
		page, err := s.src.Fetch(t.Context(), s.root, id)
		if err == nil {
			read <- page
		}
	}()
	require.NoError(t, held.Await(t.Context(), 1))
	s.did(s.EditDoc(id, "new"))
	held.Release()
	page, ok := <-read
	require.True(t, ok)
	assert.Equal(t, "new\n", page.Markdown)
	assert.NotEqual(t, s.list(s.root).entry(t, id).Version, page.Entry.Version, "so that it is read again, rather than once too seldom")
}

func TestFaultR037_NUL_and_broken_characters_are_in_nothing_that_is_stored(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	id := s.doc(s.root.Ref, "na\x00me", "text")
	s.Fail(drivetest.OfKind(drivetest.KindExport), 0, func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		w.Header().Set("Content-Type", "text/markdown")
		_, _ = w.Write([]byte("a\x00b \xff\xfe end"))
	})
	page := s.fetch(id)
	assert.Equal(t, "ab \uFFFD end\n", page.Markdown)
	assert.NotContains(t, page.Entry.Title+page.Entry.Path+string(page.Identity), "\x00")
	assert.NotContains(t, string(page.Raw), `\u0000`)
}

func TestFaultR053_Files_in_other_encodings_reach_the_extractor_as_they_are(t *testing.T) {
	t.Parallel()
	for what, body := range map[string]string{
		"UTF-16 with a mark": "\xff\xfea\x00b\x00", "Shift_JIS": "\x8d\x91,name\n", "UTF-8 with a mark": "\xef\xbb\xbfa\r\nb", "Latin-1": "caf\xe9",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			var got []byte
			s := newOffice(t, drivetest.Options{}, func(o *gdrive.Options) {
				o.Extract = func(_ context.Context, _, _ string, r io.Reader) (gdrive.Extracted, error) {
					var err error
					got, err = io.ReadAll(r)
					return gdrive.Extracted{Text: "decoded", Searchable: true}, err
				}
			})
			page := s.fetch(s.file(s.root.Ref, "a.csv", "text/csv", body))
			assert.Equal(t, body, string(got))
			assert.Equal(t, body, string(page.Raw))
		})
	}
}

func TestFaultR115_Kinds_without_a_text_are_never_downloaded(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	for _, kind := range []string{drivetest.MimeForm, drivetest.MimeSite, drivetest.MimeDrawing, drivetest.MimeScript, "application/vnd.google-apps.unknown"} {
		id, err := s.AddNative(s.root.Ref, "native", kind, nil)
		require.NoError(t, err)
		assert.Equal(t, "unsupported", s.skipped(id))
	}
	assert.Equal(t, "unsupported", s.skipped(s.folder(s.root.Ref, "Folder")))
	assert.Zero(t, s.Count(drivetest.KindMedia, drivetest.KindExport))
}

func TestFetch_ends_with_its_context(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	id := s.doc(s.root.Ref, "Page", "x")
	held := s.Hold(drivetest.OfKind(drivetest.KindExport))
	defer held.Release()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := s.src.Fetch(ctx, s.root, id)
		ended <- err
	}()
	require.NoError(t, held.Await(t.Context(), 1))
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}

func TestFetch_a_Sheet_beyond_every_limit_is_skipped(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{ExportLimit: 10})
	id, err := s.AddSheet(s.root.Ref, "Large", drivetest.Tab{Name: "A", Rows: [][]any{{"x"}}})
	require.NoError(t, err)
	assert.Contains(t, s.fetch(id).Markdown, "## A", "its link has no limit")
	heal := s.Fail(drivetest.OfKind(drivetest.KindExportLink), 0, drivetest.Refuse(drivetest.ExportTooLarge))
	assert.Equal(t, "too_large", s.skipped(id))
	heal()
	s.Fail(drivetest.OfKind(drivetest.KindExportLink), 0, drivetest.Unavailable())
	assert.Equal(t, source.ClassUnavailable, s.refused(id).Class, "trouble of Google's own isn't a limit")
}

func TestFetch_trouble_with_permissions_is_tried_again(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	company, err := s.AddDrive("Company")
	require.NoError(t, err)
	s.root = s.at(company)
	id := s.doc(company, "Page", "x")
	heal := s.Fail(drivetest.OfKind(drivetest.KindPermissions), 0, drivetest.Unavailable())
	assert.Equal(t, source.ClassUnavailable, s.refused(id).Class, "a page isn't published as if nobody knew who may read it")
	heal()
	assert.NotEmpty(t, s.fetch(id).Access)
}
