package drivetest

import (
	"net/url"
	"slices"
	"sync"
	"time"
)

// Request is one request that the server got.
type Request struct {
	Kind   Kind
	Method string
	// Path is without the query string.
	Path string
	// Query are the parameters, without credentials.
	Query url.Values
	// ID is the file, shared drive or channel that the request is about; empty for those that are about none.
	ID string
	// User is who asks, by the access token; empty for a token that isn't good.
	User string
	// Time is when it arrived, by the machine's clock.
	Time time.Time
	// Status is what was answered; 0 while it isn't, or when the connection was cut before a status.
	Status int
}

// requestLog remembers every request.
type requestLog struct {
	mu       sync.Mutex
	requests []*Request
}

// begin notes a request with its time of arrival.
func (l *requestLog) begin(r Request) *Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Time = time.Now()
	l.requests = append(l.requests, &r)
	return &r
}

func (l *requestLog) end(r *Request, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Status = status
}

// Requests are all requests so far, in the order in which they arrived; those of the given kinds, if any are given.
func (s *Server) Requests(kinds ...Kind) []Request {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	var found []Request
	for _, r := range s.log.requests {
		if len(kinds) == 0 || slices.Contains(kinds, r.Kind) {
			found = append(found, *r)
		}
	}
	return found
}

// Count is how many requests came; of the given kinds, if any are given.
func (s *Server) Count(kinds ...Kind) int { return len(s.Requests(kinds...)) }

// Counts is how many requests came, by their kind.
func (s *Server) Counts() map[Kind]int {
	counts := map[Kind]int{}
	for _, r := range s.Requests() {
		counts[r.Kind]++
	}
	return counts
}

// Statuses is how many requests were answered with each status; 0 counts those that are or were cut off.
func (s *Server) Statuses() map[int]int {
	counts := map[int]int{}
	for _, r := range s.Requests() {
		counts[r.Status]++
	}
	return counts
}

// ResetLog forgets all requests so far.
func (s *Server) ResetLog() {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.log.requests = nil
}

// MaxInWindow is the largest number of requests of Drive that arrived within any span of time as long as d, whatever they were
// answered with. Requests for access tokens don't count: they go elsewhere. A span holds its first moment and not its last.
func (s *Server) MaxInWindow(d time.Duration) int {
	most, first := 0, 0
	var arrivals []time.Time
	for _, r := range s.Requests() {
		if r.Kind == KindToken {
			continue
		}
		arrivals = append(arrivals, r.Time)
		for r.Time.Sub(arrivals[first]) >= d {
			first++
		}
		most = max(most, len(arrivals)-first)
	}
	return most
}
