package notiontest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// requestIDHeader is on every answer of the API, but on none of its edge.
const requestIDHeader = "X-Notion-Request-Id"

// ServerOptions make a server. The zero value is a server without faults, limits and lags.
type ServerOptions struct {
	// Token is what the Authorization header must bear; made from the workspace's seed when empty.
	Token string
	// SearchLag is how long, by the workspace's clock, a new page or database stays unknown to searches.
	SearchLag time.Duration
	// ResultCap is how many results a search or query gives in all; 10,000 when zero.
	ResultCap int
	// RateLimit bounds the requests of each token; the zero value doesn't.
	RateLimit RateLimit
	// FileLife is how long signed URLs of files are good, by the workspace's clock; an hour when zero.
	FileLife time.Duration
	// Seed decides what random faults hit.
	Seed uint64
	// OAuth is the public connection that the token endpoint serves; none when its id is empty.
	OAuth OAuthClient
}

// Server answers for a workspace as the API does. It is an http.Handler, safe for concurrent use, and can listen by itself.
type Server struct {
	w       *Workspace
	options ServerOptions
	routes  []route
	log     *requestLog
	limiter *limiter
	gate    *gate
	faults  *faults
	cursors *cursors
	tokens  *tokens
	hooks   *hooks
	secret  []byte
	signed  atomic.Uint64

	mu      sync.Mutex
	serving *http.Server
	url     string
}

// NewServer makes a server that doesn't listen yet.
func NewServer(w *Workspace, o ServerOptions) *Server {
	if o.ResultCap == 0 {
		o.ResultCap = 10_000
	}
	if o.FileLife == 0 {
		o.FileLife = time.Hour
	}
	secret := sha256.Sum256(fmt.Appendf(nil, "%d/secret", w.seed))
	o.Token = withDefault(o.Token, "ntn_"+hex.EncodeToString(secret[:20]))
	s := &Server{
		w: w, options: o, secret: secret[:],
		log: &requestLog{}, limiter: newLimiter(o.RateLimit), gate: newGate(), cursors: newCursors(w.seed),
		faults: &faults{random: rand.New(rand.NewPCG(o.Seed, w.seed))}, //nolint:gosec // Faults must be the same for the same seed.
		tokens: newTokens(w.seed, o.Token, o.OAuth), hooks: newHooks(w),
	}
	s.routes = routes()
	w.listen(s.hooks.take)
	return s
}

// Workspace is what the server answers for.
func (s *Server) Workspace() *Workspace { return s.w }

// Token is the integration's token.
func (s *Server) Token() string { return s.options.Token }

// Start listens on a free port of 127.0.0.1 and gives the base URL, without /v1 and without a slash at its end.
func (s *Server) Start() (string, error) { return s.Listen("127.0.0.1:0") }

// Listen is Start on an address of choice.
func (s *Server) Listen(address string) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", address)
	if err != nil {
		return "", fmt.Errorf("listen for the stand-in of Notion: %w", err)
	}
	serving := &http.Server{Handler: s, ReadHeaderTimeout: time.Minute}
	s.mu.Lock()
	s.serving, s.url = serving, "http://"+listener.Addr().String()
	url := s.url
	s.mu.Unlock()
	go func() {
		// Serve always ends with an error; Close makes it http.ErrServerClosed, and nothing else ends it on loopback.
		_ = serving.Serve(listener)
	}()
	return url, nil
}

// URL is the base URL while the server listens; empty otherwise.
func (s *Server) URL() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.url
}

// Close stops listening, cuts what is being answered, lets go what a gate holds, and stops webhooks.
func (s *Server) Close() error {
	s.gate.open()
	s.hooks.close()
	s.mu.Lock()
	serving := s.serving
	s.serving, s.url = nil, ""
	s.mu.Unlock()
	if serving == nil {
		return nil
	}
	if err := serving.Close(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("stop the stand-in of Notion: %w", err)
	}
	return nil
}

// ServeHTTP answers one request: it is logged, counted against the limit, held by a gate, hit by a fault, or answered.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	to, segments := s.match(r)
	req := Request{Kind: to.kind, Method: r.Method, Path: r.URL.Path, ID: segments.id()}
	number := s.log.begin(&req)
	watched := &watched{ResponseWriter: w}
	defer func() { s.log.end(number, watched.status) }()
	if to.kind == KindFile {
		s.serveFile(watched, r, segments)
		return
	}
	w.Header().Set(requestIDHeader, uuidOf(s.w.seed, fmt.Sprintf("request/%d", number)))
	if err := s.limiter.take(r.Header.Get("Authorization")); err != nil {
		s.limiter.refuse(watched, err)
		return
	}
	if err := s.gate.pass(r.Context(), req); err != nil {
		return
	}
	next := func(w http.ResponseWriter, r *http.Request) { s.answer(w, r, to, segments) }
	if effect := s.faults.next(req); effect != nil {
		effect(watched, r, next)
		return
	}
	next(watched, r)
}

// answer is the API itself.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, to route, segments segments) {
	c, err := s.admit(r, to, segments)
	if err != nil {
		fail(w, err)
		return
	}
	o, err := c.read(to.answer)
	if err != nil {
		fail(w, err)
		return
	}
	write(w, http.StatusOK, o)
}

// read answers from a workspace that stands still meanwhile.
func (c *call) read(answer func(*call) (Object, error)) (Object, error) {
	c.s.w.mu.RLock()
	defer c.s.w.mu.RUnlock()
	return answer(c)
}

// watched remembers the status of an answer.
type watched struct {
	http.ResponseWriter
	status int
}

// WriteHeader remembers the status.
func (w *watched) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets a ResponseController reach the connection.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }
