package transport

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// longestRest bounds what a server may ask for: a slip of its clock or of its units must not silence a connection for years.
const longestRest = time.Hour

// retryAfter reads how long a server wants to be left alone: whole or broken seconds, or an HTTP date, which is counted from the
// answer's own Date where it has one, since the two clocks may differ. Zero when it says nothing that can be used.
func retryAfter(header http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return restOf(seconds)
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if sent, err := http.ParseTime(header.Get("Date")); err == nil {
		now = sent
	}
	return bounded(at.Sub(now))
}

func restOf(seconds float64) time.Duration {
	if math.IsNaN(seconds) {
		return 0
	}
	return bounded(time.Duration(min(max(seconds, 0), longestRest.Seconds()) * float64(time.Second)))
}

func bounded(d time.Duration) time.Duration { return min(max(d, 0), longestRest) }
