package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
)

// givenWebhooks is a control with one connection, for what the reception makes of its answers. The reception in front of real
// servers is tested in tests.
type givenWebhooks struct {
	secret  string
	channel knowledge.WatchChannel
	noted   []string
	taken   []knowledge.Notice
	joined  bool
	err     error
	// lookErr is what looking for a channel gives.
	lookErr error
}

func (g *givenWebhooks) WebhookSecret(_ context.Context, connection, _ string) (string, bool, error) {
	if connection != "notion" && connection != "notion-hr" {
		return "", false, &control.Error{Kind: control.KindNotFound, Sentence: "there is no such connection"}
	}
	return g.secret, false, nil
}

func (g *givenWebhooks) KeepWebhookSecret(_ context.Context, _, secret string, signed bool) error {
	if g.secret != "" && g.secret != secret && !signed {
		return &control.Error{Kind: control.KindRefused, Sentence: "it has one"}
	}
	g.secret = secret
	return nil
}

func (*givenWebhooks) ConfirmWebhook(context.Context, string, string) error { return nil }

func (g *givenWebhooks) TakeNotice(_ context.Context, connection string, n knowledge.Notice) (control.Answer, error) {
	if g.err != nil {
		return control.Answer{}, g.err
	}
	g.taken = append(g.taken, n)
	return control.Answer{WorkflowID: "connection/" + connection + "/webhook/" + n.EventID, Joined: g.joined}, nil
}

func (g *givenWebhooks) WatchChannel(_ context.Context, channelID string) (knowledge.WatchChannel, error) {
	if g.lookErr != nil {
		return knowledge.WatchChannel{}, g.lookErr
	}
	if channelID == "" || channelID != g.channel.ChannelID {
		return knowledge.WatchChannel{}, &control.Error{Kind: control.KindNotFound, Sentence: "there is no such channel"}
	}
	return g.channel, nil
}

func (g *givenWebhooks) NoteCall(_ context.Context, channelID, resourceID string) error {
	g.noted = append(g.noted, channelID+" "+resourceID)
	return nil
}

const (
	eventBody     = `{"id":"` + eventUUID + `","type":"page.content_updated","entity":{"id":"` + pageUUID + `","type":"page"},"data":{}}`
	handshakeBody = `{"verification_token":"secret_of_the_test"}`
)

// desk is a reception with its figures and its log.
type desk struct {
	handler  http.Handler
	given    *givenWebhooks
	registry *prometheus.Registry
	log      *bytes.Buffer
}

func newReceptionDesk(t *testing.T, given *givenWebhooks, setting string, changes ...func(*Options)) *desk {
	t.Helper()
	d := &desk{given: given, registry: prometheus.NewRegistry(), log: &bytes.Buffer{}}
	d.handler = newHandler(t, func(o *Options) {
		o.Webhooks, o.NotionWebhookSecret, o.Registry = given, setting, d.registry
		o.Log = slog.New(slog.NewTextHandler(d.log, nil))
		for _, change := range changes {
			change(o)
		}
	})
	return d
}

func (d *desk) post(path, body, signedWith string) *httptest.ResponseRecorder {
	post := httptest.NewRequest(http.MethodPost, "https://lore.example.com"+path, strings.NewReader(body))
	post.RemoteAddr = "203.0.113.7:51234"
	if signedWith != "" {
		post.Header.Set(signatureHeader, signature(signedWith, []byte(body)))
	}
	return ask(d.handler, post)
}

// counted demands that one delivery was counted, under an outcome.
func (d *desk) counted(t *testing.T, outcome string) {
	t.Helper()
	families, err := d.registry.Gather()
	require.NoError(t, err)
	counts := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "loresync_webhooks_total" {
			continue
		}
		for _, metric := range family.GetMetric() {
			counts[metric.GetLabel()[0].GetValue()] = metric.GetCounter().GetValue()
		}
	}
	require.Equal(t, map[string]float64{outcome: 1}, counts)
}

