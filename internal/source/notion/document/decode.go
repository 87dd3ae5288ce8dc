package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/content/text"
)

// fields are the members of a JSON object, still encoded. Keys are compared exactly.
type fields map[string]json.RawMessage

// byteOrderMark precedes some recorded answers; encoding/json refuses it.
var byteOrderMark = []byte("\uFEFF")

// decodeFields reads an object's members. Anything that isn't an object is an error.
func decodeFields(raw json.RawMessage) (fields, error) {
	var f fields
	if err := json.Unmarshal(bytes.TrimPrefix(raw, byteOrderMark), &f); err != nil {
		return nil, fmt.Errorf("decode an object: %w", err)
	}
	if f == nil {
		return nil, errors.New("decode an object: it is null or empty")
	}
	return f, nil
}

// text is a member that is a string, cleaned; "" for all else.
func (f fields) text(key string) string { return decodeText(f[key]) }

// flag is a member that is true.
func (f fields) flag(key string) bool { return string(f[key]) == "true" }

// has reports a member that is there and not null.
func (f fields) has(key string) bool { return !absent(f[key]) }

func absent(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

// decodeText reads a JSON string; "" for all else. Most strings hold no escape and need no decoder.
func decodeText(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return text.Clean(string(raw[1 : len(raw)-1]))
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return ""
	}
	return text.Clean(s)
}

// decodeInto fills v as far as raw fits and reports whether all of it did. encoding/json goes on after a member of another
// type, so that a strange member costs only itself.
func decodeInto(raw json.RawMessage, v any) bool {
	return absent(raw) || json.Unmarshal(raw, v) == nil
}

// decodeTime reads a time of any precision; zero when there is none or it can't be read.
func decodeTime(raw json.RawMessage) time.Time {
	t, err := time.Parse(time.RFC3339, decodeText(raw))
	if err != nil {
		return time.Time{}
	}
	return t
}

// plainID is an id in the form that Notion's links use: 32 lower-case hexadecimal digits for what is a UUID.
func plainID(id string) string { return strings.ToLower(strings.ReplaceAll(id, "-", "")) }
