package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/document"
	"github.com/loresync/loresync/internal/knowledge"
)

const (
	eventsType = "text/event-stream"
	// lookPause is how often a run is looked at: its listener knows of a change within a second.
	lookPause = 400 * time.Millisecond
	// admitPause is how often it is asked whether the listener may still listen.
	admitPause = 2 * time.Second
	// beatPause is how long nothing is said at most: proxies cut what is silent for longer, mostly a minute.
	beatPause = 15 * time.Second
	// eventPatience is how long a listener may take to take an event in.
	eventPatience = 10 * time.Second
	// againPause is when a listener that was cut comes again, in milliseconds.
	againPause = 2000
)

// listener is one answer that goes on.
type listener struct {
	w       http.ResponseWriter
	control *http.ResponseController
	last    []byte
	spokeAt time.Time
}

// followRun tells how a run goes until it has ended, the gateway stops, or the listener goes or may listen no more. Each event
// holds the whole state, so a listener that was cut and comes again has missed nothing, whichever event it names as its last.
func (a *API) followRun(c *call, w http.ResponseWriter) error {
	run, err := a.run(c)
	if err != nil {
		return err
	}
	state, err := a.options.Control.RunState(c.r.Context(), run.WorkflowID)
	if err != nil {
		return err
	}
	l := &listener{w: w, control: http.NewResponseController(w)}
	if l.begin() == nil && c.r.Method != http.MethodHead {
		a.follow(c, l, state)
	}
	return nil
}

// follow ends in silence when something can't be asked for a moment too: the listener comes again.
func (a *API) follow(c *call, l *listener, state control.RunState) {
	tick := time.NewTicker(lookPause)
	defer tick.Stop()
	admittedAt := time.Now()
	for {
		if ended, err := l.tell(state); ended || err != nil {
			return
		}
		select {
		case <-c.r.Context().Done():
			return
		case <-a.options.Stopping:
			return
		case now := <-tick.C:
			if now.Sub(admittedAt) >= admitPause {
				if admitted, err := a.options.Door.Again(c.r.Context(), c.who); err != nil || !admitted {
					return
				}
				admittedAt = now
			}
		}
		var err error
		if state, err = a.options.Control.RunState(c.r.Context(), state.WorkflowID); err != nil {
			return
		}
	}
}

// begin answers the head.
func (l *listener) begin() error {
	header := l.w.Header()
	header.Set("Content-Type", eventsType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // nginx would collect events
	return l.say(fmt.Appendf(nil, "retry: %d\n\n", againPause))
}

// tell says the state when it has changed, and that it is the last; else a beat now and then.
func (l *listener) tell(state control.RunState) (ended bool, err error) {
	name := "state"
	if state.Status != knowledge.RunRunning {
		name, ended = "ended", true
	}
	data, err := json.Marshal(document.Normal(state))
	switch {
	case err != nil:
		return ended, err
	case ended, !bytes.Equal(data, l.last):
		l.last = data
		return ended, l.say(fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, data))
	case time.Since(l.spokeAt) >= beatPause:
		return false, l.say([]byte(": still here\n\n"))
	}
	return false, nil
}

// say writes and flushes; a listener that doesn't take it in is cut. The gateway's time for a whole answer doesn't hold for this
// one: each event has a time of its own.
func (l *listener) say(event []byte) error {
	l.spokeAt = time.Now()
	if err := l.control.SetWriteDeadline(l.spokeAt.Add(eventPatience)); err != nil {
		return err
	}
	if _, err := l.w.Write(event); err != nil {
		return err
	}
	return l.control.Flush()
}
