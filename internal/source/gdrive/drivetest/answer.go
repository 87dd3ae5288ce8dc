package drivetest

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strconv"
)

// answer is what a request gets: an object in JSON, or bytes of a type.
type answer struct {
	object Object
	media  []byte
	mime   string
	// ranges is whether parts of the bytes may be asked for.
	ranges bool
	// empty is an answer without a body.
	empty bool
}

// fail answers with an error.
func fail(w http.ResponseWriter, err error) {
	var known *apiError
	if !errors.As(err, &known) {
		known = refusal(BackendError, "")
	}
	maps.Copy(w.Header(), known.header)
	if known.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="https://accounts.google.com/", error="invalid_token"`)
	}
	write(w, known.status, known.object())
}

// write answers with an object.
func write(w http.ResponseWriter, status int, o Object) {
	body, err := json.Marshal(o)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client went away
}
