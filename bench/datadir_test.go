package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDataDir(t *testing.T) {
	t.Parallel()
	t.Run("of a run that was killed is replaced", func(t *testing.T) {
		t.Parallel()
		name := filepath.Join(t.TempDir(), "bench")
		dir, err := makeDataDir(t.Context(), name)
		require.NoError(t, err)
		left := filepath.Join(dir, "left")
		require.NoError(t, os.WriteFile(left, nil, 0o600))
		again, err := makeDataDir(t.Context(), name)
		require.NoError(t, err)
		assert.Equal(t, dir, again)
		assert.NoFileExists(t, left)
	})
	t.Run("that somebody else made is left alone", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		precious := filepath.Join(dir, "precious")
		require.NoError(t, os.WriteFile(precious, nil, 0o600))
		_, err := makeDataDir(t.Context(), dir)
		require.ErrorIs(t, err, errNotOurs)
		assert.FileExists(t, precious)
	})
}
