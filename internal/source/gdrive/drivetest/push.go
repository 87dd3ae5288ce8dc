package drivetest

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// maxAttempts is how often a notification is sent before it is given up.
const maxAttempts = 5

// channel is an open channel: it looks at the log whenever something changes, and tells its address that it should, too.
type channel struct {
	Channel
	c        *channels
	log      changesOf
	uri      string
	token    string
	number   int64
	pokes    chan struct{}
	unasked  chan struct{}
	stop     context.CancelFunc
	position int
}

// poke makes the channel look; it doesn't wait. Pokes that come before it looked are one.
func (ch *channel) poke(unasked bool) {
	to := ch.pokes
	if unasked {
		to = ch.unasked
	}
	select {
	case to <- struct{}{}:
	default:
	}
}

// run delivers until the channel is stopped or has expired.
func (ch *channel) run(ctx context.Context) {
	ch.deliver(ctx, "sync")
	for {
		select {
		case <-ctx.Done():
			return
		case <-ch.unasked:
			ch.deliver(ctx, "change")
		case <-ch.pokes:
			if ch.news() {
				ch.deliver(ctx, "change")
			}
		}
	}
}

// news is whether the log has grown since the channel looked last.
func (ch *channel) news() bool {
	s := ch.c.s
	s.mu.RLock()
	defer s.mu.RUnlock()
	found := slices.ContainsFunc(s.changes[ch.position:], func(e entry) bool {
		_, ok := ch.log.show(s.viewOf(ch.User), e)
		return ok
	})
	ch.position = len(s.changes)
	return found
}

// deliver sends one notification, as often as the options say, unless the channel has expired.
func (ch *channel) deliver(ctx context.Context, state string) {
	if !ch.c.s.clock.Now().Before(ch.Expiration) {
		return
	}
	ch.number++
	ch.c.mu.Lock()
	o := ch.c.options
	ch.c.mu.Unlock()
	d := Delivery{ChannelID: ch.ID, State: state, Number: ch.number}
	for range max(1, o.Copies) {
		if o.Drop == nil || !o.Drop(d) {
			ch.attempt(ctx, d, o)
		}
	}
}

// attempt sends a notification until it is taken, refused for good or given up.
func (ch *channel) attempt(ctx context.Context, d Delivery, o PushOptions) {
	for d.Attempt = 1; d.Attempt <= maxAttempts; d.Attempt++ {
		if d.Attempt > 1 && !pause(ctx, o.wait(d.Attempt)) {
			return
		}
		d.Status = ch.post(ctx, d)
		if ctx.Err() != nil {
			return
		}
		ch.c.note(d)
		switch d.Status {
		case 0, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		default:
			return
		}
	}
}

func (o PushOptions) wait(attempt int) time.Duration {
	if o.Backoff != nil {
		return o.Backoff(attempt)
	}
	return time.Second << (attempt - 2)
}

// pause waits; false when the channel ended meanwhile.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// post sends a notification and gives the status that it was answered with.
func (ch *channel) post(ctx context.Context, d Delivery) int {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, ch.Address, http.NoBody)
	if err != nil {
		return 0
	}
	for name, value := range map[string]string{
		"X-Goog-Channel-ID": ch.ID, "X-Goog-Channel-Token": ch.token, "X-Goog-Channel-Expiration": ch.Expiration.Format(http.TimeFormat),
		"X-Goog-Resource-ID": ch.ResourceID, "X-Goog-Resource-URI": ch.uri, "X-Goog-Resource-State": d.State,
		"X-Goog-Message-Number": strconv.FormatInt(d.Number, 10), "User-Agent": "APIs-Google; (+https://developers.google.com/webmasters/APIs-Google.html)",
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	got, err := ch.c.http.Do(r)
	if err != nil {
		return 0
	}
	_ = got.Body.Close()
	return got.StatusCode
}
