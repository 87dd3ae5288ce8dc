package notiontest

import "net/http"

// version is a version of the API, in the order of their dates.
type version int

const (
	v2022 version = iota + 1
	v2025
	v2026
)

// Versions are what the header Notion-Version may say, oldest first.
func Versions() []string { return []string{"2022-06-28", "2025-09-03", "2026-03-11"} }

func (v version) String() string { return Versions()[v-1] }

func versionOf(h http.Header) (version, error) {
	name := h.Get("Notion-Version")
	if name == "" {
		return 0, &apiError{
			status: http.StatusBadRequest, code: "missing_version",
			message: "Notion-Version header should be defined, instead was `undefined`.",
		}
	}
	for i, known := range Versions() {
		if name == known {
			return version(i + 1), nil
		}
	}
	return 0, invalid("Notion-Version header failed validation: %q is not a version of this API.", name)
}
