package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseFlags(t *testing.T) {
	t.Parallel()
	t.Run("knows the contract's flags", func(t *testing.T) {
		t.Parallel()
		got, err := parseFlags([]string{
			"--data-dir", "/tmp/x", "--no-sample", "--once", "--listen", "127.0.0.1:1", "--temporal-address", "t:7233",
			"--database-url=postgres://x", "--workers", "3",
		}, io.Discard)
		require.NoError(t, err)
		assert.Equal(t, options{
			dataDir: "/tmp/x", noSample: true, once: true, listen: "127.0.0.1:1", temporalAddress: "t:7233", databaseURL: "postgres://x", workers: 3,
		}, got)
	})
	t.Run("keeps its data in .loresync", func(t *testing.T) {
		t.Parallel()
		got, err := parseFlags(nil, io.Discard)
		require.NoError(t, err)
		assert.Equal(t, options{dataDir: ".loresync", workers: 1}, got)
	})
	t.Run("helps", func(t *testing.T) {
		t.Parallel()
		var help bytes.Buffer
		_, err := parseFlags([]string{"--help"}, &help)
		require.ErrorIs(t, err, errHelp)
		assert.Contains(t, help.String(), "--no-sample")
	})
	t.Run("refuses in one line what it can't do", func(t *testing.T) {
		t.Parallel()
		for _, line := range []string{
			"--workers 0", "--workers 33", "--workers x", "--listen here", "--temporal-address :", "more", "--data-dir=", "--no",
		} {
			_, err := parseFlags(strings.Fields(line), io.Discard)
			var wrong *usageError
			require.ErrorAs(t, err, &wrong, line)
			assert.NotContains(t, err.Error(), "\n", line)
			assert.Equal(t, exitUsage, exitCode(err))
		}
	})
}

func TestTheSampleIsPartOfTheProgram(t *testing.T) {
	t.Parallel()
	files, err := sample()
	require.NoError(t, err)
	for _, name := range []string{"people/expenses.md", "ja/people/経費精算.md"} {
		file, err := files.Open(name)
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
}
