package knowledge

import (
	"fmt"
	"slices"
	"strings"
)

// Fidelity says how much of a page its source could give and loresync could keep.
type Fidelity struct {
	// Blocks is how many parts were looked at, in the source's own unit.
	Blocks int `json:"blocks"`
	// Unsupported counts by the source's type what is there and can't be shown.
	Unsupported map[string]int `json:"unsupported,omitempty"`
	// Unreadable, Truncated and Skipped count what the source refused, what a limit cut, and what was left out on purpose.
	Unreadable int `json:"unreadable"`
	Truncated  int `json:"truncated"`
	Skipped    int `json:"skipped"`
	// Searchable is the share of the parts with content whose content can be found, 0 to 1.
	Searchable float64 `json:"searchable"`
	// Notes are sentences for people.
	Notes []string `json:"notes,omitempty"`
}

// String is the report in one line for people.
func (f Fidelity) String() string {
	parts := []string{f.share()}
	kinds := make([]string, 0, len(f.Unsupported))
	for kind, n := range f.Unsupported {
		kinds = append(kinds, fmt.Sprintf("%d %s", n, kind))
	}
	if len(kinds) > 0 {
		slices.Sort(kinds)
		parts = append(parts, "can't be shown: "+strings.Join(kinds, ", "))
	}
	for _, count := range []struct {
		n    int
		word string
	}{{f.Unreadable, "unreadable"}, {f.Truncated, "cut short"}, {f.Skipped, "left out"}} {
		if count.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count.n, count.word))
		}
	}
	return strings.Join(parts, "; ")
}

// share is how much of the content can be found. Of nothing there is no share.
func (f Fidelity) share() string {
	switch f.Blocks {
	case 0:
		return "nothing in it to search"
	case 1:
		return fmt.Sprintf("%.0f %% of 1 block searchable", f.Searchable*100)
	}
	return fmt.Sprintf("%.0f %% of %d blocks searchable", f.Searchable*100, f.Blocks)
}
