package gdrive

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/source/transport"
)

// The words of Drive's that tell limits from everything else that is answered with 403.
const (
	reasonDailyLimit    = "dailyLimitExceeded"
	reasonUserRate      = "userRateLimitExceeded"
	reasonRate          = "rateLimitExceeded"
	reasonSharingRate   = "sharingRateLimitExceeded"
	reasonExportSize    = "exportSizeLimitExceeded"
	reasonDownloadQuota = "downloadQuotaExceeded"
)

// rateReasons are limits that pass within a minute, and passingReasons all that pass.
var (
	rateReasons    = map[string]bool{reasonUserRate: true, reasonRate: true, reasonSharingRate: true}
	passingReasons = map[string]bool{
		reasonUserRate: true, reasonRate: true, reasonSharingRate: true, reasonDailyLimit: true, reasonDownloadQuota: true,
	}
)

// downloadTimeout is what a file of 50 MB takes on a line of 4 Mbit/s.
const downloadTimeout = 2 * time.Minute

// Transport is how requests to Drive are sent: how large an answer may be, and which refusals are limits.
func Transport(connection string, budget transport.Budget) transport.Config {
	return transport.Config{
		Connection: connection, Budget: budget, IsRead: isRead, Classify: verdictOf, Timeout: downloadTimeout, MaxBody: MaxContent,
	}
}

// isRead tells that a channel may be closed twice. Opening one twice makes two.
func isRead(req *http.Request) bool {
	return req.Method == http.MethodGet || strings.HasSuffix(req.URL.Path, "/channels/stop")
}

// refusalBody is the body of Drive's refusals.
type refusalBody struct {
	Error struct {
		Status string `json:"status"`
		Errors []struct {
			Reason string `json:"reason"`
		} `json:"errors"`
		Details []struct {
			Reason string `json:"reason"`
		} `json:"details"`
	} `json:"error"`
}

// reason is Drive's own word. Answers of Google's newer frame in front of Drive have theirs among the details.
func (b refusalBody) reason() string {
	for _, said := range b.Error.Errors {
		if said.Reason != "" {
			return said.Reason
		}
	}
	for _, said := range b.Error.Details {
		if said.Reason != "" {
			return said.Reason
		}
	}
	return b.Error.Status
}

// verdictOf reads the body of a refusal. 403 alone says nothing: it stands for limits and for missing rights alike.
func verdictOf(_ int, _ http.Header, body []byte) transport.Verdict {
	var said refusalBody
	if json.Unmarshal(body, &said) != nil {
		return transport.Verdict{}
	}
	verdict := transport.Verdict{Code: said.Error.Status, Reason: said.reason()}
	switch {
	case rateReasons[verdict.Reason]:
		verdict.Treat = transport.TreatAsRateLimit
	case verdict.Reason == reasonDailyLimit:
		verdict.Treat, verdict.RetryAfter = transport.TreatAsRateLimit, untilReset(time.Now())
	}
	return verdict
}

// untilReset is how long daily quotas stay used up: Google fills them at midnight in California. Where this machine knows no time
// zones, eight hours behind UTC come near enough.
func untilReset(now time.Time) time.Duration {
	pacific, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		pacific = time.FixedZone("PST", -8*60*60)
	}
	local := now.In(pacific)
	midnight := time.Date(local.Year(), local.Month(), local.Day()+1, 0, 0, 0, 0, pacific)
	return midnight.Sub(now)
}
