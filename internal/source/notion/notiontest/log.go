package notiontest

import (
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
	// ID is the object that the request is about; empty for those that are about none.
	ID string
	// Time is when it arrived, by the machine's clock.
	Time time.Time
	// Status is what was answered; 0 while it isn't, or when the connection was cut before a status.
	Status int
}

// requestLog remembers every request.
type requestLog struct {
	mu       sync.Mutex
	requests []Request
}

// begin notes a request with its time of arrival and gives its number.
func (l *requestLog) begin(r *Request) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.Time = time.Now()
	l.requests = append(l.requests, *r)
	return len(l.requests) - 1
}

func (l *requestLog) end(number, status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// The log may have been cleared meanwhile.
	if number < len(l.requests) {
		l.requests[number].Status = status
	}
}

// Requests are all requests so far, in the order in which they arrived; those of the given kinds, if any are given.
func (s *Server) Requests(kinds ...Kind) []Request {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.log.requests), func(r Request) bool {
		return len(kinds) > 0 && !slices.Contains(kinds, r.Kind)
	})
}

// Count is how many requests came; of the given kinds, if any are given.
func (s *Server) Count(kinds ...Kind) int { return len(s.Requests(kinds...)) }

// Counts is how many requests came, by their kind.
func (s *Server) Counts() map[Kind]int {
	counts := make(map[Kind]int)
	for _, r := range s.Requests() {
		counts[r.Kind]++
	}
	return counts
}

// Statuses is how many requests of the API were answered with each status; 0 counts those that are or were cut off.
func (s *Server) Statuses() map[int]int {
	counts := make(map[int]int)
	for _, r := range s.Requests() {
		if r.Kind != KindFile {
			counts[r.Status]++
		}
	}
	return counts
}

// ResetLog forgets all requests so far. It is meant for a moment in which nothing is being answered.
func (s *Server) ResetLog() {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	s.log.requests = nil
}

// MaxInWindow is the largest number of requests of the API that arrived within any span of time as long as d, whatever they
// were answered with. Downloads of files don't count: they don't go to the API.
func (s *Server) MaxInWindow(d time.Duration) int {
	var arrivals []time.Time
	for _, r := range s.Requests() {
		if r.Kind != KindFile {
			arrivals = append(arrivals, r.Time)
		}
	}
	return maxInWindow(arrivals, d)
}

// maxInWindow takes times in their order. A window holds its first moment and not its last.
func maxInWindow(times []time.Time, d time.Duration) int {
	most, first := 0, 0
	for i, at := range times {
		for at.Sub(times[first]) >= d {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}
