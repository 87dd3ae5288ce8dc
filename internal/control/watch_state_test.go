package control

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/loresync/loresync/internal/knowledge"
)

func TestWatchStateIsThatOfTheWorstLog(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	at := func(ago time.Duration) *time.Time { moment := now.Add(-ago); return &moment }
	active := knowledge.Watch{Log: "user", State: "active"}
	fresh := knowledge.Watch{Log: "0AB", State: "waiting", OpenedAt: at(time.Second), Address: "https://lore.test/webhooks/drive/gdrive"}
	silent := fresh
	silent.OpenedAt = at(time.Hour)
	failed := knowledge.Watch{Log: "0AC", State: "failed", Failures: 2, Sentence: "it is refused", NextTryAt: at(-time.Hour)}
	renewing := active
	renewing.Failures = 1
	for name, c := range map[string]struct {
		watches       []knowledge.Watch
		why           knowledge.NoAddress
		state, advice string
	}{
		"without an address":             {[]knowledge.Watch{active}, knowledge.AddressUnset, "off", "LORESYNC_PUBLIC_URL is not set"},
		"with one that can't be called":  {nil, knowledge.AddressInsecure, "off", "no https address"},
		"before a folder was listed":     {nil, "", "none", "first full sync"},
		"all is well":                    {[]knowledge.Watch{active, active}, "", "active", ""},
		"just opened":                    {[]knowledge.Watch{active, fresh}, "", "waiting", "has not come yet"},
		"never called":                   {[]knowledge.Watch{silent, active}, "", "waiting", "https://lore.test/webhooks/drive/gdrive can be reached"},
		"being opened":                   {[]knowledge.Watch{fresh, {Log: "x", State: "opening"}, active}, "", "opening", "look again"},
		"one that can't be opened":       {[]knowledge.Watch{active, failed}, "", "failing", "0AC (it is refused): it is tried again at 2026-12-01T13:00:00Z"},
		"one that can't be renewed":      {[]knowledge.Watch{renewing}, "", "failing", "tried again soon"},
		"one that ended without another": {[]knowledge.Watch{{Log: "user", State: "expired"}}, "", "failing", "check that a worker runs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state, advice := watchState(c.watches, c.why, now)
			assert.Equal(t, c.state, state)
			assert.Contains(t, advice, c.advice)
			assert.Equal(t, c.advice == "", advice == "")
		})
	}
}
