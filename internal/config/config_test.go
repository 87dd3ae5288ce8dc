package config

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/testenv"
	"github.com/loresync/loresync/schema"
)

func TestMain(m *testing.M) {
	testenv.SetMigrate(func(ctx context.Context, url string) error {
		_, err := schema.Migrate(ctx, url)
		return err
	})
	testenv.Main(m)
}

const database = "postgres://u:secret@127.0.0.1:1/db"

func TestLoadGivesDefaultsForWhatIsNotSet(t *testing.T) {
	t.Parallel()
	c, err := load(map[string]string{databaseURL: database, "LORESYNC_NOTION_RATE": "", "TEMPORAL_ADDRESS": "temporal:7233", "TEMPORAL_NAMESPACE": "knowledge"})
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1:8080", c.Listen)
	assert.InDelta(t, 2.85, c.Notion.Rate, 0)
	assert.Equal(t, 7*24*time.Hour, c.Timeouts.Undo)
	assert.Equal(t, "temporal:7233", c.Temporal.HostPort)
	assert.Equal(t, "knowledge", c.Temporal.Namespace)
}

func TestLoadSaysInOneLineWhichSettingIsWrong(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"LORESYNC_DATABASE_URL":         "mysql://u:secret@h/db",
		"LORESYNC_LISTEN":               "8080",
		"LORESYNC_PUBLIC_URL":           "loresync.example.com",
		"LORESYNC_NOTION_RATE":          "fast",
		"LORESYNC_GDRIVE_RATE":          "NaN",
		"LORESYNC_EMBEDDING_DIMENSIONS": "-1",
		"LORESYNC_EMBEDDING_MODEL":      "small",
		"LORESYNC_SUMMARY_MODEL":        "large",
		"LORESYNC_OPENAI_BASE_URL":      "localhost:11434",
		"LORESYNC_UNDO_WINDOW":          "a week",
		"LORESYNC_LOCK_TIMEOUT":         "0s",
		"TEMPORAL_TLS_CLIENT_CERT_PATH": "/does/not/exist",
	} {
		settings := map[string]string{databaseURL: database}
		settings[name] = value
		_, err := load(settings)
		require.Error(t, err, name)
		assert.NotContains(t, err.Error(), "\n")
		assert.NotContains(t, err.Error(), "secret")
		if name != "TEMPORAL_TLS_CLIENT_CERT_PATH" {
			assert.Contains(t, err.Error(), name)
			continue
		}
		assert.Contains(t, err.Error(), "TEMPORAL_")
	}
}

func TestLoadWithoutADatabaseSaysHowToGetOne(t *testing.T) {
	t.Parallel()
	_, err := load(map[string]string{dataDir: t.TempDir()})
	require.ErrorContains(t, err, "LORESYNC_DATABASE_URL is not set")
	assert.ErrorContains(t, err, "make dev")
}

func TestTheEnvFileIsReadWhereNoDatabaseIsSetAndTheEnvironmentWins(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, WriteEnvFile(filepath.Join(dir, EnvFile), map[string]string{
		databaseURL: database, "LORESYNC_LISTEN": "127.0.0.1:1111", "TEMPORAL_ADDRESS": "127.0.0.1:2222", "LORESYNC_ADMIN_TOKEN": "it's $a `token`",
	}))
	c, err := load(map[string]string{dataDir: dir, "LORESYNC_LISTEN": "127.0.0.1:3333"})
	require.NoError(t, err)
	assert.Equal(t, database, c.DatabaseURL)
	assert.Equal(t, "127.0.0.1:3333", c.Listen)
	assert.Equal(t, "127.0.0.1:2222", c.Temporal.HostPort)
	assert.Equal(t, "it's $a `token`", c.AdminToken)

	c, err = load(map[string]string{dataDir: dir, databaseURL: "postgres://other/db"})
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1:8080", c.Listen, "with a database of its own, the environment is all there is")
}

