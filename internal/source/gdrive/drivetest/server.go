package drivetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

// Options make a server. The zero value is a Drive of one person, shared whole with the service account, without faults and
// limits, that runs with the machine's clock.
type Options struct {
	// Seed is what all ids are made from, and what random faults hit.
	Seed uint64
	// Address is what the server listens on; a free port of 127.0.0.1 when empty.
	Address string
	// Clock is the time that the Drive lives in; WallClock when nil.
	Clock *Clock
	// Owner is the address of the first user; owner@example.org when empty.
	Owner string
	// Private keeps new files at the top of a My Drive, and new shared drives, from being shared with the service account.
	Private bool
	// NoDelegation forbids the service account to act as a user.
	NoDelegation bool
	// ExportLimit is the size in bytes above which exports are refused; 10 MB when zero.
	ExportLimit int
	// PageCap is how many results a page of a list holds at most, whatever was asked for; it has no bound when zero.
	PageCap int
	// RepeatChanges lists a file once for each of its changes; otherwise only its last one is listed.
	RepeatChanges bool
	// HideOwnersTrash hides what is in the trash from all but its owner, as Drive's documentation has it.
	HideOwnersTrash bool
	// RateLimit bounds requests; the zero value doesn't.
	RateLimit RateLimit
	// TokenLife is how long access tokens are good, by the machine's clock; an hour when zero.
	TokenLife time.Duration
	// RotateRefresh gives a new refresh token with each access token, and forgets the old one.
	RotateRefresh bool
}

// Server is a Drive that listens. It is an http.Handler, and safe for concurrent use.
type Server struct {
	options  Options
	clock    *Clock
	log      *requestLog
	limiter  *limiter
	gate     *gate
	faults   *faults
	oauth    *oauth
	channels *channels
	secret   []byte
	mux      *http.ServeMux
	serving  *http.Server
	url      string

	mu         sync.RWMutex
	made       int
	items      map[string]*item
	children   map[string][]string
	users      map[string]*user
	people     []string
	editor     string
	changes    []entry
	forgotten  int
	forgetting int
}

// New makes a Drive and serves it at once. It panics when it can't listen, which on a free port doesn't happen.
func New(o Options) *Server {
	s := newServer(withDefaults(o))
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", s.options.Address)
	if err != nil {
		panic(fmt.Errorf("listen for the stand-in of Drive: %w", err))
	}
	s.url = "http://" + listener.Addr().String()
	s.serving = &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	go func() {
		// Serve always ends with an error; Close makes it http.ErrServerClosed, and nothing else ends it on loopback.
		_ = s.serving.Serve(listener)
	}()
	return s
}

func withDefaults(o Options) Options {
	if o.Clock == nil {
		o.Clock = WallClock()
	}
	if o.Owner == "" {
		o.Owner = "owner@example.org"
	}
	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}
	if o.ExportLimit == 0 {
		o.ExportLimit = 10 << 20
	}
	if o.TokenLife == 0 {
		o.TokenLife = time.Hour
	}
	return o
}

func newServer(o Options) *Server {
	s := &Server{
		options: o, clock: o.Clock, secret: secretOf(o.Seed), editor: o.Owner,
		log: &requestLog{}, limiter: newLimiter(o.RateLimit), gate: newGate(), oauth: newOAuth(o),
		faults: &faults{random: rand.New(rand.NewPCG(o.Seed, 1))}, //nolint:gosec // Faults must be the same for the same seed.
		items:  map[string]*item{}, children: map[string][]string{}, users: map[string]*user{},
	}
	s.channels = newChannels(s)
	s.mux = s.newMux()
	s.user(o.Owner)
	s.user(serviceAccount)
	return s
}

// URL is where the server listens, without a slash at its end.
func (s *Server) URL() string { return s.url }

// Endpoint is what the client's option.WithEndpoint takes.
func (s *Server) Endpoint() string { return s.url + "/drive/v3/" }

// Clock is the Drive's clock, to be set and advanced.
func (s *Server) Clock() *Clock { return s.clock }

// Close stops listening, cuts what is being answered, lets go what a gate holds, and ends notifications.
func (s *Server) Close() {
	s.gate.open()
	s.channels.close()
	// What is left to close on loopback can't fail in a way that anybody could mend.
	_ = s.serving.Close()
}

// Cleaner is what Start needs of a test.
type Cleaner interface {
	Helper()
	Cleanup(f func())
}

// Start is New for a test, which closes the server when it ends.
func Start(t Cleaner, o Options) *Server {
	t.Helper()
	s := New(o)
	t.Cleanup(s.Close)
	return s
}
