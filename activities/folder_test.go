package activities

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
)

func TestRule8MatchRenames(t *testing.T) {
	t.Parallel()
	gone := func(pairs ...string) []knowledge.Vanished {
		var vanished []knowledge.Vanished
		for i := 0; i < len(pairs); i += 2 {
			vanished = append(vanished, knowledge.Vanished{SourceID: pairs[i], Fingerprint: []byte(pairs[i+1])})
		}
		return vanished
	}
	cases := map[string]struct {
		vanished []knowledge.Vanished
		prints   map[string][]byte
		want     []rename
	}{
		"one vanished and one new page with one content": {gone("a", "1"), map[string][]byte{"b": []byte("1")}, []rename{{"a", "b"}}},
		"two moves in the order in which they vanished": {
			gone("a", "1", "c", "2"), map[string][]byte{"d": []byte("2"), "b": []byte("1")}, []rename{{"a", "b"}, {"c", "d"}},
		},
		"two new pages with the content":      {gone("a", "1"), map[string][]byte{"b": []byte("1"), "c": []byte("1")}, nil},
		"two vanished pages with the content": {gone("a", "1", "b", "1"), map[string][]byte{"c": []byte("1")}, nil},
		"other content":                       {gone("a", "1"), map[string][]byte{"b": []byte("2")}, nil},
		"an empty page":                       {gone("a", ""), map[string][]byte{"b": nil, "c": {}}, nil},
		"a page that could not be read":       {gone("a", "1"), map[string][]byte{"b": nil}, nil},
		"nothing new":                         {gone("a", "1"), nil, nil},
		"doubt about one pair leaves the other a move": {
			gone("a", "1", "b", "2"), map[string][]byte{"c": []byte("1"), "d": []byte("1"), "e": []byte("2")}, []rename{{"b", "e"}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arrived := make([]string, 0, len(c.prints))
			for sourceID := range c.prints {
				arrived = append(arrived, sourceID)
			}
			assert.Equal(t, c.want, matchRenames(c.vanished, arrived, c.prints))
		})
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	counted := func(verdict source.Verdict, failed int64) knowledge.Counted {
		return knowledge.Counted{Counts: knowledge.Counts{Listed: 9, Failed: failed}, Verdict: string(verdict), Sentence: "why"}
	}
	cases := map[string]struct {
		counted knowledge.Counted
		status  knowledge.RunStatus
		reason  string
	}{
		"a whole listing without failures completed":     {counted(source.VerdictComplete, 0), knowledge.RunCompleted, ""},
		"a failed page makes it partial":                 {counted(source.VerdictComplete, 2), knowledge.RunPartial, "2 of 9 pages failed"},
		"a root that is missing fails it":                {counted(source.VerdictRootMissing, 0), knowledge.RunFailed, "why"},
		"a root that can't be read fails it":             {counted(source.VerdictRootUnreadable, 0), knowledge.RunFailed, "why"},
		"a part that can't be read makes it partial":     {counted(source.VerdictPartUnreadable, 0), knowledge.RunPartial, "why"},
		"a listing with a cap makes it partial":          {counted(source.VerdictCapped, 0), knowledge.RunPartial, "why"},
		"a listing that doesn't add up makes it partial": {counted(source.VerdictIncompleteCount, 0), knowledge.RunPartial, "why"},
		"a listing without a verdict isn't complete":     {counted("", 0), knowledge.RunPartial, "why"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, reason := judge(c.counted)
			assert.Equal(t, c.status, status)
			assert.Equal(t, c.reason, reason)
		})
	}
}

func TestSumRuns(t *testing.T) {
	t.Parallel()
	run := func(status knowledge.RunStatus) knowledge.Run {
		return knowledge.Run{Status: status, Counts: knowledge.Counts{Listed: 2, New: 1}}
	}
	cases := map[string]struct {
		runs   []knowledge.Run
		ended  bool
		status knowledge.RunStatus
	}{
		"no folder at all":             {nil, true, knowledge.RunCompleted},
		"all completed":                {[]knowledge.Run{run(knowledge.RunCompleted), run(knowledge.RunCompleted)}, true, knowledge.RunCompleted},
		"one still runs":               {[]knowledge.Run{run(knowledge.RunCompleted), run(knowledge.RunRunning)}, false, knowledge.RunCompleted},
		"one was partial":              {[]knowledge.Run{run(knowledge.RunCompleted), run(knowledge.RunPartial)}, true, knowledge.RunPartial},
		"one failed":                   {[]knowledge.Run{run(knowledge.RunFailed), run(knowledge.RunCompleted)}, true, knowledge.RunPartial},
		"one was cancelled":            {[]knowledge.Run{run(knowledge.RunCancelled)}, true, knowledge.RunPartial},
		"a refused folder isn't wrong": {[]knowledge.Run{run(knowledge.RunRefused)}, true, knowledge.RunCompleted},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := sumRuns(c.runs)
			assert.Equal(t, c.ended, got.Ended)
			assert.Equal(t, c.status, got.Status)
			assert.EqualValues(t, 2*len(c.runs), got.Counts.Listed)
		})
	}
}
