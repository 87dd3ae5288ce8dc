package drivetest

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// How long a channel for changes lives: an hour unless asked otherwise, and a week at most.
const (
	usualLife = time.Hour
	mostLife  = 7 * 24 * time.Hour
)

// channelBody is what a client sends to open a channel or to stop it.
type channelBody struct {
	ID         string `json:"id"`
	Type       string `json:"type"`
	Address    string `json:"address"`
	Token      string `json:"token"`
	Expiration int64  `json:"expiration,string"`
	ResourceID string `json:"resourceId"` //nolint:tagliatelle // Drive's word
}

func (c *call) channelBody() (channelBody, error) {
	var body channelBody
	raw, err := io.ReadAll(io.LimitReader(c.r.Body, 64<<10))
	if err != nil || json.Unmarshal(raw, &body) != nil {
		return body, &apiError{status: http.StatusBadRequest, reason: "parseError", message: "Parse Error"}
	}
	return body, nil
}

// watchChanges answers changes.watch. Addresses may be of http, which Drive refuses: nothing here leaves the machine.
func (c *call) watchChanges() (answer, error) {
	m, err := c.mask()
	if err != nil {
		return answer{}, err
	}
	l, err := c.readLog()
	if err != nil {
		return answer{}, err
	}
	if _, err := c.readPosition(l); err != nil {
		return answer{}, err
	}
	body, err := c.channelBody()
	if err != nil {
		return answer{}, err
	}
	if err := body.check(); err != nil {
		return answer{}, err
	}
	ch := c.newChannel(body, l)
	if !ch.Expiration.After(c.s.clock.Now()) {
		return answer{}, invalid("Invalid value for: expiration has passed")
	}
	if !c.s.channels.add(ch) {
		return answer{}, &apiError{
			status: http.StatusBadRequest, reason: string(ChannelIDNotUnique), message: "Channel id " + body.ID + " not unique",
		}
	}
	o := Object{
		"kind": "api#channel", "id": ch.ID, "resourceId": ch.ResourceID, "resourceUri": ch.uri,
		"expiration": strconv.FormatInt(ch.Expiration.UnixMilli(), 10),
	}
	if ch.token != "" {
		o["token"] = ch.token
	}
	return m.object(o), nil
}

func (b channelBody) check() error {
	address, err := url.Parse(b.Address)
	switch {
	case b.ID == "" || len(b.ID) > 64:
		return invalid("Invalid value for: channel id")
	case b.Type != "web_hook":
		return &apiError{status: http.StatusBadRequest, reason: "push.channelTypeUnsupported", message: "Unknown channel type: " + b.Type}
	case err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https":
		return &apiError{status: http.StatusUnauthorized, reason: "push.webhookUrlUnauthorized", message: "Unauthorized WebHook callback channel: " + b.Address}
	case len(b.Token) > 256:
		return invalid("Channel token must be no longer than 256 characters")
	}
	return nil
}

func (c *call) newChannel(body channelBody, l changesOf) *channel {
	now := c.s.clock.Now()
	until := time.UnixMilli(body.Expiration)
	if body.Expiration == 0 {
		until = now.Add(usualLife)
	}
	if most := now.Add(mostLife); until.After(most) {
		until = most
	}
	values := url.Values{"alt": {"json"}, "pageToken": {c.query().Get("pageToken")}}
	if l.drive != "" {
		values.Set("driveId", l.drive)
	}
	return &channel{
		Channel: Channel{
			ID: body.ID, ResourceID: idOf(c.s.options.Seed, "resource/"+c.email+l.drive, "", 27), Address: body.Address,
			User: c.email, Drive: l.drive, Expiration: until.UTC().Truncate(time.Millisecond),
		},
		c: c.s.channels, log: l, uri: c.s.Endpoint() + "changes?" + values.Encode(), token: body.Token, position: len(c.s.changes),
		pokes: make(chan struct{}, 1), unasked: make(chan struct{}, 1),
	}
}

// add opens a channel, unless its id was used before.
func (c *channels) add(ch *channel) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.used[ch.ID] {
		return false
	}
	c.used[ch.ID] = true
	ctx, stop := context.WithCancel(context.Background())
	ch.stop = stop
	c.open = append(c.open, ch)
	go ch.run(ctx)
	return true
}

// stopChannel answers channels.stop.
func (c *call) stopChannel() (answer, error) {
	body, err := c.channelBody()
	if err != nil {
		return answer{}, err
	}
	if !c.s.channels.remove(body.ID, body.ResourceID, c.email) {
		return answer{}, &apiError{
			status: http.StatusNotFound, reason: string(NotFound), message: "Channel '" + body.ID + "' not found for project 'stand-in'",
		}
	}
	return answer{empty: true}, nil
}
