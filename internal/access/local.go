package access

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// IsLocal tells whether a request was made on this machine, for this machine, and by nobody else's order. Both ends of the
// connection are not enough: a proxy on this machine passes strangers on, which its headers tell, and a web page anywhere can
// make a visitor's browser ask 127.0.0.1 under a name of its own, which the Host header tells.
func IsLocal(r *http.Request) bool {
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

// IsLoopbackURL tells whether an address of a gateway leads to its own machine alone.
func IsLoopbackURL(address string) bool {
	parsed, err := url.Parse(address)
	return err == nil && isLoopback(parsed.Host)
}
