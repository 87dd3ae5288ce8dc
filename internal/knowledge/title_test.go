package knowledge_test

import (
	"testing"

	"github.com/loresync/loresync/internal/knowledge"
)

func TestATitleInWhichNothingCanBeSeenIsUntitled(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"": knowledge.Untitled, " \n": knowledge.Untitled, "\u3000\t": knowledge.Untitled, "\u200b\ufeff": knowledge.Untitled, "\x1b": knowledge.Untitled,
		"Trains": "Trains", " two\nlines ": " two\nlines ", "出張": "出張", "👩‍💻": "👩‍💻", "-": "-",
	} {
		if got := knowledge.Title(title); got != want {
			t.Errorf("%q is called %q, want %q", title, got, want)
		}
	}
}
