package approaches_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/bench/internal/approaches"
)

const counted = `package p

// One has a comment.
func One() int {
	// A comment alone doesn't count.

	return 1 // behind code it does
}

type T struct{}

func (t *T) Two() {
	_ = t
}

func (T) One() {}
`

func TestLines(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"p.go": {Data: []byte(counted)}, "broken.go": {Data: []byte("package")}}
	for _, c := range []struct {
		want      int
		functions []string
	}{
		{0, nil}, {3, []string{"One"}}, {3, []string{"T.Two"}}, {1, []string{"T.One"}}, {7, []string{"T.Two", "One", "T.One"}},
	} {
		got, err := approaches.Lines(files, "p.go", c.functions...)
		require.NoError(t, err)
		assert.Equal(t, c.want, got, "%v", c.functions)
	}
	for file, function := range map[string]string{"p.go": "Three", "broken.go": "One", "none.go": "One"} {
		_, err := approaches.Lines(files, file, function)
		assert.Error(t, err, file)
	}
}
