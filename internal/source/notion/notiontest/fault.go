package notiontest

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
)

// Effect is what a fault does to a request: it answers in place of the API, or changes what the API answers through next.
type Effect func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc)

// Fault makes requests go wrong.
type Fault struct {
	// Match chooses the requests; nil chooses all of the API.
	Match Match
	// After is how many chosen requests pass unhurt before the first that is hit.
	After int
	// Times is how many are hit; 0 hits all.
	Times int
	// Share is which share of the chosen requests is hit, at random from the server's seed; 0 hits all.
	Share float64
	// Effects are what may happen: one of them, at random if there are several.
	Effects []Effect
}

// faults are looked through in their order; the first that hits a request is the only one.
type faults struct {
	mu     sync.Mutex
	random *rand.Rand
	active []*Fault
}

// Break makes requests go wrong from now on; the function that it returns ends that.
func (s *Server) Break(f Fault) (heal func()) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.active = append(s.faults.active, &f)
	return func() {
		s.faults.mu.Lock()
		defer s.faults.mu.Unlock()
		s.faults.active = slices.DeleteFunc(s.faults.active, func(other *Fault) bool { return other == &f })
	}
}

// Fail makes the next n requests that match go wrong in one way; all of them for 0.
func (s *Server) Fail(match Match, n int, effect Effect) (heal func()) {
	return s.Break(Fault{Match: match, Times: n, Effects: []Effect{effect}})
}

// Heal ends all faults.
func (s *Server) Heal() {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.active = nil
}

// next gives what is to happen to a request; nil for nothing.
func (f *faults) next(r Request) Effect {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, fault := range f.active {
		if len(fault.Effects) == 0 || !fault.Match.chooses(r) {
			continue
		}
		if fault.After > 0 {
			fault.After--
			continue
		}
		if fault.Share > 0 && f.random.Float64() >= fault.Share {
			continue
		}
		if fault.Times == 1 {
			f.active = slices.Delete(f.active, i, i+1)
		}
		fault.Times--
		return fault.Effects[f.random.IntN(len(fault.Effects))]
	}
	return nil
}

// Weather are the faults of a bad day, to be drawn from at random: refusals, errors of the API and of its edge, and broken
// connections, all of which go away when the request is repeated.
func Weather() []Effect {
	return []Effect{
		TooManyRequests("1"), Status(http.StatusInternalServerError), BadGateway(), Status(http.StatusServiceUnavailable),
		GatewayTimeout(), Conflict(), CutBody(), Reset(),
	}
}
