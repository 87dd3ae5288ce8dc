package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/document"
)

const jsonType = "application/json"

// reply is what a handler answers.
type reply struct {
	// status is 200 when it is 0.
	status int
	// body is made into JSON. Where raw is set, that is the body, of the media type.
	body      any
	raw       []byte
	mediaType string
	// location is where what was made is.
	location string
	// next is the query of the slice that follows, for the Link header.
	next string
	// warning says in a sentence what the answer lacks.
	warning string
	// replayed says that the answer is that of an earlier request.
	replayed bool
}

// ok is the answer of a read.
func ok(body any, err error) (reply, error) { return reply{body: body}, err }

// did is the answer of a mutation: 202 when it started something, 200 when it joined what runs, or had nothing to start.
func did(answer control.Answer, err error) (reply, error) {
	status := http.StatusAccepted
	if answer.Joined || answer.WorkflowID == "" {
		status = http.StatusOK
	}
	return reply{status: status, body: answer}, err
}

// fill makes the body's bytes.
func (p *reply) fill() error {
	if p.status == 0 {
		p.status = http.StatusOK
	}
	if p.raw != nil {
		return nil
	}
	var body bytes.Buffer
	// The encoder writes <, > and & as \u003c and so on: titles and texts are strangers' words.
	if err := json.NewEncoder(&body).Encode(document.Normal(p.body)); err != nil {
		return err
	}
	p.raw, p.mediaType = body.Bytes(), jsonType
	return nil
}

// send answers. What a client has already is not sent again.
func (p *reply) send(w http.ResponseWriter, r *http.Request) error {
	if err := p.fill(); err != nil {
		return err
	}
	header := w.Header()
	if p.location != "" {
		header.Set("Location", p.location)
	}
	if p.next != "" {
		header.Set("Link", "<"+p.next+`>; rel="next"`)
	}
	if p.warning != "" {
		header.Set("Warning", "199 loresync "+strconv.QuoteToASCII(p.warning))
	}
	if p.replayed {
		header.Set("Idempotent-Replayed", "true")
	}
	cache := "no-store"
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		// Kept by the client alone, and asked for again each time.
		cache = "private, no-cache"
		tag := tagOf(p.raw, p.next)
		header.Set("ETag", tag)
		header.Set("Vary", "Authorization")
		if matches(r.Header.Values("If-None-Match"), tag) {
			header.Set("Cache-Control", cache)
			w.WriteHeader(http.StatusNotModified)
			return nil
		}
	}
	send(w, p.status, p.mediaType, cache, p.raw)
	return nil
}

// tagOf names the content of an answer: equal tags, equal bytes.
func tagOf(body []byte, next string) string {
	hash := sha256.New()
	hash.Write([]byte(next + "\n"))
	hash.Write(body)
	return `"` + base64.RawURLEncoding.EncodeToString(hash.Sum(nil)[:18]) + `"`
}

// matches compares as If-None-Match does: weakly, and * with everything.
func matches(given []string, tag string) bool {
	for _, list := range given {
		for each := range strings.SplitSeq(list, ",") {
			if each = strings.TrimSpace(each); each == "*" || strings.TrimPrefix(each, "W/") == tag {
				return true
			}
		}
	}
	return false
}

// SendJSON answers with one JSON document of a media type, and keeps it from being kept.
func SendJSON(w http.ResponseWriter, status int, mediaType string, body any) {
	var encoded bytes.Buffer
	if err := json.NewEncoder(&encoded).Encode(body); err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	Send(w, status, mediaType, encoded.Bytes())
}

// Send writes a whole answer, and keeps it from being kept. It was made before, so that an error in the middle never leaves half
// an answer with status 200.
func Send(w http.ResponseWriter, status int, mediaType string, body []byte) {
	send(w, status, mediaType, "no-store", body)
}

func send(w http.ResponseWriter, status int, mediaType, cache string, body []byte) {
	header := w.Header()
	header.Set("Content-Type", mediaType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", cache)
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that went away has nobody left to tell
}
