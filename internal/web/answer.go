package web

import (
	"net/http"
	"time"

	"github.com/loresync/loresync/internal/api"
)

// metricsPatience bounds one scrape.
const metricsPatience = 8 * time.Second

// writeJSON answers with one document, and keeps it from being kept.
func writeJSON(w http.ResponseWriter, status int, document any) {
	api.SendJSON(w, status, "application/json", document)
}

// problem answers with a problem document.
func problem(w http.ResponseWriter, status int, detail string) {
	api.SendProblem(w, api.Problem{Status: status, Detail: detail})
}

// send writes a whole answer.
func send(w http.ResponseWriter, status int, mediaType string, body []byte) {
	api.Send(w, status, mediaType, body)
}