func TestReceptionOfWebhooks(t *testing.T) {
	t.Parallel()
	const (
		here = "/webhooks/notion"
		hr   = "/webhooks/notion/notion-hr"
		none = "/webhooks/notion/none"
	)
	kept := givenWebhooks{secret: "secret_a"}
	temporalAway := &control.Error{Kind: control.KindUnreachable, Sentence: "Temporal can't be reached"}
	for name, c := range map[string]struct {
		given            givenWebhooks
		setting          string
		path, body, with string
		status           int
		outcome          string
		taken            int
	}{
		"a signed event is taken": {
			kept, "", here, eventBody, "secret_a", 202, "started", 1,
		},
		"an event that came before is taken once": {
			givenWebhooks{secret: "secret_a", joined: true}, "", here, eventBody, "secret_a", 200, "joined", 1,
		},
		"another connection has its own path and secret": {
			kept, "secret_setting", hr, eventBody, "secret_a", 202, "started", 1,
		},
		"the setting wins over what is stored": {
			kept, "secret_setting", here, eventBody, "secret_setting", 202, "started", 1,
		},
		"what is stored counts for nothing beside the setting": {
			kept, "secret_setting", here, eventBody, "secret_a", 401, "forged", 0,
		},
		"without a signature": {
			kept, "", here, eventBody, "", 401, "forged", 0,
		},
		"with a wrong signature": {
			kept, "", here, eventBody, "secret_b", 401, "forged", 0,
		},
		"before there is a secret": {
			givenWebhooks{}, "", here, eventBody, "", 401, "forged", 0,
		},
		"an unknown connection": {
			givenWebhooks{}, "", none, eventBody, "secret_a", 404, "unknown", 0,
		},
		"a signed type that nothing follows from": {
			kept, "", here, `{"id":"e","type":"view.created"}`, "secret_a", 200, "ignored", 0,
		},
		"a signed body that makes no sense": {
			kept, "", here, `{"id":`, "secret_a", 200, "unreadable", 0,
		},
		"an unsigned body that makes no sense": {
			kept, "", here, `{"id":`, "", 401, "forged", 0,
		},
		"a body without end": {
			kept, "", here, strings.Repeat("x", maxWebhook+1), "secret_a", 413, "too_large", 0,
		},
		"a megabyte": {
			kept, "", here, strings.Repeat(" ", maxWebhook-len(eventBody)) + eventBody, "secret_a", 202, "started", 1,
		},
		"Temporal is away": {
			givenWebhooks{secret: "secret_a", err: temporalAway}, "", here, eventBody, "secret_a", 503, "unavailable", 0,
		},
		"something is wrong here": {
			givenWebhooks{secret: "secret_a", err: errors.New("a bug")}, "", here, eventBody, "secret_a", 503, "unavailable", 0,
		},
		"the first verification is kept": {
			givenWebhooks{}, "", here, handshakeBody, "", 200, "verification", 0,
		},
		"the same verification again": {
			givenWebhooks{secret: "secret_of_the_test"}, "", here, handshakeBody, "", 200, "verification", 0,
		},
		"another verification, unsigned": {
			kept, "", here, handshakeBody, "", 401, "forged", 0,
		},
		"another verification, signed with the kept one": {
			kept, "", here, handshakeBody, "secret_a", 200, "verification", 0,
		},
		"another verification, signed with itself": {
			kept, "", here, handshakeBody, "secret_of_the_test", 401, "forged", 0,
		},
		"a verification beside the setting": {
			givenWebhooks{}, "secret_setting", here, handshakeBody, "", 401, "forged", 0,
		},
		"a verification that says the setting": {
			givenWebhooks{}, "secret_of_the_test", here, handshakeBody, "", 200, "verification", 0,
		},
		"a verification for an unknown connection": {
			givenWebhooks{}, "", none, handshakeBody, "", 404, "unknown", 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newReceptionDesk(t, &c.given, c.setting)
			answer := d.post(c.path, c.body, c.with)
			assert.Equal(t, c.status, answer.Code, answer.Body)
			d.counted(t, c.outcome)
			assert.Len(t, c.given.taken, c.taken)
			if c.status >= 400 {
				assert.Equal(t, "application/problem+json", answer.Header().Get("Content-Type"))
			}
			assert.Equal(t, c.status == http.StatusServiceUnavailable, answer.Header().Get("Retry-After") != "")
			assert.True(t, json.Valid(answer.Body.Bytes()))
			for _, said := range []string{answer.Body.String(), d.log.String()} {
				assert.NotContains(t, said, "secret_", "no secret in answers and logs")
			}
		})
	}
}

func TestAPersonIsToldOfAVerification(t *testing.T) {
	t.Parallel()
	d := newReceptionDesk(t, &givenWebhooks{}, "")
	require.Equal(t, 200, d.post("/webhooks/notion/notion-hr", handshakeBody, "").Code)
	assert.Contains(t, d.log.String(), "starter connection webhook notion-hr")
	assert.Equal(t, "secret_of_the_test", d.given.secret)
	d.log.Reset()
	require.Equal(t, 401, d.post("/webhooks/notion/notion-hr", `{"verification_token":"secret_forged"}`, "").Code)
	assert.Contains(t, d.log.String(), "--forget")
	assert.Equal(t, "secret_of_the_test", d.given.secret)
}

func TestRejectedDeliveriesAreLoggedOnceAMinute(t *testing.T) {
	t.Parallel()
	now := noon
	d := newReceptionDesk(t, &givenWebhooks{secret: "secret_a"}, "", func(o *Options) { o.Now = func() time.Time { return now } })
	knock := func(path string) {
		require.Equal(t, 401, d.post(path, eventBody, "").Code)
	}
	for range 50 {
		knock("/webhooks/notion")
	}
	assert.Equal(t, 1, strings.Count(d.log.String(), "level=WARN"))
	assert.Contains(t, d.log.String(), "from=203.0.113.7")
	knock("/webhooks/drive")
	assert.Equal(t, 2, strings.Count(d.log.String(), "level=WARN"), "noise of one source hides nothing of another")
	d.log.Reset()
	now = now.Add(rejectionPause)
	knock("/webhooks/notion")
	assert.Contains(t, d.log.String(), "left_out_before=49")
}

func TestAnUnreadableEventIsLoggedWithItsID(t *testing.T) {
	t.Parallel()
	d := newReceptionDesk(t, &givenWebhooks{secret: "secret_a"}, "")
	require.Equal(t, 200, d.post("/webhooks/notion", `{"id":"the-event","type":"page.created","text":"`+"salaries"+`"}`, "secret_a").Code)
	assert.Contains(t, d.log.String(), "event_id=the-event")
	assert.NotContains(t, d.log.String(), "salaries")
}

func TestOtherMethodsFindNoWebhook(t *testing.T) {
	t.Parallel()
	d := newReceptionDesk(t, &givenWebhooks{secret: "secret_a"}, "")
	for method, want := range map[string]int{http.MethodGet: 404, http.MethodPut: 405} {
		request := fromAfar("/webhooks/notion")
		request.Method = method
		assert.Equal(t, want, ask(d.handler, request).Code)
	}
	assert.Equal(t, 405, d.post("/webhooks/notion/a/b", eventBody, "secret_a").Code)
	assert.Equal(t, 405, ask(newHandler(t, nil), httptest.NewRequest(http.MethodPost, "/webhooks/notion", http.NoBody)).Code, "nobody receives them")
}
