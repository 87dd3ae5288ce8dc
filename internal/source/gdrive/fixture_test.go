package gdrive_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/gdrive"
)

const replayedRoot = "1the-root-of-what-is-replayed"

// replay answers as Drive with one recorded list.
func replay(t *testing.T, list []byte) *gdrive.Source {
	t.Helper()
	mux := http.NewServeMux()
	answer := func(pattern, body string) {
		mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=UTF-8")
			_, _ = w.Write([]byte(body))
		})
	}
	answer("/drive/v3/changes/startPageToken", `{"startPageToken":"7"}`)
	answer("/drive/v3/files/{id}", `{"id":"`+replayedRoot+`","name":"Root","mimeType":"application/vnd.google-apps.folder"}`)
	mux.HandleFunc("GET /drive/v3/files", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		body := []byte(`{"files":[]}`)
		if strings.Contains(r.URL.Query().Get("q"), replayedRoot) {
			body = list
		}
		_, _ = w.Write(body)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	src, err := gdrive.New(gdrive.Options{
		Endpoint:    server.URL + "/drive/v3",
		Credentials: gdrive.Credentials{Token: func(context.Context) (string, error) { return "token", nil }},
	})
	require.NoError(t, err)
	return src
}

func TestList_reads_recorded_resources(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.FromSlash("../../../../shared/fixtures/drive/googledrive-r/*.files.json"))
	require.NoError(t, err)
	if len(names) == 0 {
		t.Skip("the recorded resources are not here: they are looked for in ../shared/fixtures/drive, and aren't part of the repository")
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(name)
			require.NoError(t, err)
			var recorded struct {
				Files []struct {
					ID      string `json:"id"`
					Name    string `json:"name"`
					Version string `json:"version"`
					URL     string `json:"webViewLink"` //nolint:tagliatelle // Drive's own
					Trashed bool   `json:"trashed"`
				} `json:"files"`
			}
			require.NoError(t, json.Unmarshal(raw, &recorded))
			src := replay(t, raw)
			entries := map[string]source.Entry{}
			listed, err := src.List(t.Context(), source.Root{FolderID: "hr", Ref: replayedRoot}, "", func(b source.Batch) error {
				for _, e := range b.Entries {
					entries[e.SourceID] = e
				}
				return nil
			})
			require.NoError(t, err)
			assert.Equal(t, source.VerdictComplete, listed.Verdict)
			require.NotEmpty(t, recorded.Files)
			for _, f := range recorded.Files {
				e, there := entries[f.ID]
				require.Equal(t, !f.Trashed, there, f.Name)
				if !there {
					continue
				}
				assert.NotEmpty(t, e.Title)
				assert.True(t, strings.HasPrefix(e.Version, f.Version), e.Version)
				assert.False(t, e.EditedAt.IsZero())
				id, ok := src.Resolve(source.Root{}, f.URL)
				assert.True(t, ok, f.URL)
				assert.Equal(t, f.ID, id)
			}
		})
	}
}
