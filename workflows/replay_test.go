package workflows_test

import (
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/loresync/loresync/workflows"
)

// historiesDir holds {release}/{workflow type}/{case}.json, recorded from real runs. Those of a release stay as they are: they
// stand for the runs that are under way when a newer loresync takes over.
var historiesDir = filepath.Join("testdata", "histories")

// histories are the paths of the recorded histories.
func histories(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(historiesDir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found = append(found, path)
		}
		return err
	})
	require.NoError(t, err)
	require.NotEmpty(t, found)
	return found
}

func TestReplay(t *testing.T) {
	t.Parallel()
	recorded := map[string]bool{}
	for _, path := range histories(t) {
		recorded[filepath.Base(filepath.Dir(path))] = true
		t.Run(strings.TrimPrefix(path, historiesDir), func(t *testing.T) {
			t.Parallel()
			replayer := worker.NewWorkflowReplayer()
			for _, wf := range workflows.All() {
				replayer.RegisterWorkflow(wf)
			}
			log := sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))
			assert.NoError(t, replayer.ReplayWorkflowHistoryFromJSONFile(log, path))
		})
	}
	for _, wf := range workflows.All() {
		assert.True(t, recorded[typeName(wf)], "%s has no recorded history: go test ./workflows -run TestRecordHistories -record", typeName(wf))
	}
}

// maxHistory bounds a recorded history: one that is larger shows a workflow that grew, or a recording that should be smaller.
const maxHistory = 200 << 10

func TestRule10NoContentInRecordedHistories(t *testing.T) {
	t.Parallel()
	for _, path := range histories(t) {
		raw, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.LessOrEqual(t, len(raw), maxHistory, path)
		var document any
		require.NoError(t, json.Unmarshal(raw, &document))
		texts := strings.ToLower(strings.Join(textsIn(document, nil), "\n"))
		for _, secret := range []string{recordedWord, recordedDir, ".md"} {
			assert.NotContains(t, texts, secret, path)
		}
	}
}

// textsIn gives all strings of a document, and what those that are base64, as payloads are, hold.
func textsIn(value any, texts []string) []string {
	switch v := value.(type) {
	case string:
		texts = append(texts, v)
		if decoded, err := base64.StdEncoding.DecodeString(v); err == nil {
			texts = append(texts, string(decoded))
		}
	case []any:
		for _, each := range v {
			texts = textsIn(each, texts)
		}
	case map[string]any:
		for name, each := range v {
			texts = textsIn(each, append(texts, name))
		}
	}
	return texts
}
