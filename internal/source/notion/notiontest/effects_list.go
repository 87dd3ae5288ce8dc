package notiontest

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
)

// trick is what a list does to its end.
type trick int

const (
	trickNone trick = iota
	trickEmpty
	trickDuplicate
	trickNull
	trickRepeat
)

type trickKey struct{}

func (t trick) effect() Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
		next(w, r.WithContext(context.WithValue(r.Context(), trickKey{}, t)))
	}
}

// EmptyPage answers a list without results that goes on where it was asked to begin.
func EmptyPage() Effect { return trickEmpty.effect() }

// Duplicates makes the next part of a list begin with the last result of this one.
func Duplicates() Effect { return trickDuplicate.effect() }

// NullCursor says that a list goes on and not where.
func NullCursor() Effect { return trickNull.effect() }

// RepeatedCursor says that a list goes on where this part of it began.
func RepeatedCursor() Effect { return trickRepeat.effect() }

// NullResult puts a null among the results of a list.
func NullResult() Effect {
	return Rewrite(func(body Object) {
		if results, ok := body["results"].([]any); ok {
			body["results"] = append([]any{nil}, results...)
		}
	})
}

// TypelessBlock leaves of every block in a list its id alone, as for blocks that the integration may not see.
func TypelessBlock() Effect {
	return eachResult(func(result Object) {
		for key := range result {
			if key != "object" && key != "id" {
				delete(result, key)
			}
		}
	})
}

// UnknownBlock gives every block in a list a type that clients don't know, with its payload and its children.
func UnknownBlock(typ string) Effect {
	return eachResult(func(result Object) {
		if old, ok := result["type"].(string); ok && result["object"] == "block" {
			result["type"], result[typ] = typ, result[old]
			delete(result, old)
		}
	})
}

// UnknownProperty gives every page that is answered a property of a type that clients don't know.
func UnknownProperty(name, typ string) Effect {
	add := func(page Object) {
		if properties, ok := page["properties"].(Object); ok && page["object"] == "page" {
			properties[name] = Object{"id": "Zz%3D", "type": typ, typ: Object{"value": name}}
		}
	}
	return Rewrite(func(body Object) {
		add(body)
		each(body, add)
	})
}

func eachResult(change func(Object)) Effect {
	return Rewrite(func(body Object) { each(body, change) })
}

func each(body Object, change func(Object)) {
	results, _ := body["results"].([]any)
	for _, result := range results {
		if o, ok := result.(Object); ok {
			change(o)
		}
	}
}

// Rewrite changes the body of what the API answers, unless that is an error.
func Rewrite(change func(body Object)) Effect {
	return func(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) {
		kept := capture(w, r, next)
		body := Object{}
		if err := json.Unmarshal(kept.body.Bytes(), &body); err != nil {
			fail(w, err)
			return
		}
		if kept.status == http.StatusOK {
			change(body)
		}
		write(w, kept.status, body)
	}
}

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

// capture lets the API answer into memory, under the id that the request has.
func capture(w http.ResponseWriter, r *http.Request, next http.HandlerFunc) *kept {
	k := &kept{header: http.Header{}, status: http.StatusOK}
	k.header.Set(requestIDHeader, w.Header().Get(requestIDHeader))
	next(k, r)
	return k
}
