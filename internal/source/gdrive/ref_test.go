package gdrive_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/gdrive"
)

const (
	docID    = "1C_gsdOsNIk5bGW5Jl49gBPm9lCKnE5Tj2SbjWB4d77s"
	folderID = "1BcvUjeZTgEaoF0jAW5IVKZpMSHHP1ISW"
	driveID  = "0A-1ENsrzr0sQXsiPwP"
)

func TestResolve_reads_every_form_in_which_people_paste_a_file(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]string{
		docID:               docID,
		"  " + docID + "\n": docID,
		"https://docs.google.com/document/d/" + docID + "/edit?usp=drivesdk":                  docID,
		"https://docs.google.com/document/u/1/d/" + docID + "/edit#heading=h.x":               docID,
		"https://docs.google.com/a/example.org/document/d/" + docID + "/edit":                 docID,
		"https://docs.google.com/spreadsheets/d/" + docID + "/edit#gid=0":                     docID,
		"https://docs.google.com/presentation/d/" + docID + "/view":                           docID,
		"docs.google.com/presentation/d/" + docID:                                             docID,
		"https://drive.google.com/file/d/" + folderID + "/view?usp=sharing&resourcekey=0-abc": folderID,
		"https://drive.google.com/drive/folders/" + folderID:                                  folderID,
		"https://drive.google.com/drive/u/1/folders/" + folderID + "?resourcekey=0-a_B":       folderID,
		"http://drive.google.com/drive/mobile/folders/" + folderID:                            folderID,
		"https://drive.google.com/open?id=" + folderID:                                        folderID,
		"https://drive.google.com/uc?export=download&id=" + folderID:                          folderID,
		"https://drive.google.com/drive/folders/" + driveID:                                   driveID,
		folderID + "?resourcekey=0-abc":                                                       folderID,
		"http://127.0.0.1:8080/drive/folders/" + folderID:                                     folderID,
		"":                    "",
		"short":               "",
		"two words of a text": "",
		"shared-with-me":      "",
		"https://docs.google.com/document/d/e/2PACX-1vQx_published_copy/pub": "",
		"https://drive.google.com/drive/my-drive":                            "",
		"https://example.com/document/d/" + docID:                            "",
		"https://evilgoogle.com/document/d/" + docID:                         "",
		"https://google.com.example.org/d/" + docID:                          "",
		"ftp://drive.google.com/file/d/" + docID:                             "",
		"https://drive.google.com/open?id=" + docID + "'%20or%20'":           "",
		"../" + docID: "",
	} {
		id, ok := (&gdrive.Source{}).Resolve(source.Root{}, ref)
		assert.Equal(t, want != "", ok, "%q", ref)
		if ok {
			assert.Equal(t, want, id, "%q", ref)
		}
	}
}

func TestCanonical_gives_a_root_one_form(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]string{
		"root": "root", "ROOT\n": "root", "shared-with-me": "shared-with-me",
		"https://drive.google.com/drive/my-drive":                                       "root",
		"https://drive.google.com/drive/u/0/my-drive/":                                  "root",
		"https://drive.google.com/drive/shared-with-me":                                 "shared-with-me",
		"https://drive.google.com/drive/u/1/folders/" + folderID + "?usp=drive_link":    folderID,
		"https://drive.google.com/drive/folders/" + folderID + "?resourcekey=0-aB_c":    folderID + "?resourcekey=0-aB_c",
		"https://drive.google.com/drive/folders/" + folderID + "?resourcekey=0-aB%2Fc,": folderID,
		folderID + "?resourcekey=0-aB_c":                                                folderID + "?resourcekey=0-aB_c",
		driveID:                                                                         driveID,
	} {
		got, err := gdrive.Canonical(ref)
		require.NoError(t, err, "%q", ref)
		assert.Equal(t, want, got, "%q", ref)
		again, err := gdrive.Canonical(got)
		require.NoError(t, err)
		assert.Equal(t, got, again)
	}
	for _, ref := range []string{"", "/srv/docs", "https://example.com/drive/folders/" + folderID, "my folder"} {
		_, err := gdrive.Canonical(ref)
		assert.Error(t, err, "%q", ref)
	}
}

var storedRoot = regexp.MustCompile(`^(?:root|shared-with-me|[A-Za-z0-9_-]{10,128}(?:\?resourcekey=[A-Za-z0-9_-]{1,128})?)$`)

func FuzzResolve(f *testing.F) {
	for _, seed := range []string{
		docID, "https://docs.google.com/document/d/" + docID, "https://drive.google.com/open?id=" + docID, "d/", "https://google.com/d/", "https://[::1]/folders/x",
		"https://drive.google.com/%2f%2fd/" + docID, "a?resourcekey=b", "\x00", "https://drive.google.com", "drive.google.com/", "https:", "root",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		id, ok := (&gdrive.Source{}).Resolve(source.Root{}, ref)
		if ok {
			require.Regexp(t, storedRoot, id)
			require.NotContains(t, id, "?")
			again, ok := (&gdrive.Source{}).Resolve(source.Root{}, id)
			require.True(t, ok)
			require.Equal(t, id, again)
		}
		if u, err := url.Parse(strings.TrimSpace(ref)); err == nil && u.Scheme == "https" && strings.HasSuffix(u.Hostname(), ".example") {
			require.False(t, ok)
		}
		if root, err := gdrive.Canonical(ref); err == nil {
			require.Regexp(t, storedRoot, root)
			again, err := gdrive.Canonical(root)
			require.NoError(t, err)
			require.Equal(t, root, again)
		}
	})
}
