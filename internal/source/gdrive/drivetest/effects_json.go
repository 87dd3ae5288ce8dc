package drivetest

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"strings"
)

// WrongChecksum gives every file that is answered checksums that aren't those of its bytes.
func WrongChecksum() Effect {
	return EachFile(func(file Object) {
		for _, name := range []string{"md5Checksum", "sha1Checksum", "sha256Checksum"} {
			if sum, ok := file[name].(string); ok {
				file[name] = strings.Repeat("0", len(sum))
			}
		}
	})
}

// EachFile changes every file in what Drive answers, in lists and changes too.
func EachFile(change func(file Object)) Effect {
	return Rewrite(func(body Object) {
		if body["kind"] == "drive#file" || body["id"] != nil {
			change(body)
		}
		for _, list := range []string{"files", "changes"} {
			items, _ := body[list].([]any)
			for _, item := range items {
				o, _ := item.(Object)
				if inner, ok := o["file"].(Object); ok {
					o = inner
				}
				if o != nil {
					change(o)
				}
			}
		}
	})
}

// Rewrite changes the JSON that Drive answers, unless that is an error or no JSON.
func Rewrite(change func(body Object)) Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
		kept := capture(r, next)
		body := Object{}
		if kept.status == http.StatusOK && json.Unmarshal(kept.body.Bytes(), &body) == nil {
			change(body)
			write(w, kept.status, body)
			return
		}
		maps.Copy(w.Header(), kept.header)
		w.WriteHeader(kept.status)
		_, _ = w.Write(kept.body.Bytes()) // the client went away
	}
}

// trick is what a list does to its results.
type trick int

const (
	trickNone trick = iota
	trickIncomplete
	trickEmpty
	trickDuplicate
	trickRepeat
)

type trickKey struct{}

func (t trick) effect() Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
		next(w, r.WithContext(context.WithValue(r.Context(), trickKey{}, t)))
	}
}

func trickOf(r *http.Request) trick {
	t, _ := r.Context().Value(trickKey{}).(trick)
	return t
}

// IncompleteSearch makes a list of files leave out its last result and say incompleteSearch, as lists over all drives may.
func IncompleteSearch() Effect { return trickIncomplete.effect() }

// EmptyPage answers a list of files or changes without results; the next page goes on where this one was asked to begin.
func EmptyPage() Effect { return trickEmpty.effect() }

// Duplicates makes the next page of a list of files begin with the last result of this one.
func Duplicates() Effect { return trickDuplicate.effect() }

// RepeatedToken makes a list of files or changes say that it goes on where this page began.
func RepeatedToken() Effect { return trickRepeat.effect() }

// kept is an answer that was caught.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header is that of the answer.
func (k *kept) Header() http.Header { return k.header }

// WriteHeader keeps the status.
func (k *kept) WriteHeader(status int) { k.status = status }

// Write keeps the body.
func (k *kept) Write(p []byte) (int, error) { return k.body.Write(p) }

// capture lets Drive answer into memory.
func capture(r *http.Request, next http.HandlerFunc) *kept {
	k := &kept{header: http.Header{}, status: http.StatusOK}
	next(k, r)
	return k
}
