package main

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/config"
)

func TestInherit(t *testing.T) {
	t.Parallel()
	environ := []string{
		"LORESYNC_EMBEDDING_MODEL=m", "LORESYNC_TEST_DATABASE_URL=x", "TEMPORAL_API_KEY=secret", "TEMPORAL_NAMESPACE=team", "HOME=/root",
		"LORESYNC_SLACK_BOT_TOKEN=", "TEMPORAL_TLS_CLIENT_KEY_DATA=two\nlines",
	}
	t.Run("keeps settings for another Temporal from ours", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, settings{
			"LORESYNC_EMBEDDING_MODEL": "m", "TEMPORAL_API_KEY": "", "TEMPORAL_NAMESPACE": "default", "TEMPORAL_CONFIG_FILE": os.DevNull,
		}, inherit(environ, true))
	})
	t.Run("passes them on to the one that they are for", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, settings{
			"LORESYNC_EMBEDDING_MODEL": "m", "TEMPORAL_API_KEY": "secret", "TEMPORAL_NAMESPACE": "team",
		}, inherit(environ, false))
	})
}

func TestRemember(t *testing.T) {
	t.Parallel()
	free := func() int {
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer func() { _ = listener.Close() }()
		_, port, err := net.SplitHostPort(listener.Addr().String())
		require.NoError(t, err)
		number, err := strconv.Atoi(port)
		require.NoError(t, err)
		return number
	}
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = taken.Close() })
	dir, port := t.TempDir(), free()
	require.NoError(t, config.WriteEnvFile(filepath.Join(dir, config.EnvFile), map[string]string{
		"DATABASE": "postgres://a:b@127.0.0.1:" + strconv.Itoa(port) + "/x?sslmode=disable", "TAKEN": taken.Addr().String(),
		"ELSEWHERE": "db.example.com:5432", "BROKEN": "nowhere",
	}))
	last := remember(dir)
	assert.Equal(t, port, last.port("DATABASE"))
	for _, name := range []string{"TAKEN", "ELSEWHERE", "BROKEN", "MISSING"} {
		assert.Zero(t, last.port(name), name)
	}
	assert.Nil(t, remember(t.TempDir()))
}

func TestAddressOf(t *testing.T) {
	t.Parallel()
	for listen, want := range map[string]string{
		"127.0.0.1:8080": "http://127.0.0.1:8080", ":8080": "http://127.0.0.1:8080", "0.0.0.0:80": "http://127.0.0.1:80",
		"[::]:80": "http://127.0.0.1:80", "[::1]:80": "http://[::1]:80", "box.local:80": "http://box.local:80",
	} {
		assert.Equal(t, want, addressOf(listen), listen)
	}
}

func TestAddressesAreShownWithoutPasswords(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "postgres://me@db:5432/x", withoutPassword("postgres://me:secret@db:5432/x?sslmode=disable&password=secret"))
	assert.Equal(t, "the given database", withoutPassword("host=db password=secret"))
}

func TestQuote(t *testing.T) {
	t.Parallel()
	assert.Equal(t, ".loresync/env", quote(".loresync/env"))
	assert.Equal(t, `'/a dir/it'\''s/env'`, quote("/a dir/it's/env"))
}
