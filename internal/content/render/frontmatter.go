package render

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/loresync/loresync/internal/content/text"
)

const (
	// maxFrontMatter bounds the header's size in bytes.
	maxFrontMatter = 64 << 10
	// maxNodes bounds the values of a header, those that an alias repeats counted
	// each time: a few lines of aliases can stand for billions.
	maxNodes = 10_000
	// maxDepth bounds how deep they are nested.
	maxDepth = 32
)

var errFrontMatter = errors.New("front matter is too large or too deep")

// frontMatter parts source into its header's values and the body. Without a sound
// header all of source is body.
func frontMatter(source string) (meta map[string]any, body string) {
	header, body, ok := cutHeader(source)
	if !ok {
		return map[string]any{}, source
	}
	meta, err := parseHeader(header)
	if err != nil {
		return map[string]any{}, source
	}
	return meta, body
}

// cutHeader looks for a first line of three dashes and the line that ends the
// header: three dashes or three dots.
func cutHeader(source string) (header, body string, ok bool) {
	first, rest, ok := strings.Cut(source, "\n")
	if !ok || strings.TrimRight(first, " \t") != "---" {
		return "", "", false
	}
	for at := 0; at < len(rest) && at <= maxFrontMatter; {
		line, _, _ := strings.Cut(rest[at:], "\n")
		next := min(at+len(line)+1, len(rest))
		switch strings.TrimRight(line, " \t") {
		case "---", "...":
			return rest[:at], rest[next:], at <= maxFrontMatter
		}
		at = next
	}
	return "", "", false
}

// parseHeader returns an error for anything but a mapping, such as a paragraph
// between two thematic breaks.
func parseHeader(header string) (map[string]any, error) {
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(header), &root); err != nil {
		return nil, err //nolint:wrapcheck // only its presence counts
	}
	left := maxNodes
	if err := count(&root, &left, maxDepth); err != nil {
		return nil, err
	}
	var meta map[string]any
	if root.Kind != 0 {
		if err := root.Decode(&meta); err != nil {
			return nil, err //nolint:wrapcheck // only its presence counts
		}
	}
	return text.CleanMeta(meta), nil
}

// count walks what decoding would build, aliases followed, until left is used up.
func count(node *yaml.Node, left *int, depth int) error {
	*left--
	if *left < 0 || depth < 0 {
		return errFrontMatter
	}
	if node.Kind == yaml.AliasNode && node.Alias != nil {
		return count(node.Alias, left, depth-1)
	}
	for _, child := range node.Content {
		if err := count(child, left, depth-1); err != nil {
			return err
		}
	}
	return nil
}
