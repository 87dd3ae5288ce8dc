package knowledge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/loresync/loresync/internal/knowledge"
)

func TestFidelityInWords(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "100 % of 3 blocks searchable", knowledge.Fidelity{Blocks: 3, Searchable: 1}.String())
	assert.Equal(t, "100 % of 1 block searchable", knowledge.Fidelity{Blocks: 1, Searchable: 1}.String())
	assert.Equal(t, "nothing in it to search", knowledge.Fidelity{Searchable: 1}.String())
	report := knowledge.Fidelity{Blocks: 8, Unsupported: map[string]int{"form": 2, "button": 1}, Unreadable: 1, Truncated: 1, Skipped: 3, Searchable: 0.5}
	assert.Equal(t, "50 % of 8 blocks searchable; can't be shown: 1 button, 2 form; 1 unreadable; 1 cut short; 3 left out", report.String())
}
