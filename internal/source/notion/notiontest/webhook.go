package notiontest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// maxAttempts is how often an event is sent before it is given up.
const maxAttempts = 8

// WebhookOptions say how events are delivered.
type WebhookOptions struct {
	// Delay is how long changes are collected before the event about them is sent, by the machine's clock; at once when zero.
	Delay time.Duration
	// Backoff is how long to wait before an attempt, from the second on; doubling from a second when nil.
	Backoff func(attempt int) time.Duration
	// Version is the API version that the subscriptions speak; the newest when empty.
	Version string
}

// hooks are the subscriptions of a server.
type hooks struct {
	w    *Workspace
	http *http.Client

	mu            sync.Mutex
	options       WebhookOptions
	made          int
	subscriptions []*Subscription
}

func newHooks(w *Workspace) *hooks {
	return &hooks{w: w, http: &http.Client{Timeout: 10 * time.Second}}
}

// SetWebhooks changes how events are delivered from now on.
func (s *Server) SetWebhooks(o WebhookOptions) {
	s.hooks.mu.Lock()
	defer s.hooks.mu.Unlock()
	s.hooks.options = o
}

// Subscribe sends a verification token to a URL, as the handshake does, and then an event for every change, signed with it. It
// errs when the handshake isn't answered with 2xx. The subscription lasts until it or the server is closed.
func (s *Server) Subscribe(ctx context.Context, url, secret string) (*Subscription, error) {
	h := s.hooks
	body, err := json.Marshal(Object{"verification_token": secret})
	if err != nil {
		return nil, fmt.Errorf("write the verification: %w", err)
	}
	sub := &Subscription{hooks: h, url: url, secret: secret, changed: make(chan struct{})}
	status, err := sub.post(ctx, body, false)
	if err != nil {
		return nil, fmt.Errorf("verify the subscription: %w", err)
	}
	if status/100 != 2 {
		return nil, fmt.Errorf("verify the subscription: the subscriber answered %d", status)
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	sub.stop = stop
	h.mu.Lock()
	h.made++
	sub.id = uuidOf(h.w.seed, fmt.Sprintf("subscription/%d", h.made))
	h.subscriptions = append(h.subscriptions, sub)
	h.mu.Unlock()
	go sub.run(running)
	return sub, nil
}

// take hands a change to all subscriptions. It runs under the workspace's lock and doesn't wait for anything.
func (h *hooks) take(c change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !spoken(c, h.options.Version) {
		return
	}
	for _, sub := range h.subscriptions {
		h.made++
		sub.add(c, uuidOf(h.w.seed, fmt.Sprintf("event/%d", h.made)), time.Now().Add(h.options.Delay))
	}
}

// spoken is whether a version has events of a type: before 2025-09-03 there are no data sources, and since then what changes
// inside a database is told of them.
func spoken(c change, version string) bool {
	if version == v2022.String() {
		return c.entity != "data_source"
	}
	return c.typ != "database.content_updated" && c.typ != "database.schema_updated"
}

func (h *hooks) backoff(attempt int) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.options.Backoff != nil {
		return h.options.Backoff(attempt)
	}
	return time.Second << min(attempt-2, 10)
}

func (h *hooks) version() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return withDefault(h.options.Version, v2026.String())
}

func (h *hooks) close() {
	h.mu.Lock()
	subscriptions := h.subscriptions
	h.subscriptions = nil
	h.mu.Unlock()
	for _, sub := range subscriptions {
		sub.stop()
	}
}

// body is what an event looks like on the wire.
func (s *Subscription) body(e *event) ([]byte, error) {
	w := s.hooks.w
	data := Object{"parent": e.parent}
	if e.field != "" {
		data[e.field] = e.refs
	}
	if e.page != "" {
		data["page_id"] = e.page
	}
	return json.Marshal(Object{
		"id": e.eventID, "timestamp": e.at.Format("2006-01-02T15:04:05.000Z"), "workspace_id": w.id, "workspace_name": w.name,
		"subscription_id": s.id, "integration_id": w.bot, "authors": []any{e.author}, "attempt_number": e.attempt,
		"api_version": s.hooks.version(), "type": e.typ, "entity": Object{"id": e.id, "type": e.entity}, "data": data,
	})
}

// post sends a body and gives the status that it was answered with.
func (s *Subscription) post(ctx context.Context, body []byte, signed bool) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	if signed {
		r.Header.Set("X-Notion-Signature", Sign(s.secret, body))
	}
	answer, err := s.hooks.http.Do(r)
	if err != nil {
		return 0, err
	}
	if err := answer.Body.Close(); err != nil {
		return 0, err
	}
	return answer.StatusCode, nil
}

// Sign gives the signature of a body, in the form of the header X-Notion-Signature.
func Sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}
