package text

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"
)

// maxMetaDepth bounds nested metadata. Deeper values are written out as a
// string: nobody reads them as data, and recursion needs an end.
const maxMetaDepth = 32

// CleanMeta returns a copy of meta that can be marshalled and stored as jsonb:
// keys and strings are cleaned, maps get string keys, times become RFC 3339
// (a bare date stays a date), and NaN and infinities become their names.
// Cleaning has to come before marshalling, since a NUL is written as the six
// characters \u0000 afterwards, which Postgres refuses just the same.
// The result is never nil.
func CleanMeta(meta map[string]any) map[string]any {
	out := make(map[string]any, len(meta))
	for _, key := range sortedKeys(meta) {
		out[Clean(key)] = cleanValue(meta[key], 1)
	}
	return out
}

func cleanValue(value any, depth int) any {
	if depth > maxMetaDepth {
		return "…"
	}
	switch v := value.(type) {
	case nil, bool, int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return v
	case string:
		return Clean(v)
	case float64:
		return cleanFloat(v)
	case float32:
		return cleanFloat(float64(v))
	case time.Time:
		return cleanTime(v)
	case json.Number:
		return cleanNumber(v)
	case []byte:
		return Clean(string(v))
	}
	return cleanNested(reflect.ValueOf(value), depth)
}

// cleanNested handles maps and lists of any element type; whatever else a
// caller put in is stored as it prints.
func cleanNested(v reflect.Value, depth int) any {
	switch v.Kind() {
	case reflect.Map:
		return cleanMap(v, depth)
	case reflect.Slice, reflect.Array:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = cleanValue(v.Index(i).Interface(), depth+1)
		}
		return list
	case reflect.String:
		return Clean(v.String())
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return cleanValue(v.Elem().Interface(), depth+1)
	default:
		return Clean(fmt.Sprint(v.Interface()))
	}
}

func cleanMap(v reflect.Value, depth int) map[string]any {
	byName := make(map[string]any, v.Len())
	for iter := v.MapRange(); iter.Next(); {
		byName[fmt.Sprint(iter.Key().Interface())] = iter.Value().Interface()
	}
	out := make(map[string]any, len(byName))
	for _, key := range sortedKeys(byName) {
		out[Clean(key)] = cleanValue(byName[key], depth+1)
	}
	return out
}

// sortedKeys gives two keys that become one by cleaning the same winner in
// every run, so that unchanged metadata never looks like a change.
func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func cleanFloat(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return strconv.FormatFloat(f, 'g', -1, 64)
	}
	return f
}

func cleanNumber(n json.Number) any {
	if json.Valid([]byte(n)) {
		return n
	}
	return Clean(n.String())
}

func cleanTime(t time.Time) string {
	if t.Equal(t.Truncate(24*time.Hour)) && t.Location() == time.UTC {
		return t.Format(time.DateOnly)
	}
	return t.Format(time.RFC3339)
}
