package access

import (
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

const (
	// An address has this many wrong tries at once, and gets one back each tryPause: 14,400 guesses a day are no way to a token.
	triesAtOnce = 10
	tryPause    = 6 * time.Second
	// maxAddresses bounds the memory that strangers can make us use.
	maxAddresses = 10_000
)

// tries slows whoever guesses. Each gateway counts for itself: this is a brake and no truth, and several gateways only make it
// several times as loose.
type tries struct {
	now func() time.Time
	mu  sync.Mutex
	// free is when an address has all its tries back.
	free map[string]time.Time
}

func newTries(now func() time.Time) *tries { return &tries{now: now, free: map[string]time.Time{}} }

// wait is how long an address has to wait for its next try; zero when it may.
func (t *tries) wait(address string) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	return max(0, t.free[address].Add(-(triesAtOnce-1)*tryPause).Sub(t.now()))
}

// wrong takes a try from an address.
func (t *tries) wrong(address string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if len(t.free) >= maxAddresses {
		t.forget(now)
	}
	from := t.free[address]
	if from.Before(now) {
		from = now
	}
	t.free[address] = from.Add(tryPause)
}

// forget drops the addresses that have all their tries back, and where none has, all: strangers with ten thousand addresses
// aren't slowed by this anyway.
func (t *tries) forget(now time.Time) {
	for address, free := range t.free {
		if !free.After(now) {
			delete(t.free, address)
		}
	}
	if len(t.free) >= maxAddresses {
		clear(t.free)
	}
}

// Address is where a request comes from, without its port; the proxy's where there is one, since what a proxy says of others
// can be made up.
func Address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return ""
	}
	return host
}

// network is what counts as one address: of IPv6 everybody has a whole /64.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Unmap().Is4() {
		return address
	}
	prefix, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return address
	}
	return prefix.String()
}
