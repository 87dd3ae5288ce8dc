package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
)

// Webhooks is what receives webhooks asks for. control.Control implements it.
type Webhooks interface {
	// WebhookSecret gives the secret of a source's connection, "" while there is none, and whether an event has come that bore it.
	WebhookSecret(ctx context.Context, connection, source string) (secret string, confirmed bool, err error)
	// KeepWebhookSecret keeps the token of a verification; refused while there is another and the request was not signed.
	KeepWebhookSecret(ctx context.Context, connection, secret string, signed bool) error
	// ConfirmWebhook notes that an event came that was signed with the secret that is kept.
	ConfirmWebhook(ctx context.Context, connection, secret string) error
	// TakeNotice starts what follows an event, once for an event.
	TakeNotice(ctx context.Context, connection string, n knowledge.Notice) (control.Answer, error)
	// WatchChannel finds the push channel that a call names; one that isn't there is not found.
	WatchChannel(ctx context.Context, channelID string) (knowledge.WatchChannel, error)
	// NoteCall notes that a call came that its channel's token proved, and how the source names what is watched.
	NoteCall(ctx context.Context, channelID, resourceID string) error
}

const (
	notion = "notion"
	// maxWebhook bounds a body: Notion's events have a few kilobytes.
	maxWebhook = 1 << 20
	// receptionPatience bounds an answer: Temporal gets three seconds of it.
	receptionPatience = 5 * time.Second
	// retryWebhook is when a sender may come again, in seconds.
	retryWebhook = "30"
)

// The ways in which the reception of a webhook ends, as the figures name them.
const (
	webhookStarted     = "started"
	webhookJoined      = "joined"
	webhookIgnored     = "ignored"
	webhookUnreadable  = "unreadable"
	webhookVerified    = "verification"
	webhookForged      = "forged"
	webhookTooLarge    = "too_large"
	webhookUnknown     = "unknown"
	webhookUnavailable = "unavailable"
)

// reception takes webhooks in: it verifies, reads, and starts a workflow. It keeps nothing that counts, so that any gateway takes
// any delivery.
type reception struct {
	*server
	ended                         *prometheus.CounterVec
	notionRejected, driveRejected rejections
	calls                         takenCalls
}

func newReception(s *server, registry prometheus.Registerer) *reception {
	r := &reception{server: s, ended: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "loresync_webhooks_total", Help: "Webhook deliveries by what became of them.",
	}, []string{"outcome"})}
	registry.MustRegister(r.ended)
	return r
}

func (s *reception) routes() []route {
	return []route{
		{"POST /webhooks/notion", http.HandlerFunc(s.notion)},
		{"POST /webhooks/notion/{connection}", http.HandlerFunc(s.notion)},
		{"POST /webhooks/drive", http.HandlerFunc(s.drive)},
		{"POST /webhooks/drive/{connection}", http.HandlerFunc(s.drive)},
	}
}

// delivery is one webhook on its way in.
type delivery struct {
	connection string
	body       []byte
	// secret is the one that counts; kept is set when it is the stored one and no event has borne it yet.
	secret    string
	unproved  bool
	signed    bool
	bySetting bool
}

// receipt answers a delivery from which nothing follows.
type receipt struct {
	Status string `json:"status"`
}

// notion takes one delivery of Notion's. The path may name another connection than the one that is called notion.
func (s *reception) notion(w http.ResponseWriter, r *http.Request) {
	d := delivery{connection: r.PathValue("connection")}
	if d.connection == "" {
		d.connection = notion
	}
	var err error
	if d.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxWebhook)); err != nil {
		s.unread(w, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), receptionPatience)
	defer cancel()
	r = r.WithContext(ctx)
	if err := s.findSecret(ctx, &d); err != nil {
		s.refuse(w, r, d, err)
		return
	}
	d.signed = notionSigned(r.Header.Get(signatureHeader), d.body, d.secret)
	if token, ok := notionVerification(d.body); ok {
		s.verify(w, r, d, token)
		return
	}
	if !d.signed {
		s.reject(w, r, &s.notionRejected, "the signature is missing or wrong")
		return
	}
	s.take(w, r, d)
}

func (s *reception) unread(w http.ResponseWriter, err error) {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		s.count(webhookTooLarge)
		problem(w, http.StatusRequestEntityTooLarge, "The body is too large.")
		return
	}
	s.count(webhookUnreadable)
	problem(w, http.StatusBadRequest, "The body could not be read.")
}

