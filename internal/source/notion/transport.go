package notion

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/source/transport"
)

// reasonBlocked is the one limit that more requests make worse.
const reasonBlocked = "public_api_request_blocked"

// Transport is how requests to Notion are sent: what is a read though it is a POST, and what Notion's refusals mean.
func Transport(connection string, budget transport.Budget) transport.Config {
	return transport.Config{Connection: connection, Budget: budget, IsRead: isRead, Classify: verdictOf}
}

func isRead(req *http.Request) bool {
	path := req.URL.Path
	return req.Method == http.MethodGet || strings.HasSuffix(path, "/v1/search") || strings.HasSuffix(path, "/query")
}

// verdictOf reads the body of a refusal. An answer of the edge in front of Notion is HTML, and says nothing but its status.
func verdictOf(status int, header http.Header, body []byte) transport.Verdict {
	var said struct {
		Code      string `json:"code"`
		Message   string `json:"message"`
		RequestID string `json:"request_id"`
		More      struct {
			Reason     string `json:"rate_limit_reason"`
			RetryAfter string `json:"retry_after"`
		} `json:"additional_data"`
	}
	if json.Unmarshal(body, &said) != nil {
		return transport.Verdict{RequestID: header.Get(requestIDHeader)}
	}
	verdict := transport.Verdict{Code: said.Code, Message: said.Message, RequestID: said.RequestID, Reason: said.More.Reason}
	if verdict.RequestID == "" {
		verdict.RequestID = header.Get(requestIDHeader)
	}
	if seconds, err := strconv.ParseFloat(said.More.RetryAfter, 64); err == nil && seconds > 0 {
		verdict.RetryAfter = time.Duration(seconds * float64(time.Second))
	}
	switch {
	case said.More.Reason == reasonBlocked:
		verdict.Treat = transport.TreatAsFinal
	case status == http.StatusConflict:
		verdict.Treat = transport.TreatByStatus
	}
	return verdict
}
