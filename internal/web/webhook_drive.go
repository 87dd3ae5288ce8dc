package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"io"
	"net/http"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
)

// The headers of a call. There is no signature: the token proves it.
const (
	channelHeader  = "X-Goog-Channel-Id"
	tokenHeader    = "X-Goog-Channel-Token" //nolint:gosec // the name of a header
	resourceHeader = "X-Goog-Resource-Id"
	stateHeader    = "X-Goog-Resource-State"
)

// The states of a call that something follows from: the first call of a channel, and something new in its log.
const (
	stateSync   = "sync"
	stateChange = "change"
)

const (
	// maxCall bounds the body of a call, which has none. It is not looked at.
	maxCall = 4 << 10
	// maxCallToken and maxResource bound what is taken from the headers.
	maxCallToken = 256
	maxResource  = 512
)

// takenCalls remember what was done for the last window of calls: a burst costs a query for each call, and one write and one
// request to Temporal for all of them. Another gateway's burst meets there.
type takenCalls struct {
	group singleflight.Group
	last  sync.Map // takenCall by connection and log, which only believed calls name
	noted sync.Map // event by channel
}

type takenCall struct {
	event  string
	answer control.Answer
}

// call is one call of Drive's on its way in.
type call struct {
	channelID, token, resource, state string
	// connection is the one that the path names; empty when it names none.
	connection string
}

// drive takes one call of a push channel. Numbers of calls are not looked at: they come twice, late and out of order, and each
// means the same.
func (s *reception) drive(w http.ResponseWriter, r *http.Request) {
	c := call{
		channelID: r.Header.Get(channelHeader), token: r.Header.Get(tokenHeader), resource: r.Header.Get(resourceHeader), state: r.Header.Get(stateHeader),
		connection: r.PathValue("connection"),
	}
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxCall)); err != nil {
		s.unread(w, err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), receptionPatience)
	defer cancel()
	r = r.WithContext(ctx)
	channel, err := s.options.Webhooks.WatchChannel(ctx, c.channelID)
	if err != nil && control.KindOf(err) != control.KindNotFound {
		s.refuse(w, r, delivery{connection: cut(c.connection)}, err)
		return
	}
	if why := c.doubt(channel); why != "" {
		s.reject(w, r, &s.driveRejected, why)
		return
	}
	s.takeCall(w, r, c, channel)
}

// doubt says why a call isn't believed, "" when it is. A channel that was replaced or stopped is believed until its end: its calls
// may be under way. Until the source has told how it names what is watched, any name will do: the token is what proves.
func (c call) doubt(channel knowledge.WatchChannel) string {
	if len(c.token) > maxCallToken || len(c.resource) > maxResource {
		return "a header is too long"
	}
	given := sha256.Sum256([]byte(c.token))
	proved := subtle.ConstantTimeCompare(given[:], channel.TokenHash) == 1
	switch {
	case channel.ChannelID == "":
		return "the channel is unknown"
	case !proved:
		return "the token is wrong"
	case channel.ResourceID != "" && channel.ResourceID != c.resource:
		return "the channel watches something else"
	case c.connection != "" && c.connection != channel.Connection:
		return "the channel is another connection's"
	case channel.Expired:
		return "the channel has ended"
	}
	return ""
}

// takeCall starts what follows a call. Notes come first: the first call tells how the source names what is watched.
func (s *reception) takeCall(w http.ResponseWriter, r *http.Request, c call, channel knowledge.WatchChannel) {
	d := delivery{connection: channel.Connection}
	if err := s.noteOnce(r.Context(), c, channel); err != nil {
		s.refuse(w, r, d, err)
		return
	}
	switch c.state {
	case stateSync:
		s.verified(w)
	case stateChange:
		answer, err := s.takeOnce(r.Context(), channel)
		s.taken(w, r, d, answer, err)
	default:
		s.count(webhookIgnored)
		writeJSON(w, http.StatusOK, receipt{"ignored"})
	}
}

// noteOnce notes that a channel was heard, once in a window. Two hundred calls at once would wait for the same row, each for the
// one before it.
func (s *reception) noteOnce(ctx context.Context, c call, channel knowledge.WatchChannel) error {
	event := knowledge.LogNotice(channel.Log, channel.Now).EventID
	if last, ok := s.calls.noted.Load(channel.ChannelID); ok && last == event {
		return nil
	}
	_, err, _ := s.calls.group.Do("note/"+channel.ChannelID+"/"+event, func() (any, error) {
		err := s.options.Webhooks.NoteCall(context.WithoutCancel(ctx), channel.ChannelID, c.resource)
		if err == nil {
			s.calls.noted.Store(channel.ChannelID, event)
		}
		return nil, err
	})
	return err
}

// takeOnce starts what follows the calls of a window, or joins what does already.
func (s *reception) takeOnce(ctx context.Context, channel knowledge.WatchChannel) (control.Answer, error) {
	notice := knowledge.LogNotice(channel.Log, channel.Now)
	log := channel.Connection + "/" + channel.Log
	if last, ok := s.calls.last.Load(log); ok {
		if known, _ := last.(takenCall); known.event == notice.EventID {
			return known.answer, nil
		}
	}
	first := false
	result, err, _ := s.calls.group.Do("take/"+channel.Connection+"/"+notice.EventID, func() (any, error) {
		first = true
		// The others wait for the answer too, so that the first one's leaving doesn't end it.
		answer, err := s.options.Webhooks.TakeNotice(context.WithoutCancel(ctx), channel.Connection, notice)
		if err == nil {
			joined := answer
			joined.Joined = true
			s.calls.last.Store(log, takenCall{event: notice.EventID, answer: joined})
		}
		return answer, err
	})
	answer, _ := result.(control.Answer)
	answer.Joined = answer.Joined || !first
	return answer, err
}
