package extract

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReceive(t *testing.T) {
	t.Parallel()
	send := func(t *testing.T, steps ...func(io.Writer) error) *bytes.Buffer {
		t.Helper()
		var wire bytes.Buffer
		for _, step := range steps {
			require.NoError(t, step(&wire))
		}
		return &wire
	}
	header := func(w io.Writer) error { return writeJSON(w, job{Format: formatPDF, MaxPages: 7}) }
	piece := func(content string) func(io.Writer) error {
		return func(w io.Writer) error { return writeFrame(w, []byte(content)) }
	}
	giveUp := func(w io.Writer) error { return writeLength(w, forget) }

	t.Run("puts a file together", func(t *testing.T) {
		t.Parallel()
		got, err := receive(send(t, header, piece("one "), piece("two"), piece("")))
		require.NoError(t, err)
		assert.Equal(t, job{Format: formatPDF, MaxPages: 7}, got.job)
		assert.Equal(t, "one two", string(got.file.bytes()))
	})
	t.Run("goes on after a job that was taken back", func(t *testing.T) {
		t.Parallel()
		next := header
		wire := send(t, header, piece("one"), giveUp, next, piece("two"), piece(""))
		_, err := receive(wire)
		require.ErrorIs(t, err, errForgotten)
		got, err := receive(wire)
		require.NoError(t, err)
		assert.Equal(t, "two", string(got.file.bytes()))
	})
	t.Run("refuses a frame that is longer than agreed", func(t *testing.T) {
		t.Parallel()
		_, err := receive(send(t, header, piece(strings.Repeat("x", maxJob+1))))
		require.ErrorIs(t, err, errFrame)
	})
	t.Run("ends with its input", func(t *testing.T) {
		t.Parallel()
		_, err := receive(send(t))
		require.ErrorIs(t, err, io.EOF)
		_, err = receive(send(t, header, func(w io.Writer) error { return writeLength(w, 10) }, func(w io.Writer) error {
			_, err := io.WriteString(w, "short")
			return err
		}))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	})
}

func TestResultOf_trusts_no_reply(t *testing.T) {
	t.Parallel()
	assert.Equal(t, Result{Text: "ab\uFFFD", Searchable: true, Truncated: true}, resultOf(reply{Text: "a\x00b\xffc", Searchable: true}, 3))
	assert.Equal(t, Result{Reason: ReasonEmpty}, resultOf(reply{Text: " ", Searchable: true}, 3))
	assert.Equal(t, Result{Pages: 2, Reason: ReasonScanned}, resultOf(reply{Text: "left over", Pages: 2, Reason: ReasonScanned}, 3))
}
