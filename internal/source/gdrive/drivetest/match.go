package drivetest

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

// hasParent is whether an item lies right in a folder; root is the user's My Drive.
func (v *view) hasParent(it *item, parent string) bool {
	if parent == "root" {
		parent = v.s.users[v.email].root
	}
	return slices.Contains(it.parents, parent)
}

// allows is whether somebody was given at least a role on an item.
func (s *Server) allows(it *item, email string, role Role) bool {
	return slices.ContainsFunc(s.grants(it), func(g grant) bool {
		return g.Email == email && g.Role.rank() >= role.rank()
	})
}

// visibility is who may find an item besides those who were named.
func (s *Server) visibility(it *item) string {
	best := "limited"
	for _, g := range s.grants(it) {
		switch {
		case g.Type == "anyone" && g.Discoverable:
			return "anyoneCanFind"
		case g.Type == "anyone":
			best = "anyoneWithLink"
		case g.Type == "domain" && best == "limited":
			best = "domainWithLink"
			if g.Discoverable {
				best = "domainCanFind"
			}
		}
	}
	return best
}

func (v *view) timeOf(it *item, field string) time.Time {
	switch field {
	case "modifiedTime":
		return it.modified
	case "createdTime":
		return it.created
	case "sharedWithMeTime":
		if v.isSharedWith(it) {
			return it.sharedAt[v.email]
		}
	}
	return time.Time{}
}

// tokens are the words of a text, in lower case.
func tokens(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// hasPrefixes is whether each word that is looked for is the beginning of a word of a name.
func hasPrefixes(name, wanted string) bool {
	words := tokens(name)
	looked := tokens(wanted)
	for _, want := range looked {
		if !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, want) }) {
			return false
		}
	}
	return len(looked) > 0
}

// mentions is whether a file has whole words in its name, its description or its text: all of them, or in their order when they
// are in double quotes.
func (i *item) mentions(wanted string) bool {
	words := tokens(i.name + " " + i.description + " " + i.text())
	phrase := len(wanted) > 1 && strings.HasPrefix(wanted, `"`) && strings.HasSuffix(wanted, `"`)
	looked := tokens(wanted)
	if phrase {
		return strings.Contains(" "+strings.Join(words, " ")+" ", " "+strings.Join(looked, " ")+" ")
	}
	for _, want := range looked {
		if !slices.Contains(words, want) {
			return false
		}
	}
	return len(looked) > 0
}

// text is what a search looks through.
func (i *item) text() string {
	if _, isBlob := i.content.(*blob); i.content == nil || isBlob && !strings.HasPrefix(i.mime, "text/") {
		return ""
	}
	return i.content.words()
}
