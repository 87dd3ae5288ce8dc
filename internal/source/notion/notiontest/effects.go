package notiontest

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"time"
)

// overloaded is Notion's status for a service that has too much to do.
const overloaded = 529

// codes are the names of the API's errors by their status.
func codes() map[int]string {
	return map[int]string{
		http.StatusConflict: "conflict_error", http.StatusInternalServerError: "internal_server_error",
		http.StatusBadGateway: "bad_gateway", http.StatusServiceUnavailable: "service_unavailable",
		http.StatusGatewayTimeout: "gateway_timeout", overloaded: "service_overload",
	}
}

// Status answers with an error of the API in JSON.
func Status(status int) Effect {
	code := withDefault(codes()[status], "internal_server_error")
	return refusing(&apiError{status: status, code: code, message: "Something went wrong. Please try again later."})
}

func refusing(err error) Effect {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) { fail(w, err) }
}

// TooManyRequests answers 429. Retry-After may be seconds, a fraction of them, a date, or empty, for an answer without it.
func TooManyRequests(retryAfter string) Effect {
	return limited("public_api_request_rate_limit", retryAfter)
}

// Blocked answers 429 for a connection that was shut out: trying again makes it worse.
func Blocked() Effect { return limited("public_api_request_blocked", "") }

// WorkspaceLimited answers 429 for the limit that all connections of a workspace share, whose wait may be long.
func WorkspaceLimited(retryAfter string) Effect {
	return limited("public_api_space_request_rate_limit", retryAfter)
}

func limited(reason, retryAfter string) Effect {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		fail(w, rateLimited(reason, retryAfter))
	}
}

// Overloaded answers 529, which is like 429; Retry-After is left out for an empty one.
func Overloaded(retryAfter string) Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		Status(overloaded)(w, r, next)
	}
}

// Conflict answers 409, which the API does when it couldn't finish a transaction.
func Conflict() Effect {
	return refusing(&apiError{
		status: http.StatusConflict, code: "conflict_error", message: "Conflict occurred while saving. Please try again.",
	})
}

// BadGateway answers 502 as the edge does: in HTML, with its own id and without one of the API.
func BadGateway() Effect {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		edge(w, http.StatusBadGateway, "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n")
	}
}

// GatewayTimeout answers 504 without a body.
func GatewayTimeout() Effect {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		edge(w, http.StatusGatewayTimeout, "")
	}
}

func edge(w http.ResponseWriter, status int, page string) {
	w.Header().Del(requestIDHeader)
	w.Header().Set("Cf-Ray", "8f2a61c0de1f7d3c-KIX")
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprint(w, page)
}

// Revoked answers as to a token that was taken back.
func Revoked() Effect { return refusing(unauthorized()) }

// Restricted answers as to a token without the capability.
func Restricted() Effect { return refusing(restricted()) }

// Invalid answers 400 with a message, as for blocks that the API won't read.
func Invalid(message string) Effect { return refusing(invalid("%s", message)) }

// CutBody ends the connection in the middle of the answer.
func CutBody() Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
		kept := capture(w, r, next)
		maps.Copy(w.Header(), kept.header)
		w.WriteHeader(kept.status)
		_, _ = w.Write(kept.body.Bytes()[:kept.body.Len()/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// Reset breaks the connection without an answer.
func Reset() Effect {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		connection, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		// Without lingering, closing sends a reset in place of an orderly end.
		if tcp, ok := connection.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = connection.Close()
	}
}

// Delay answers late. It gives up when the client does.
func Delay(d time.Duration) Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			next(w, r)
		case <-r.Context().Done():
		}
	}
}
