package terms

import "strings"

// stem returns how much of an English word is its stem. The rules are few on
// purpose: they take off plurals, -ing, -ed, a doubled consonant and a silent e
// or y, and both sides of a search go through the same ones, so that a stem need
// not be a word ("policies" and "policy" are "polic"). A word with a letter
// outside a to z stays whole.
func stem(word string) int {
	if len(word) < 4 || len(word) > 32 || !plainLetters(word) {
		return len(word)
	}
	s := plural(word)
	s = suffix(s)
	return len(ending(s))
}

func plainLetters(word string) bool {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return false
		}
	}
	return true
}

func plural(s string) string {
	switch {
	case !strings.HasSuffix(s, "s"), strings.HasSuffix(s, "ss"),
		strings.HasSuffix(s, "us"), strings.HasSuffix(s, "is"):
		return s
	case strings.HasSuffix(s, "ies") && len(s) > 4:
		return s[:len(s)-2] // the i falls in ending, as the y of the singular does
	case hasAnySuffix(s, "xes", "ches", "shes", "sses", "zzes"):
		return s[:len(s)-2]
	default:
		return s[:len(s)-1]
	}
}

func suffix(s string) string {
	for _, end := range []string{"ing", "ed"} {
		base := strings.TrimSuffix(s, end)
		if base != s && len(base) >= 3 && strings.ContainsAny(base, "aeiouy") && !strings.HasSuffix(s, "eed") {
			return base
		}
	}
	return s
}

// ending takes off what varies once the suffix is gone: make and mak(ing),
// plan and plann(ed), apply and appli(ed).
func ending(s string) string {
	n := len(s)
	if n > 3 && (s[n-1] == 'e' || s[n-1] == 'y' || s[n-1] == 'i') {
		s, n = s[:n-1], n-1
	}
	if n > 3 && s[n-1] == s[n-2] && !strings.ContainsRune("aeiou", rune(s[n-1])) {
		return s[:n-1]
	}
	return s
}

func hasAnySuffix(s string, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}

// stopWords are left out of queries and of the lexical embedding. Words that can
// be looked for, such as "will" or "may", aren't among them.
var stopWords = set(`a about an and any are as at be been but by can could did do does for from had has have how i
	if in into is it its me my no not of on or our so such than that the their them then there these they this to
	us was we were what when where which who why with would you your`)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		out[word] = true
	}
	return out
}
