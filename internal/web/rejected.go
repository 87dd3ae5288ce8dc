package web

import (
	"net/http"
	"sync"
	"time"

	"github.com/loresync/loresync/internal/access"
)

// rejectionPause lies between two lines about deliveries of one source that were rejected: whoever knocks must not fill the log.
const rejectionPause = time.Minute

// rejections says that deliveries of a source were rejected, in at most one line a minute.
type rejections struct {
	mu     sync.Mutex
	saidAt time.Time
	silent int
}

// say tells whether it is time for a line, and how many were left out since the last one.
func (j *rejections) say(now time.Time) (left int, yes bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.saidAt.IsZero() && now.Sub(j.saidAt) < rejectionPause {
		j.silent++
		return 0, false
	}
	left, j.silent, j.saidAt = j.silent, 0, now
	return left, true
}

// reject answers a delivery that doesn't prove where it comes from, which learns nothing of why.
func (s *reception) reject(w http.ResponseWriter, r *http.Request, source *rejections, why string, more ...any) {
	s.count(webhookForged)
	if left, yes := source.say(s.options.Now()); yes {
		s.options.Log.WarnContext(r.Context(), "a webhook was rejected",
			append([]any{"path", cut(r.URL.Path), "why", why, "from", access.Address(r), "left_out_before", left}, more...)...)
	}
	problem(w, http.StatusUnauthorized, "The signature is missing or wrong.")
}