// findSecret looks for the secret that counts: the setting is the default connection's, and wins over what is stored.
func (s *reception) findSecret(ctx context.Context, d *delivery) error {
	if d.connection == notion && s.options.NotionWebhookSecret != "" {
		d.secret, d.bySetting = s.options.NotionWebhookSecret, true
		return nil
	}
	secret, confirmed, err := s.options.Webhooks.WebhookSecret(ctx, d.connection, notion)
	d.secret, d.unproved = secret, !confirmed
	return err
}

// verify takes the handshake of a subscription, which comes once and unsigned. The token isn't shown to anybody here: a person
// gets it from the command line, where people are known.
func (s *reception) verify(w http.ResponseWriter, r *http.Request, d delivery, token string) {
	if d.bySetting && !d.signed {
		// The setting is the token that counts, and only a repetition of it is no attempt to replace it.
		if !sameSecret(token, d.secret) {
			s.reject(w, r, &s.notionRejected, "an unsigned verification brings another token than the setting")
			return
		}
		s.verified(w)
		return
	}
	err := s.options.Webhooks.KeepWebhookSecret(r.Context(), d.connection, token, d.signed)
	if err != nil && control.KindOf(err) == control.KindRefused {
		s.reject(w, r, &s.notionRejected, "an unsigned verification, and the connection has a secret already", "connection", d.connection,
			"to_replace_it", "starter connection webhook "+d.connection+" --forget")
		return
	}
	if err != nil {
		s.refuse(w, r, d, err)
		return
	}
	s.options.Log.InfoContext(r.Context(), "a webhook verification waits for a person", "connection", d.connection,
		"to_see_the_token", "starter connection webhook "+d.connection, "setting_wins", d.bySetting)
	s.verified(w)
}

func (s *reception) verified(w http.ResponseWriter) {
	s.count(webhookVerified)
	writeJSON(w, http.StatusOK, receipt{"verification received"})
}

// take starts what follows a signed event. What makes no sense is answered like what does: Notion would send it again for ever.
func (s *reception) take(w http.ResponseWriter, r *http.Request, d delivery) {
	ctx := r.Context()
	if d.unproved && !d.bySetting {
		if err := s.options.Webhooks.ConfirmWebhook(ctx, d.connection, d.secret); err != nil {
			s.refuse(w, r, d, err)
			return
		}
	}
	notice, err := notionNotice(d.body)
	if err != nil {
		s.options.Log.WarnContext(ctx, "a signed webhook event can't be read, and is left out", "connection", d.connection,
			"event_id", notice.EventID, "event_type", notice.Type, "error", err)
		s.count(webhookUnreadable)
		writeJSON(w, http.StatusOK, receipt{"unreadable"})
		return
	}
	if notice.Kind == "" {
		s.count(webhookIgnored)
		writeJSON(w, http.StatusOK, receipt{"ignored"})
		return
	}
	answer, err := s.options.Webhooks.TakeNotice(ctx, d.connection, notice)
	s.taken(w, r, d, answer, err)
}

// taken answers a delivery whose notice is followed, or can't be now.
func (s *reception) taken(w http.ResponseWriter, r *http.Request, d delivery, answer control.Answer, err error) {
	if err != nil {
		s.refuse(w, r, d, err)
		return
	}
	status, outcome := http.StatusAccepted, webhookStarted
	if answer.Joined {
		status, outcome = http.StatusOK, webhookJoined
	}
	s.count(outcome)
	writeJSON(w, status, answer)
}

// refuse answers what can't be taken in now. The sender comes again, and finds the same event not taken yet.
func (s *reception) refuse(w http.ResponseWriter, r *http.Request, d delivery, err error) {
	if control.KindOf(err) == control.KindNotFound {
		s.count(webhookUnknown)
		problem(w, http.StatusNotFound, "There is no such connection.")
		return
	}
	s.count(webhookUnavailable)
	s.options.Log.WarnContext(r.Context(), "a webhook could not be taken in; it is delivered again", "connection", d.connection, "error", err)
	w.Header().Set("Retry-After", retryWebhook)
	problem(w, http.StatusServiceUnavailable, "It can't be taken in now: deliver it again.")
}

func (s *reception) count(outcome string) { s.ended.WithLabelValues(outcome).Inc() }
