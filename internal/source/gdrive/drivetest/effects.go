package drivetest

import (
	"bytes"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Refuse answers with Drive's error for a reason.
func Refuse(reason Reason) Effect {
	return func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		fail(w, refusal(reason, r.PathValue("id")))
	}
}

// TooManyRequests answers 429 with Retry-After in whole seconds; without it for 0.
func TooManyRequests(wait time.Duration) Effect {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) { fail(w, tooMany(wait)) }
}

// Status answers with a status and Drive's error for its own trouble, such as 500, 503 and 504 in JSON.
func Status(status int) Effect {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		e := refusal(BackendError, "")
		e.status = status
		fail(w, e)
	}
}

// BadGateway answers 502 as the edge does: in HTML.
func BadGateway() Effect {
	return edge(http.StatusBadGateway, "<!DOCTYPE html><html lang=en><title>Error 502 (Server Error)!!1</title></html>")
}

// Unavailable answers 503 without a body.
func Unavailable() Effect { return edge(http.StatusServiceUnavailable, "") }

// GatewayTimeout answers 504 in HTML.
func GatewayTimeout() Effect {
	return edge(http.StatusGatewayTimeout, "<!DOCTYPE html><html lang=en><title>Error 504 (Gateway Timeout)!!1</title></html>")
}

func edge(status int, page string) Effect {
	return func(w http.ResponseWriter, _ *http.Request, _ http.HandlerFunc) {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.WriteHeader(status)
		fmt.Fprint(w, page)
	}
}

// CutBody ends the connection in the middle of the answer, be it JSON or a file.
func CutBody() Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
		kept := capture(r, next)
		maps.Copy(w.Header(), kept.header)
		w.Header().Set("Content-Length", strconv.Itoa(kept.body.Len()))
		w.WriteHeader(kept.status)
		_, _ = w.Write(kept.body.Bytes()[:kept.body.Len()/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
}

// ShortBody answers with half of the body as if it were all of it.
func ShortBody() Effect {
	return remaking(func(body []byte) []byte { return body[:len(body)/2] })
}

// Corrupt changes one byte of what is downloaded or exported; its length stays.
func Corrupt() Effect {
	return remaking(func(body []byte) []byte {
		changed := bytes.Clone(body)
		if len(changed) > 0 {
			changed[len(changed)/2] ^= 1
		}
		return changed
	})
}

func remaking(change func([]byte) []byte) Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
		kept := capture(r, next)
		body := change(kept.body.Bytes())
		maps.Copy(w.Header(), kept.header)
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.WriteHeader(kept.status)
		_, _ = w.Write(body) // the client went away
	}
}

// Reset breaks the connection without an answer. Go's client repeats a GET by itself, once, when that happens on a connection
// that was used before: a fault that is to be noticed for sure hits two requests.
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

// Delay answers late, by the machine's clock. It gives up when the client does.
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
