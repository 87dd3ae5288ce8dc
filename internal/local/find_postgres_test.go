package local

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func serverPrograms(t *testing.T, dir, version string) string {
	t.Helper()
	program(t, filepath.Join(dir, "initdb"), "exit 1")
	program(t, filepath.Join(dir, "postgres"), printing("postgres (PostgreSQL) "+version))
	return dir
}

// postgresFinder searches a machine whose usual folders are dir/N/bin and whose /etc is dir/etc.
func (m machine) postgresFinder(t *testing.T, isRoot bool) *postgresFinder {
	t.Helper()
	nothing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(nothing.Close)
	return &postgresFinder{
		PostgresSearch: PostgresSearch{BinDir: filepath.Join(m.dir, "downloads")},
		lookPath:       m.lookPath, folders: []string{filepath.Join(m.dir, "*/bin")},
		etc: filepath.Join(m.dir, "etc"), repository: nothing.URL, isRoot: isRoot,
	}
}

func TestFindPostgres(t *testing.T) {
	t.Parallel()
	t.Run("follows the link on PATH to the real folder", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t, nil)
		folder := serverPrograms(t, filepath.Join(m.dir, "opt/pg"), "15.14 (Debian 15.14-0+deb12u1)")
		require.NoError(t, os.Symlink(filepath.Join(folder, "postgres"), filepath.Join(m.dir, "postgres")))
		dir, err := m.postgresFinder(t, false).find(t.Context())
		require.NoError(t, err)
		assert.Equal(t, folder, dir)
	})
	t.Run("takes the newest of the usual folders", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t, nil)
		serverPrograms(t, filepath.Join(m.dir, "9/bin"), "9.6.24")
		serverPrograms(t, filepath.Join(m.dir, "14/bin"), "14.18")
		newest := serverPrograms(t, filepath.Join(m.dir, "17/bin"), "17.5")
		dir, err := m.postgresFinder(t, false).find(t.Context())
		require.NoError(t, err)
		assert.Equal(t, newest, dir)
	})
	t.Run("says in one line what to install when only an old one is there", func(t *testing.T) {
		t.Parallel()
		m := newMachine(t, nil)
		serverPrograms(t, filepath.Join(m.dir, "13/bin"), "13.21")
		_, err := m.postgresFinder(t, false).find(t.Context())
		require.ErrorIs(t, err, ErrNoPostgres)
		assert.Contains(t, err.Error(), "install it")
	})
	t.Run("installs nothing when it may not", func(t *testing.T) {
		t.Parallel()
		m := debian(t)
		finder := m.postgresFinder(t, true)
		finder.NoInstall = true
		_, err := finder.find(t.Context())
		require.ErrorIs(t, err, ErrNoPostgres)
		assert.NoFileExists(t, filepath.Join(m.dir, "calls"))
	})
}

// debian is a machine whose apt-get writes its calls down and, like the real one, brings the programs.
func debian(t *testing.T) machine {
	t.Helper()
	m := newMachine(t, map[string]string{"apt-get": `dir="$(dirname "$0")"
echo "$DEBIAN_FRONTEND $*" >> "$dir/calls"
case "$*" in *install*)
	mkdir -p "$dir/15/bin"
	printf '#!/bin/sh\necho "postgres (PostgreSQL) 15.14"\n' > "$dir/15/bin/postgres"
	cp "$dir/15/bin/postgres" "$dir/15/bin/initdb"
	chmod +x "$dir/15/bin/"*
esac`})
	require.NoError(t, os.MkdirAll(filepath.Join(m.dir, "etc"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(m.dir, "etc/debian_version"), []byte("12.5\n"), 0o600))
	return m
}

func TestInstallPackage(t *testing.T) {
	t.Parallel()
	t.Run("installs as root without a cluster of Debian's own", func(t *testing.T) {
		t.Parallel()
		m := debian(t)
		dir, err := m.postgresFinder(t, true).find(t.Context())
		require.NoError(t, err)
		assert.Equal(t, filepath.Join(m.dir, "15/bin"), dir)
		settings, err := os.ReadFile(filepath.Join(m.dir, "etc/postgresql-common/createcluster.conf"))
		require.NoError(t, err)
		assert.Equal(t, "create_main_cluster = false\n", string(settings))
		calls, err := os.ReadFile(filepath.Join(m.dir, "calls"))
		require.NoError(t, err)
		assert.Regexp(t, `(?s)^noninteractive .* update\nnoninteractive .* install -y --no-install-recommends postgresql\n$`, string(calls))
	})
	t.Run("keeps settings that the operator made", func(t *testing.T) {
		t.Parallel()
		m := debian(t)
		settings := filepath.Join(m.dir, "etc/postgresql-common/createcluster.conf")
		require.NoError(t, os.MkdirAll(filepath.Dir(settings), 0o700))
		require.NoError(t, os.WriteFile(settings, []byte("mine\n"), 0o600))
		_, err := m.postgresFinder(t, true).find(t.Context())
		require.NoError(t, err)
		kept, err := os.ReadFile(settings)
		require.NoError(t, err)
		assert.Equal(t, "mine\n", string(kept))
	})
	t.Run("goes through sudo when that asks for no password", func(t *testing.T) {
		t.Parallel()
		m := debian(t)
		program(t, filepath.Join(m.dir, "sudo"), `shift; exec "$@"`)
		_, err := m.postgresFinder(t, false).find(t.Context())
		require.NoError(t, err)
	})
	t.Run("leaves apt-get alone when sudo wants a password", func(t *testing.T) {
		t.Parallel()
		m := debian(t)
		program(t, filepath.Join(m.dir, "sudo"), "exit 1")
		_, err := m.postgresFinder(t, false).find(t.Context())
		require.ErrorIs(t, err, ErrNoPostgres)
		assert.NoFileExists(t, filepath.Join(m.dir, "calls"))
	})
}

func TestDownloadPostgres(t *testing.T) {
	t.Parallel()
	m := newMachine(t, nil)
	jar := postgresJar(t)
	sum := sha256.Sum256(jar)
	repository := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".sha256") {
			_, _ = w.Write([]byte(hex.EncodeToString(sum[:])))
			return
		}
		_, _ = w.Write(jar)
	}))
	t.Cleanup(repository.Close)
	finder := m.postgresFinder(t, false)
	finder.repository = repository.URL
	dir, err := finder.find(t.Context())
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(m.dir, "downloads/postgres-17.5.0/bin"), dir)
	repository.Close()
	again, err := finder.find(t.Context())
	require.NoError(t, err)
	assert.Equal(t, dir, again, "the second search finds what the first one downloaded")
}

// postgresJar wraps stand-in programs as the repository wraps the real ones.
func postgresJar(t *testing.T) []byte {
	t.Helper()
	archive, err := os.ReadFile("testdata/postgres.txz")
	require.NoError(t, err)
	var jar bytes.Buffer
	writer := zip.NewWriter(&jar)
	entry, err := writer.Create("postgres-linux-x86_64.txz")
	require.NoError(t, err)
	_, err = entry.Write(archive)
	require.NoError(t, err)
	require.NoError(t, writer.Close())
	return jar.Bytes()
}
