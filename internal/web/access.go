package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// sight is how much a request may see.
type sight int

const (
	// sightNone is everybody's.
	sightNone sight = iota
	// sightLocal is this machine's: ids, states and counts.
	sightLocal
	// sightAll is that of a bearer of the admin token.
	sightAll
)

// door decides who may see how much.
type door struct {
	token [sha256.Size]byte
	// hasToken is false where no token was set, and then none is right.
	hasToken bool
	// atHome is whether the gateway is meant for this machine alone. Behind a proxy every request comes from this machine.
	atHome bool
}

func newDoor(token, publicURL string) door {
	return door{token: sha256.Sum256([]byte(token)), hasToken: token != "", atHome: publicURL == "" || isLoopbackURL(publicURL)}
}

// sight looks at a request's credentials first: whoever shows a wrong token is refused, wherever the request comes from.
func (d door) sight(r *http.Request) sight {
	if shown := r.Header.Get("Authorization"); shown != "" {
		if d.opens(shown) {
			return sightAll
		}
		return sightNone
	}
	if d.atHome && isLocal(r) {
		return sightLocal
	}
	return sightNone
}

// opens compares hashes, in a time that tells nothing about the token or its length.
func (d door) opens(authorization string) bool {
	scheme, token, _ := strings.Cut(authorization, " ")
	given := sha256.Sum256([]byte(strings.TrimSpace(token)))
	same := subtle.ConstantTimeCompare(given[:], d.token[:]) == 1
	return same && d.hasToken && strings.EqualFold(scheme, "Bearer")
}

// isLocal tells whether a request was made on this machine, for this machine, and by nobody else's order. Both ends of the
// connection are not enough: a proxy on this machine passes strangers on, which its headers tell, and a web page anywhere can
// make a visitor's browser ask 127.0.0.1 under a name of its own, which the Host header tells.
func isLocal(r *http.Request) bool {
	for _, passedOn := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if r.Header.Get(passedOn) != "" {
			return false
		}
	}
	here, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && isLoopback(here.String()) && isLoopback(r.RemoteAddr) && isLoopback(r.Host)
}

// isLoopback looks at a host with or without a port. Only addresses and the name localhost count: any other name is whatever
// its owner says it is.
func isLoopback(address string) bool {
	host := address
	if alone, _, err := net.SplitHostPort(address); err == nil {
		host = alone
	}
	host = strings.Trim(host, "[]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func isLoopbackURL(address string) bool {
	parsed, err := url.Parse(address)
	return err == nil && isLoopback(parsed.Host)
}
