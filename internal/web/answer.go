package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// metricsPatience bounds one scrape.
const metricsPatience = 8 * time.Second

// writeJSON answers with one document, and keeps it from being kept.
func writeJSON(w http.ResponseWriter, status int, document any) {
	writeAs(w, status, "application/json", document)
}

// problem answers with a problem document (RFC 9457).
func problem(w http.ResponseWriter, status int, detail string) {
	writeAs(w, status, "application/problem+json", map[string]any{
		"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": detail,
	})
}

func writeAs(w http.ResponseWriter, status int, mediaType string, document any) {
	var body bytes.Buffer
	if err := json.NewEncoder(&body).Encode(document); err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	send(w, status, mediaType, body.Bytes())
}

// send writes a whole answer. It was made before, so that an error in the middle never leaves half a page with status 200.
func send(w http.ResponseWriter, status int, mediaType string, body []byte) {
	header := w.Header()
	header.Set("Content-Type", mediaType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that went away has nobody left to tell
}
