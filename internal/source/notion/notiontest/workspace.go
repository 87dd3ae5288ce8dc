package notiontest

import (
	"fmt"
	"slices"
	"sync"
)

// Options make a workspace. The zero value is a workspace that is shared whole and runs with the machine's clock.
type Options struct {
	// Seed is what all ids are made from.
	Seed uint64
	// Name is the workspace's; "Sandbox" when empty.
	Name string
	// Integration is the name of the connection that the token belongs to; "loresync" when empty.
	Integration string
	// Clock is the time the workspace lives in; WallClock when nil.
	Clock *Clock
	// Private keeps new top-level pages from being shared with the integration until Share is called.
	Private bool
}

// Workspace is a Notion workspace in memory. It is safe for concurrent use; its methods do what people do in Notion, and
// return an error for what Notion wouldn't let them do.
type Workspace struct {
	seed        uint64
	id          string
	name        string
	integration string
	clock       *Clock
	private     bool

	mu      sync.RWMutex
	made    int
	nodes   map[string]*node
	top     []string
	access  map[string]bool
	users   []user
	bot     string
	editor  string
	comment []*comment
	files   map[string]upload
	// order counts changes, so that lists sorted by time are stable within a minute.
	order     int
	listeners []func(change)
}

// New makes an empty workspace with one person and the integration's bot as its users.
func New(o Options) *Workspace {
	w := &Workspace{
		seed: o.Seed, name: withDefault(o.Name, "Sandbox"), integration: withDefault(o.Integration, "loresync"),
		clock: o.Clock, private: o.Private,
		nodes: make(map[string]*node), access: make(map[string]bool), files: make(map[string]upload),
	}
	if w.clock == nil {
		w.clock = WallClock()
	}
	w.id = uuidOf(o.Seed, "workspace")
	w.editor = w.addUser(user{name: "Sandbox Owner", email: "owner@example.org"})
	w.bot = w.addUser(user{name: w.integration, bot: true})
	return w
}

func withDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// ID is the workspace's id.
func (w *Workspace) ID() string { return w.id }

// Clock is the workspace's clock, to be set and advanced.
func (w *Workspace) Clock() *Clock { return w.clock }

// nextID gives the next id of the row that the seed makes.
func (w *Workspace) nextID() string {
	w.made++
	return uuidOf(w.seed, fmt.Sprintf("object/%d", w.made))
}

// find gives an object by its id in any spelling.
func (w *Workspace) find(id string) (*node, error) {
	parsed, ok := parseID(id)
	if !ok {
		return nil, fmt.Errorf("%q is not an id", id)
	}
	n := w.nodes[parsed]
	if n == nil {
		return nil, fmt.Errorf("nothing in the workspace has the id %s", parsed)
	}
	return n, nil
}

// findKind gives an object that must be of one of some kinds.
func (w *Workspace) findKind(id string, kinds ...kind) (*node, error) {
	n, err := w.find(id)
	if err != nil {
		return nil, err
	}
	if slices.Contains(kinds, n.kind) {
		return n, nil
	}
	return nil, fmt.Errorf("%s is a %s, which this can't be done to", n.id, n.kind)
}
