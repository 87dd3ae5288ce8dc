package knowledge_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/loresync/loresync/internal/knowledge"
)

func TestWatchAddress(t *testing.T) {
	t.Parallel()
	for public, want := range map[string]struct {
		address string
		why     knowledge.NoAddress
	}{
		"https://lore.example.com":       {"https://lore.example.com/webhooks/drive/gdrive", ""},
		"https://example.com:8443/lore/": {"https://example.com:8443/lore/webhooks/drive/gdrive", ""},
		"https://a:b@example.com/?q=1#x": {"https://example.com/webhooks/drive/gdrive", ""},
		"http://127.0.0.1:8080":          {"http://127.0.0.1:8080/webhooks/drive/gdrive", ""},
		"http://[::1]:8080":              {"http://[::1]:8080/webhooks/drive/gdrive", ""},
		"http://localhost":               {"http://localhost/webhooks/drive/gdrive", ""},
		"":                               {"", knowledge.AddressUnset},
		"http://lore.example.com":        {"", knowledge.AddressInsecure},
		"http://localhost.evil.example":  {"", knowledge.AddressInsecure},
		"ftp://127.0.0.1":                {"", knowledge.AddressInsecure},
		"https://":                       {"", knowledge.AddressInsecure},
		"lore.example.com":               {"", knowledge.AddressInsecure},
		"https://lore.example.com/%zz":   {"", knowledge.AddressInsecure},
	} {
		address, why := knowledge.WatchAddress(public, "gdrive")
		assert.Equal(t, want.address, address, public)
		assert.Equal(t, want.why, why, public)
	}
}

func TestCallsOfOneWindowAreOneEvent(t *testing.T) {
	t.Parallel()
	begin := time.Unix(1_764_590_400, 0)
	first := knowledge.LogNotice("user", begin)
	assert.Equal(t, knowledge.NoticeLogChanged, first.Kind)
	assert.Equal(t, "user", first.SourceID)
	assert.Equal(t, first, knowledge.LogNotice("user", begin.Add(knowledge.LogWindow-1)))
	assert.NotEqual(t, first.EventID, knowledge.LogNotice("user", begin.Add(knowledge.LogWindow)).EventID)
	assert.NotEqual(t, first.EventID, knowledge.LogNotice("0AB", begin).EventID)
}
