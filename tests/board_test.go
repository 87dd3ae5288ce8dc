package tests

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source"
)

// board is a vendor with change logs and push channels: notes that hang in logs, behind a real server that really calls back.
type board struct {
	t      *testing.T
	server *httptest.Server

	mu       sync.Mutex
	notes    map[string]note
	logs     map[string][]string
	channels map[string]*boardChannel
	// opened and stopped are channels in the order in which that happened.
	opened, stopped []string
	life            time.Duration
	broken          bool
	// gate holds listings of changes while it is set.
	gate     chan struct{}
	listings int
}

type note struct {
	Log     string `json:"log"`
	Text    string `json:"text"`
	Version int    `json:"version"`
}

// boardChannel is a channel as the vendor and its client speak of it.
type boardChannel struct {
	ID       string `json:"id"`
	Log      string `json:"log"`
	Address  string `json:"address"`
	Token    string `json:"token"`
	Resource string `json:"resource"`
	// Ends is when the vendor closes it by itself, in milliseconds.
	Ends   int64 `json:"ends"`
	number int
}

func newBoard(t *testing.T) *board {
	t.Helper()
	b := &board{t: t, notes: map[string]note{}, logs: map[string][]string{}, channels: map[string]*boardChannel{}, life: 24 * time.Hour}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /list", func(w http.ResponseWriter, r *http.Request) { b.state(w, r, true) })
	mux.HandleFunc("GET /read", func(w http.ResponseWriter, r *http.Request) { b.state(w, r, false) })
	mux.HandleFunc("POST /watch", b.watch)
	mux.HandleFunc("POST /stop", b.stop)
	b.server = httptest.NewServer(mux)
	t.Cleanup(b.server.Close)
	return b
}

// put writes a note, and calls back as the vendor does.
func (b *board) put(log, id, text string) {
	b.t.Helper()
	b.write(log, id, text)
	b.notify(log)
}

func (b *board) write(log, id, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.notes[id] = note{Log: log, Text: text, Version: b.notes[id].Version + 1}
	b.logs[log] = append(b.logs[log], id)
}

// notify calls the channels of a log. Nobody waits for the answers.
func (b *board) notify(log string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, channel := range b.channels {
		if channel.Log == log {
			channel.number++
			go b.call(*channel, "change", channel.number)
		}
	}
}

// call makes one call of a channel, and gives the status of the answer; 0 without one.
func (b *board) call(channel boardChannel, state string, number int) int {
	response, err := b.send(channel, state, number)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

func (*board) send(channel boardChannel, state string, number int) (*http.Response, error) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, channel.Address, http.NoBody)
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"X-Goog-Channel-ID": channel.ID, "X-Goog-Channel-Token": channel.Token, "X-Goog-Resource-ID": channel.Resource,
		"X-Goog-Resource-State": state, "X-Goog-Message-Number": strconv.Itoa(number),
	} {
		request.Header.Set(name, value)
	}
	return http.DefaultClient.Do(request)
}

func (b *board) watch(w http.ResponseWriter, r *http.Request) {
	var channel boardChannel
	if json.NewDecoder(r.Body).Decode(&channel) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	channel.Resource, channel.Ends, channel.number = "resource of "+channel.Log, time.Now().Add(b.life).UnixMilli(), 1
	b.channels[channel.ID] = &channel
	b.opened = append(b.opened, channel.ID)
	answer, err := json.Marshal(channel)
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	go b.call(channel, "sync", 1) //nolint:contextcheck // it isn't part of the answer, and may well come before it
	_, _ = w.Write(answer)
}

func (b *board) stop(w http.ResponseWriter, r *http.Request) {
	var channel boardChannel
	if json.NewDecoder(r.Body).Decode(&channel) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if known := b.channels[channel.ID]; known != nil && known.Resource == channel.Resource {
		delete(b.channels, channel.ID)
		b.stopped = append(b.stopped, channel.ID)
	}
}

// state answers with everything there is; a listing waits at the gate.
func (b *board) state(w http.ResponseWriter, r *http.Request, listing bool) {
	b.mu.Lock()
	var gate chan struct{}
	if listing {
		gate = b.gate
		b.listings++
	}
	document, err := json.Marshal(map[string]any{"notes": b.notes, "logs": b.logs})
	b.mu.Unlock()
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if gate != nil {
		select { // what was read before the gate is answered after it, as it was
		case <-gate:
		case <-r.Context().Done():
		}
	}
	_, _ = w.Write(document)
}

// hold keeps listings that begin from now on until the returned function is called.
func (b *board) hold() (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	gate := make(chan struct{})
	b.gate = gate
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.gate == gate {
			b.gate = nil
			close(gate)
		}
	}
}

func (b *board) set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

// open gives the open channels of a log, oldest first.
func (b *board) open(log string) []boardChannel {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []boardChannel
	for _, id := range b.opened {
		if channel := b.channels[id]; channel != nil && channel.Log == log {
			found = append(found, *channel)
		}
	}
	return found
}

// noticeboard is the source that reads a board. Its root is names of logs, joined by plus signs.
type noticeboard struct{ url string }

func (noticeboard) Name() string { return "files" }

func (noticeboard) Traits() source.Traits {
	return source.Traits{Incremental: true, Remote: true, StableIDs: true}
}

func (noticeboard) Check(context.Context, source.Root) error { return nil }

