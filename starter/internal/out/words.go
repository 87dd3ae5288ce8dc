package out

import (
	"fmt"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/loresync/loresync/internal/knowledge"
)

// Plural is a number with its noun in the right form: "1 page", "2,000 pages", "3 entries".
func Plural(n int64, noun string) string {
	return humanize.Comma(n) + " " + PluralWord(n, noun)
}

// PluralWord is the noun alone, in the form that n asks for.
func PluralWord(n int64, noun string) string {
	switch {
	case n == 1:
		return noun
	case strings.HasSuffix(noun, "y") && !strings.HasSuffix(noun, "ay"):
		return strings.TrimSuffix(noun, "y") + "ies"
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "ch"):
		return noun + "es"
	}
	return noun + "s"
}

// Number is a number with thousands separated.
func Number(n int64) string { return humanize.Comma(n) }

// Ago is a time seen from now: "3 minutes ago", "just now", "in 6 days", or "never".
func (p *Printer) Ago(at *time.Time) string {
	if at == nil || at.IsZero() {
		return "never"
	}
	now := p.now()
	if ahead := at.Sub(now); ahead >= time.Second {
		return "in " + Left(ahead)
	}
	distance := strings.TrimSpace(humanize.RelTime(*at, now, "", ""))
	if distance == "now" {
		return "just now"
	}
	return distance + " ago"
}

// Took is how long something lasted, without digits that nobody reads.
func Took(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

// Left is the time until something happens, in its largest unit: "6 days", "1 hour", "no time". It is rounded: of a week that
// began a moment ago a week is left, not six days.
func Left(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return "no time"
	case d >= 2*day:
		d = d.Round(day)
	case d >= 2*time.Hour:
		d = d.Round(time.Hour)
	case d >= 2*time.Minute:
		d = d.Round(time.Minute)
	}
	start := time.Time{}
	return strings.TrimSpace(humanize.RelTime(start, start.Add(d), "", ""))
}

// Or is a text, or what stands in its place when it is empty.
func Or(content, instead string) string {
	if content == "" {
		return instead
	}
	return content
}

// longestTitle is how many cells of a title a line or a table shows: more pushes everything else out of sight.
const longestTitle = 60

// Title is a title as people read it among other things, cut where it is very long. Programs get the whole one, an empty one too.
func Title(title string) string { return Truncate(WholeTitle(title), longestTitle) }

// WholeTitle is Title where there is room for all of it.
func WholeTitle(title string) string { return Or(Clean(title), knowledge.Untitled) }

// Listing joins words as a sentence does: "a", "a and b", "a, b and c".
func Listing(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return fmt.Sprintf("%s and %s", strings.Join(words[:last], ", "), words[last])
}
