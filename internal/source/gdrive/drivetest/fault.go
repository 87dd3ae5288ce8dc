package drivetest

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Effect is what a fault does to a request: it answers in place of Drive, or changes what Drive answers through next.
type Effect func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc)

// Fault makes requests go wrong.
type Fault struct {
	// Match chooses the requests; nil chooses all.
	Match Match
	// After is how many chosen requests pass unhurt before the first that is hit.
	After int
	// Times is how many are hit; 0 hits all.
	Times int
	// Share is which share of the chosen requests is hit, at random from Options.Seed; 0 hits all.
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
		s.faults.drop(&f)
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
	for _, fault := range f.active {
		if effect := fault.draw(r, f.random); effect != nil {
			if fault.Times == 1 {
				f.drop(fault)
			}
			fault.Times--
			return effect
		}
	}
	return nil
}

// draw gives the effect of one fault on a request, if it hits it.
func (f *Fault) draw(r Request, random *rand.Rand) Effect {
	if len(f.Effects) == 0 || !f.Match.chooses(r) {
		return nil
	}
	if f.After > 0 {
		f.After--
		return nil
	}
	if f.Share > 0 && random.Float64() >= f.Share {
		return nil
	}
	return f.Effects[random.IntN(len(f.Effects))]
}

// drop ends a fault. The lock is held.
func (f *faults) drop(fault *Fault) {
	f.active = slices.DeleteFunc(f.active, func(other *Fault) bool { return other == fault })
}

// Weather are the faults of a bad day, to be drawn from at random: refusals, errors of Drive and of its edge, and broken
// connections, all of which go away when the request is repeated.
func Weather() []Effect {
	return []Effect{
		Refuse(UserRateLimit), Refuse(RateLimitExceeded), TooManyRequests(time.Second), Refuse(BackendError), BadGateway(),
		Unavailable(), GatewayTimeout(), CutBody(), Reset(),
	}
}
