package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// WriteEnvFile writes settings as a file that a POSIX shell can source and ReadEnvFile reads. Only its owner may read it,
// since it holds a token, and a reader sees the old file or the new one, never half of it.
func WriteEnvFile(path string, values map[string]string) error {
	var text strings.Builder
	text.WriteString("# Settings of this deployment, for other processes to join it: set -a; . " + path + "\n")
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !settingName.MatchString(name) {
			return fmt.Errorf("write %s: %q is not the name of a setting", path, name)
		}
		if strings.ContainsAny(values[name], "\n\r\x00") {
			return fmt.Errorf("write %s: the value of %s has more than one line", path, name)
		}
		text.WriteString("export " + name + "='" + strings.ReplaceAll(values[name], "'", `'\''`) + "'\n")
	}
	return replaceFile(path, text.String())
}

func replaceFile(path, text string) error {
	// CreateTemp gives mode 0600.
	file, err := os.CreateTemp(filepath.Dir(path), ".env-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = file.WriteString(text)
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(file.Name()))
	}
	return nil
}

// ReadEnvFile reads lines of NAME=value, with or without export before them, quoted as a POSIX shell would. Nothing is
// expanded: a dollar sign that a shell would replace is an error.
func ReadEnvFile(path string) (map[string]string, error) {
	//nolint:gosec // the path is the operator's own setting
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the settings in %s: %w", path, err)
	}
	values := map[string]string{}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, i+1, err)
		}
		values[name] = value
	}
	return values, nil
}

var (
	errNoAssignment = errors.New("it is not NAME='value'")
	errOpenQuote    = errors.New("a quote is not closed")
	errExpansion    = errors.New("variables and commands are not expanded here: put the value in single quotes")
	errTail         = errors.New("something follows the value: put the value in single quotes")
)

func parseLine(line string) (name, value string, err error) {
	if rest, ok := strings.CutPrefix(line, "export"); ok && strings.TrimLeft(rest, " \t") != rest {
		line = strings.TrimLeft(rest, " \t")
	}
	name, raw, ok := strings.Cut(line, "=")
	if !ok || !settingName.MatchString(name) {
		return "", "", errNoAssignment
	}
	value, err = unquote(raw)
	if err != nil {
		// The value is not repeated: it may be a secret.
		return "", "", fmt.Errorf("the value of %s can't be read: %w", name, err)
	}
	return name, value, nil
}

// unquote reads one word of a shell: pieces in single quotes, in double quotes, escaped or bare, without gaps.
func unquote(raw string) (string, error) {
	var word strings.Builder
	for raw != "" {
		var err error
		switch c := raw[0]; c {
		case '\'':
			piece, rest, ok := strings.Cut(raw[1:], "'")
			if !ok {
				return "", errOpenQuote
			}
			word.WriteString(piece)
			raw = rest
		case '"':
			if raw, err = unquoteDouble(raw[1:], &word); err != nil {
				return "", err
			}
		case '\\':
			if len(raw) < 2 {
				return "", errTail
			}
			word.WriteByte(raw[1])
			raw = raw[2:]
		case ' ', '\t':
			if tail := strings.TrimSpace(raw); tail != "" && tail[0] != '#' {
				return "", errTail
			}
			return word.String(), nil
		case '$', '`':
			return "", errExpansion
		case ';', '&', '|', '<', '>', '(', ')':
			return "", errTail
		default:
			word.WriteByte(c)
			raw = raw[1:]
		}
	}
	return word.String(), nil
}

// unquoteDouble reads up to the closing double quote, and gives what follows it.
func unquoteDouble(raw string, word *strings.Builder) (rest string, err error) {
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; c {
		case '"':
			return raw[i+1:], nil
		case '$', '`':
			return "", errExpansion
		case '\\':
			if i+1 < len(raw) && strings.IndexByte("\\\"$`", raw[i+1]) >= 0 {
				i++
			}
			word.WriteByte(raw[i])
		default:
			word.WriteByte(c)
		}
	}
	return "", errOpenQuote
}
