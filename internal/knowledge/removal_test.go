package knowledge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/loresync/loresync/internal/knowledge"
)

func TestRule7AbsenceHoldReason(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		removal knowledge.Removal
		held    bool
	}{
		"nothing planned":                           {knowledge.Removal{Live: 100, Listed: 100}, false},
		"three of two hundred":                      {knowledge.Removal{Live: 200, Listed: 197, Planned: 3}, false},
		"forty per cent":                            {knowledge.Removal{Live: 200, Listed: 120, Planned: 80}, true},
		"exactly a quarter":                         {knowledge.Removal{Live: 200, Listed: 150, Planned: 50}, false},
		"one over a quarter":                        {knowledge.Removal{Live: 200, Listed: 149, Planned: 51}, true},
		"a quarter in two bites":                    {knowledge.Removal{Live: 160, Listed: 140, Recent: 30, Planned: 20}, true},
		"a bite that came back counts":              {knowledge.Removal{Live: 160, Listed: 140, Recent: 30, Returned: 30, Planned: 20}, true},
		"five of eight":                             {knowledge.Removal{Live: 8, Listed: 3, Planned: 5}, false},
		"six of eight":                              {knowledge.Removal{Live: 8, Listed: 2, Planned: 6}, true},
		"two of two, listing none":                  {knowledge.Removal{Live: 2, Planned: 2}, false},
		"three of three, listing none":              {knowledge.Removal{Live: 3, Planned: 3}, true},
		"one planned of fifty, listing four":        {knowledge.Removal{Live: 50, Listed: 4, Planned: 1}, true},
		"one planned of fifty, listing five":        {knowledge.Removal{Live: 50, Listed: 5, Planned: 1}, false},
		"one planned of forty-nine, listing only 1": {knowledge.Removal{Live: 49, Listed: 1, Planned: 1}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.held, knowledge.HoldReason(c.removal) != "", knowledge.HoldReason(c.removal))
		})
	}
}

func TestRule7AHoldSaysHowMuchOfWhatWasCountedCameBack(t *testing.T) {
	t.Parallel()
	removal := knowledge.Removal{Live: 20, Listed: 16, Recent: 3, Planned: 4}
	assert.NotContains(t, knowledge.HoldReason(removal), "came back")
	removal.Returned = 1
	assert.Contains(t, knowledge.HoldReason(removal), "one of them came back since, which counts all the same")
	removal.Returned = 3
	assert.Contains(t, knowledge.HoldReason(removal), "3 of them came back since")
}

func TestCountsStatus(t *testing.T) {
	t.Parallel()
	assert.Equal(t, knowledge.RunCompleted, knowledge.Counts{Listed: 3, Skipped: 1, Unchanged: 2, Held: 7}.Status(true))
	assert.Equal(t, knowledge.RunPartial, knowledge.Counts{Listed: 3, Failed: 1, Unchanged: 2}.Status(true))
	assert.Equal(t, knowledge.RunPartial, knowledge.Counts{Listed: 3, Unchanged: 3}.Status(false))
}
