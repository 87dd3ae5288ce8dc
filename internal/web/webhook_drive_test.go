package web

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
)

const (
	channelUUID = "0b1a3c5e-7f90-4a1b-8c2d-3e4f5a6b7c8d"
	goodToken   = "secret_of_the_channel"
)

func openChannel() knowledge.WatchChannel {
	hash := sha256.Sum256([]byte(goodToken))
	return knowledge.WatchChannel{
		ChannelID: channelUUID, Connection: "gdrive", Source: "gdrive", Log: "user", TokenHash: hash[:], ResourceID: "res", Now: noon,
	}
}

// calls makes a call, with headers by their short names.
func (d *desk) calls(path, body string, headers map[string]string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodPost, "https://lore.example.com"+path, strings.NewReader(body))
	request.RemoteAddr = "203.0.113.7:51234"
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	return ask(d.handler, request)
}

func headers(state string, changed ...string) map[string]string {
	all := map[string]string{
		channelHeader: channelUUID, tokenHeader: goodToken, resourceHeader: "res", stateHeader: state, "X-Goog-Message-Number": "7",
	}
	for i := 0; i < len(changed); i += 2 {
		all[changed[i]] = changed[i+1]
	}
	return all
}

func TestReceptionOfCalls(t *testing.T) {
	t.Parallel()
	const here = "/webhooks/drive"
	open, expired, unnamed := openChannel(), openChannel(), openChannel()
	expired.Expired = true
	unnamed.ResourceID = ""
	away := &control.Error{Kind: control.KindUnreachable, Sentence: "it can't be reached"}
	for name, c := range map[string]struct {
		given      givenWebhooks
		path, body string
		headers    map[string]string
		status     int
		outcome    string
		taken      int
	}{
		"a change":                     {givenWebhooks{channel: open}, here, "", headers("change"), 202, "started", 1},
		"one that meets another":       {givenWebhooks{channel: open, joined: true}, here, "", headers("change"), 200, "joined", 1},
		"with its connection":          {givenWebhooks{channel: open}, here + "/gdrive", "", headers("change"), 202, "started", 1},
		"the first call":               {givenWebhooks{channel: open}, here, "", headers("sync"), 200, "verification", 0},
		"the first call, quickly":      {givenWebhooks{channel: unnamed}, here, "", headers("sync"), 200, "verification", 0},
		"another state":                {givenWebhooks{channel: open}, here, "", headers("exists"), 200, "ignored", 0},
		"no state":                     {givenWebhooks{channel: open}, here, "", headers(""), 200, "ignored", 0},
		"a small body isn't looked at": {givenWebhooks{channel: open}, here, "{", headers("change"), 202, "started", 1},
		"a large body":                 {givenWebhooks{channel: open}, here, strings.Repeat("x", maxCall+1), headers("change"), 413, "too_large", 0},
		"a wrong token":                {givenWebhooks{channel: open}, here, "", headers("change", tokenHeader, "secret_of_others"), 401, "forged", 0},
		"no token":                     {givenWebhooks{channel: open}, here, "", headers("change", tokenHeader, ""), 401, "forged", 0},
		"a token without end": {
			givenWebhooks{channel: open}, here, "", headers("change", tokenHeader, strings.Repeat("secret_", 100)), 401, "forged", 0,
		},
		"another resource":         {givenWebhooks{channel: open}, here, "", headers("change", resourceHeader, "other"), 401, "forged", 0},
		"an unknown channel":       {givenWebhooks{channel: open}, here, "", headers("change", channelHeader, eventUUID), 401, "forged", 0},
		"no headers at all":        {givenWebhooks{channel: open}, here, "", nil, 401, "forged", 0},
		"another connection":       {givenWebhooks{channel: open}, here + "/gdrive-2", "", headers("change"), 401, "forged", 0},
		"a channel that has ended": {givenWebhooks{channel: expired}, here, "", headers("change"), 401, "forged", 0},
		"something is away":        {givenWebhooks{channel: open, err: away}, here, "", headers("change"), 503, "unavailable", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newReceptionDesk(t, &c.given, "")
			answer := d.calls(c.path, c.body, c.headers)
			assert.Equal(t, c.status, answer.Code, answer.Body)
			d.counted(t, c.outcome)
			assert.Len(t, c.given.taken, c.taken)
			assert.Equal(t, c.status == http.StatusServiceUnavailable, answer.Header().Get("Retry-After") != "")
			assert.True(t, json.Valid(answer.Body.Bytes()))
			assert.Equal(t, c.status == 401, strings.Contains(d.log.String(), "a webhook was rejected"))
			for _, said := range []string{answer.Body.String(), d.log.String()} {
				assert.NotContains(t, said, "secret_", "no token in answers and logs")
			}
			assert.Equal(t, c.status/100 == 2 || c.given.err != nil, len(c.given.noted) == 1)
		})
	}
}

func TestCallsOfAWindowAreOneEvent(t *testing.T) {
	t.Parallel()
	given := &givenWebhooks{channel: openChannel()}
	d := newReceptionDesk(t, given, "")
	for i, want := range []int{202, 200, 200, 202} {
		given.channel.Now = noon.Add([]time.Duration{0, 1, 999 * time.Millisecond, time.Second}[i])
		assert.Equal(t, want, d.calls("/webhooks/drive", "", headers("change")).Code)
	}
	require.Len(t, given.taken, 2)
	assert.Len(t, given.noted, 2, "a window of calls is noted once")
	assert.NotEqual(t, given.taken[0].EventID, given.taken[1].EventID)
	for _, notice := range given.taken {
		assert.Equal(t, knowledge.NoticeLogChanged, notice.Kind)
		assert.Equal(t, "user", notice.SourceID)
	}
	given.channel.ChannelID = eventUUID
	require.Equal(t, 200, d.calls("/webhooks/drive", "", headers("change", channelHeader, eventUUID)).Code)
	assert.Len(t, given.noted, 3, "each channel for itself: that it is heard is what tells that it works")
	given.err = errors.New("away")
	given.channel.Now = noon.Add(4 * time.Second)
	require.Equal(t, 503, d.calls("/webhooks/drive", "", headers("change", channelHeader, eventUUID)).Code)
	given.err = nil
	require.Equal(t, 202, d.calls("/webhooks/drive", "", headers("change", channelHeader, eventUUID)).Code, "what failed isn't remembered")
	assert.Len(t, given.noted, 4)
}
