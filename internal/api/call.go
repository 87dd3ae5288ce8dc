package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/loresync/loresync/internal/access"
	"github.com/loresync/loresync/internal/control"
)

// maxBody bounds a body: the largest holds a folder's readers and limits.
const maxBody = 64 << 10

// call is one request that was admitted.
type call struct {
	r     *http.Request
	route route
	who   access.Principal
	query url.Values
	body  []byte
}

// path gives a part of the path by its name in the pattern.
func (c *call) path(name string) string { return c.r.PathValue(name) }

// actor is who records name.
func (c *call) actor() control.Actor {
	name := c.who.Name
	if address := access.Address(c.r); address != "" {
		name += "@" + address
	}
	return control.Actor{Name: name, Trigger: "api"}
}

// read takes in the query and the body, and refuses what the route doesn't know: a mistyped name must not change what is done.
func (c *call) read(w http.ResponseWriter) error {
	var err error
	if c.query, err = url.ParseQuery(c.r.URL.RawQuery); err != nil {
		return badInput("query", "The query of the address can't be read.")
	}
	for name, values := range c.query {
		at := slices.IndexFunc(c.route.query, func(p parameter) bool { return p.name == name })
		if at < 0 {
			return badInput("unknown_parameter", fmt.Sprintf("There is no parameter %q here%s.", name, known(c.route.query)))
		}
		if len(values) > 1 {
			return badInput("repeated_parameter", fmt.Sprintf("The parameter %q is given more than once.", name))
		}
		if err := c.route.query[at].check(values[0]); err != nil {
			return err
		}
	}
	return c.readBody(w)
}

func known(parameters []parameter) string {
	if len(parameters) == 0 {
		return ", nor any other"
	}
	names := make([]string, len(parameters))
	for i, p := range parameters {
		names[i] = p.name
	}
	return ": use " + strings.Join(names, ", ")
}

func (c *call) readBody(w http.ResponseWriter) error {
	var err error
	c.body, err = io.ReadAll(http.MaxBytesReader(w, c.r.Body, maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return &Problem{Status: http.StatusRequestEntityTooLarge, Code: "too_large", Detail: fmt.Sprintf("The body has more than %d bytes.", maxBody)}
	}
	if err != nil {
		return badInput("body", "The body could not be read.")
	}
	if len(bytes.TrimSpace(c.body)) == 0 {
		c.body = nil
		return nil
	}
	if c.route.body == nil {
		return badInput("body", "This takes no body.")
	}
	// A form of another web page can't send JSON.
	if kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type")); err != nil || kind != jsonType {
		return &Problem{Status: http.StatusUnsupportedMediaType, Code: "media_type", Detail: "The body has to be JSON: Content-Type: application/json."}
	}
	return nil
}

// decode reads the body. None at all is the same as {}.
func decode[T any](c *call) (T, error) {
	var value T
	if c.body == nil {
		return value, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(c.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&value); err != nil {
		return value, badBody(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return value, badInput("json", "The body holds more than one JSON document.")
	}
	return value, nil
}

// badBody says what is wrong with a body, by the name of the field where there is one.
func badBody(err error) error {
	if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
		return badInput("unknown_field", "There is no field "+name+" here.")
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		where := "The body"
		if wrong.Field != "" {
			where = fmt.Sprintf("The field %q", wrong.Field)
		}
		return badInput("field_type", fmt.Sprintf("%s can't be a %s.", where, wrong.Value))
	}
	return badInput("json", "The body is no JSON.")
}

// text gives a parameter of the query; empty when it isn't there.
func (c *call) text(name string) string { return c.query.Get(name) }

// flag gives a parameter that is true or false; false when it isn't there.
func (c *call) flag(name string) bool { return c.query.Get(name) == "true" }

// number gives a parameter that is a number, or another one when it isn't there.
func (c *call) number(name string, fallback int) int {
	n, err := strconv.Atoi(c.query.Get(name))
	if err != nil { // it isn't there: what is there was checked
		return fallback
	}
	return n
}