func (noticeboard) Resolve(_ source.Root, ref string) (string, bool) { return ref, true }

type boardState struct {
	Notes map[string]note     `json:"notes"`
	Logs  map[string][]string `json:"logs"`
}

func (n noticeboard) read(ctx context.Context, path string) (boardState, error) {
	var state boardState
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, n.url+path, http.NoBody)
	if err != nil {
		return state, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return state, &source.Failure{Class: source.ClassUnavailable, Doing: "read the board", Err: err}
	}
	defer response.Body.Close()
	err = json.NewDecoder(response.Body).Decode(&state)
	return state, err
}

func (b boardState) checkpoint(root source.Root) string {
	at := map[string]int{}
	for log := range strings.SplitSeq(root.Ref, "+") {
		at[log] = len(b.Logs[log])
	}
	text, err := json.Marshal(at)
	if err != nil {
		panic(err) // a map of numbers
	}
	return string(text)
}

func (b boardState) entry(id string) source.Entry {
	return source.Entry{SourceID: id, Kind: source.KindDocument, Title: id, Path: id, Version: strconv.Itoa(b.Notes[id].Version)}
}

func (n noticeboard) List(ctx context.Context, root source.Root, _ string, yield func(source.Batch) error) (source.Listed, error) {
	state, err := n.read(ctx, "/list")
	if err != nil {
		return source.Listed{}, err
	}
	var batch source.Batch
	for id, note := range state.Notes {
		if strings.Contains("+"+root.Ref+"+", "+"+note.Log+"+") {
			batch.Entries = append(batch.Entries, state.entry(id))
		}
	}
	sort.Slice(batch.Entries, func(i, j int) bool { return batch.Entries[i].SourceID < batch.Entries[j].SourceID })
	batch.Returned = len(batch.Entries)
	return source.Listed{Verdict: source.VerdictComplete, Checkpoint: state.checkpoint(root)}, yield(batch)
}

func (n noticeboard) Changes(
	ctx context.Context, root source.Root, checkpoint string, yield func([]source.Entry, []string) error,
) (source.Listed, error) {
	since := map[string]int{}
	if err := json.Unmarshal([]byte(checkpoint), &since); err != nil {
		return source.Listed{}, &source.Failure{Class: source.ClassCheckpointExpired, Doing: "read the checkpoint", Err: err}
	}
	state, err := n.read(ctx, "/list")
	if err != nil {
		return source.Listed{}, err
	}
	seen := map[string]bool{}
	var changed []source.Entry
	for log, from := range since {
		for _, id := range state.Logs[log][from:] {
			if !seen[id] {
				seen[id] = true
				changed = append(changed, state.entry(id))
			}
		}
	}
	return source.Listed{Verdict: source.VerdictComplete, Checkpoint: state.checkpoint(root)}, yield(changed, nil)
}

func (n noticeboard) Fetch(ctx context.Context, _ source.Root, id string) (source.Page, error) {
	state, err := n.read(ctx, "/read")
	if err != nil {
		return source.Page{}, err
	}
	text := "# " + id + "\n\n" + state.Notes[id].Text + "\n"
	return source.Page{Entry: state.entry(id), Raw: []byte(text), Format: source.FormatMarkdown}, nil
}

func (n noticeboard) Presence(ctx context.Context, _ source.Root, id string) (source.Presence, error) {
	state, err := n.read(ctx, "/read")
	if _, there := state.Notes[id]; !there && err == nil {
		return source.PresenceGone, nil
	}
	return source.PresenceAlive, err
}

func (noticeboard) Logs(checkpoint string) []string {
	at := map[string]int{}
	_ = json.Unmarshal([]byte(checkpoint), &at)
	logs := make([]string, 0, len(at))
	for log := range at {
		logs = append(logs, log)
	}
	return logs
}

func (n noticeboard) Watch(ctx context.Context, log string, channel source.Channel) (source.Watched, error) {
	response, err := n.post(ctx, "/watch", boardChannel{ID: channel.ID, Log: log, Address: channel.Address, Token: channel.Token})
	if err != nil {
		return source.Watched{}, err
	}
	defer response.Body.Close()
	var opened boardChannel
	err = json.NewDecoder(response.Body).Decode(&opened)
	return source.Watched{ResourceID: opened.Resource, Expires: time.UnixMilli(opened.Ends)}, err
}

func (n noticeboard) Unwatch(ctx context.Context, channelID, resourceID string) error {
	response, err := n.post(ctx, "/stop", boardChannel{ID: channelID, Resource: resourceID})
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func (n noticeboard) post(ctx context.Context, path string, channel boardChannel) (*http.Response, error) {
	body, err := json.Marshal(channel)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, n.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err == nil && response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		err = &source.Failure{
			Class: source.ClassUnavailable, Doing: "ask the board", Sentence: fmt.Sprintf("the board answers with status %d: it is tried again", response.StatusCode),
		}
	}
	if err != nil {
		return nil, err
	}
	return response, nil
}

var _ source.Watcher = noticeboard{}

func (b *board) source() source.Source { return noticeboard{url: b.server.URL} }

// demandOpen demands that exactly one channel of a log is open, and gives it.
func (b *board) demandOpen(log string) boardChannel {
	b.t.Helper()
	open := b.open(log)
	require.Len(b.t, open, 1)
	return open[0]
}
