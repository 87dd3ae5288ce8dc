package report

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
)

// UpdateFile puts the sections that were measured into the figures of a file, in the place of their former selves, and leaves all
// others as they are. Its facts stay too: sections that were measured alone say themselves when.
func (r *Report) UpdateFile(path string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	_, rest, begins := bytes.Cut(old, []byte(Begin))
	figures, _, ends := bytes.Cut(rest, []byte(End))
	if !begins || !ends {
		return fmt.Errorf("write the figures into %s: %w", path, errNoMarkers)
	}
	parts := split(string(figures))
	for _, section := range r.Sections {
		if section.Missing == "" {
			parts = put(parts, section)
		}
	}
	text, _ := between(old, []byte(strings.TrimSpace(strings.Join(parts, ""))+"\n"))
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	return nil
}

const (
	heading      = "\n### "
	targetsTitle = "The targets"
)

// split cuts the figures before each heading.
func split(figures string) []string {
	pieces := strings.Split(figures, heading)
	for i := range pieces[1:] {
		pieces[i+1] = heading + pieces[i+1]
	}
	return pieces
}

func titled(part, title string) bool { return strings.HasPrefix(part, heading+title+"\n") }

// put replaces a section, or puts it at the end, and its rows with targets among those of all.
func put(parts []string, section Section) []string {
	var text strings.Builder
	section.write(&text)
	at := slices.IndexFunc(parts, func(part string) bool { return titled(part, section.Title) })
	var former string
	if at < 0 {
		// What was last ends in a blank line, which now stands between the two.
		parts[len(parts)-1] = strings.TrimRight(parts[len(parts)-1], "\n") + "\n"
		parts = append(parts, text.String())
	} else {
		former, parts[at] = parts[at], text.String()
	}
	for i, part := range parts {
		if titled(part, targetsTitle) {
			parts[i] = retarget(part, former, section)
		}
	}
	return parts
}

// retarget takes the rows of a section's former self out of the targets, and puts the new ones there.
func retarget(targets, former string, section Section) string {
	lines := strings.Split(strings.TrimRight(targets, "\n"), "\n")
	lines = slices.DeleteFunc(lines, func(row string) bool {
		isHead := strings.HasPrefix(row, "| measure ") || strings.HasPrefix(row, "| --- ")
		isFormer := strings.HasPrefix(row, "| ") && !isHead && strings.Contains(former, "\n"+row+"\n")
		return isFormer || strings.HasPrefix(row, "| "+section.Title+" | not measured |")
	})
	var rows strings.Builder
	for _, row := range section.Rows {
		if row.Target != "" {
			line(&rows, row.cells())
		}
	}
	return strings.Join(lines, "\n") + "\n" + rows.String()
}
