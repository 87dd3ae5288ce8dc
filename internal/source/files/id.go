package files

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A segment of a source id is the file's name as it is, byte for byte: two names that differ only in their Unicode normal
// form are two pages. Names that can't be stored or printed (invalid UTF-8, control characters) are escaped. escapeMark says
// so, and names that happen to begin with it are escaped too, so that no escaped name can equal another file's plain one.
const escapeMark = "%~"

// hashMark starts a segment that stands for a name too long to be part of an id. No escaped name looks like this, since
// those always hold a percent sign after the mark.
const hashMark = escapeMark + "#"

// maxIDBytes bounds a source id, so that it fits an index row (2.7 kB in Postgres) and a cursor fits its 4 KiB. Only
// hashMark segments go past it, by less than 40 bytes.
const maxIDBytes = 1900

// hashBytes is how much of a SHA-256 tells the long names in one directory apart.
const hashBytes = 16

const upperHex = "0123456789ABCDEF"

// needsEscape reports whether a name holds what can't stand in an id or in front of people.
func needsEscape(name string) bool {
	for i := 0; i < len(name); {
		r, size := rune(name[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(name[i:])
		}
		if strange(r, size) {
			return true
		}
		i += size
	}
	return false
}

func strange(r rune, size int) bool {
	return unicode.IsControl(r) || (r == utf8.RuneError && size == 1)
}

// encodeName turns one file name into one segment of a source id. It is injective, and decodeName is its inverse.
func encodeName(name string) string {
	if !needsEscape(name) && !strings.HasPrefix(name, escapeMark) {
		return name
	}
	var b strings.Builder
	b.WriteString(escapeMark)
	for i := 0; i < len(name); {
		r, size := utf8.DecodeRuneInString(name[i:])
		if r == '%' || strange(r, size) {
			escapeBytes(&b, name[i:i+size])
		} else {
			b.WriteString(name[i : i+size])
		}
		i += size
	}
	return b.String()
}

func escapeBytes(b *strings.Builder, raw string) {
	for i := range len(raw) {
		b.WriteByte('%')
		b.WriteByte(upperHex[raw[i]>>4])
		b.WriteByte(upperHex[raw[i]&0xF])
	}
}

// decodeName is the inverse of encodeName. It refuses every segment that encodeName wouldn't have written, so that a file
// has exactly one id.
func decodeName(segment string) (string, bool) {
	name, ok := segment, true
	if rest, escaped := strings.CutPrefix(segment, escapeMark); escaped {
		name, ok = unescape(rest)
	}
	if !ok || !isFileName(name) || encodeName(name) != segment {
		return "", false
	}
	return name, true
}

func isFileName(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00")
}

func unescape(s string) (string, bool) {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "%")
		b.WriteString(before)
		if !found {
			return b.String(), true
		}
		if len(after) < 2 {
			return "", false
		}
		raw, err := hex.DecodeString(after[:2])
		if err != nil {
			return "", false
		}
		b.Write(raw)
		s = after[2:]
	}
}

// nameOf turns a source id into the slash-separated path to open below the root.
func nameOf(id string) (string, bool) {
	segments := strings.Split(id, "/")
	for i, segment := range segments {
		name, ok := decodeName(segment)
		if !ok {
			return "", false
		}
		segments[i] = name
	}
	return strings.Join(segments, "/"), true
}

// idOf turns a slash-separated path below the root into its source id.
func idOf(name string) string {
	segments := strings.Split(name, "/")
	for i, segment := range segments {
		segments[i] = encodeName(segment)
	}
	return strings.Join(segments, "/")
}

// segmentBelow gives the id segment of a file in the container with the given id; long when only a hash of it fits.
func segmentBelow(parentID, name string) (segment string, long bool) {
	segment = encodeName(name)
	if len(parentID)+1+len(segment) <= maxIDBytes {
		return segment, false
	}
	return hashName(name), true
}

func hashName(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hashMark + hex.EncodeToString(sum[:hashBytes])
}

// isHashed reports whether a source id ends in the hash of a name that was too long.
func isHashed(id string) bool {
	sum, marked := strings.CutPrefix(path.Base(id), hashMark)
	raw, err := hex.DecodeString(sum)
	return marked && err == nil && len(raw) == hashBytes
}

// parentOf gives the id of the container; empty directly below the root.
func parentOf(id string) string {
	if i := strings.LastIndexByte(id, '/'); i >= 0 {
		return id[:i]
	}
	return ""
}

// childOf joins a container's id (empty for the root) and a segment.
func childOf(parentID, segment string) string {
	if parentID == "" {
		return segment
	}
	return parentID + "/" + segment
}

// printable is a name as people may see it: what can't be printed becomes the replacement character.
func printable(name string) string {
	if !needsEscape(name) {
		return name
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, name)
}