func TestTheEnvFileIsWhatAShellReads(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), EnvFile)
	values := map[string]string{"A": "plain", "B": "it's", "C": `back\slash "and" $HOME`, "D": "", "E": "日本語 # no comment"}
	require.NoError(t, WriteEnvFile(path, values))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	read, err := ReadEnvFile(path)
	require.NoError(t, err)
	assert.Equal(t, values, read)
	out, err := exec.CommandContext(t.Context(), "sh", "-c", `. "$1" && printf '%s|' "$A" "$B" "$C" "$D" "$E"`, "sh", path).Output()
	require.NoError(t, err)
	assert.Equal(t, values["A"]+"|"+values["B"]+"|"+values["C"]+"|"+values["D"]+"|"+values["E"]+"|", string(out))

	require.NoError(t, WriteEnvFile(path, map[string]string{"A": "new"}))
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no temporary file is left")
	require.Error(t, WriteEnvFile(path, map[string]string{"A": "two\nlines"}))
	require.Error(t, WriteEnvFile(path, map[string]string{"A B": "x"}))
}

func TestReadEnvFileTakesWhatPeopleWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), EnvFile)
	write := func(text string) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write("# comment\n\nA=bare # why\nexport\tB=\"double \\\"quoted\\\"\"\r\n  C='x'y\\ z\nD=\n")
	values, err := ReadEnvFile(path)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"A": "bare", "B": `double "quoted"`, "C": "xy z", "D": ""}, values)
	for _, bad := range []string{"nothing", "A='open", `A="open`, "A=$HOME", "A=`id`", "A=two words", "1A=x", "A=x;id", `A="$(id)"`} {
		write("# first\n" + bad + "\n")
		_, err := ReadEnvFile(path)
		require.ErrorContains(t, err, "line 2", bad)
		assert.NotContains(t, err.Error(), "\n")
	}
}

func TestModelsAreBuiltInUnlessNamed(t *testing.T) {
	t.Parallel()
	embedder, summarizer, err := Models(Config{})
	require.NoError(t, err)
	assert.False(t, embedder.Remote())
	assert.False(t, summarizer.Remote())
	embedder, summarizer, err = Models(Config{OpenAI: OpenAI{
		BaseURL: "http://127.0.0.1:1/v1", EmbeddingModel: "small", EmbeddingDimensions: 8, SummaryModel: "large",
	}})
	require.NoError(t, err)
	assert.Equal(t, []any{"small", 8, true, "large"}, []any{embedder.Model(), embedder.Dimensions(), embedder.Remote(), summarizer.Model()})
	_, _, err = Models(Config{OpenAI: OpenAI{EmbeddingModel: "small"}})
	require.ErrorContains(t, err, "LORESYNC_OPENAI_BASE_URL")
}

func TestSources(t *testing.T) {
	t.Parallel()
	all := NewSources(Config{}, nil)
	src, err := all.Source(t.Context(), "files", "files")
	require.NoError(t, err)
	assert.Equal(t, "files", src.Name())
	above := src.(interface{ Ancestors(string) []string }).Ancestors("a/b/c.md") //nolint:errcheck // the test fails as it should
	assert.Equal(t, []string{"a/b", "a"}, above)
	for _, name := range []string{"notion", "gdrive", "ftp", ""} {
		_, err := all.Source(t.Context(), name, name)
		require.Error(t, err, name)
	}
}

func TestConnectWorksWhileTemporalIsDown(t *testing.T) {
	t.Parallel()
	c, err := load(map[string]string{databaseURL: testenv.Database(t), "TEMPORAL_ADDRESS": "127.0.0.1:1"})
	require.NoError(t, err)
	wiring, err := Connect(t.Context(), c, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(wiring.Close)
	folders, err := wiring.Control.Folders(t.Context())
	require.NoError(t, err)
	assert.Empty(t, folders)
}

func TestConnectNamesWhatKeepsTheDatabaseAway(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]control.Kind{
		database:                   control.KindUnreachable,
		testenv.EmptyDatabase(t):   control.KindFailed,
		"postgres://u:secret@[::1": control.KindFailed,
	} {
		began := time.Now()
		c := Config{DatabaseURL: address, Timeouts: Timeouts{DatabaseConnect: 2 * time.Second}}
		_, err := Connect(t.Context(), c, slog.New(slog.DiscardHandler))
		require.Error(t, err)
		assert.Equal(t, want, control.KindOf(err), err.Error())
		assert.NotContains(t, err.Error(), "\n")
		assert.NotContains(t, err.Error(), "secret")
		assert.Less(t, time.Since(began), 5*time.Second)
	}
}
