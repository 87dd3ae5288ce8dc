package telemetry

import (
	"io"
	"log/slog"
	"os"

	"golang.org/x/term"
)

// Format is how log lines are written.
type Format string

// The formats: text for people, JSON for collectors.
const (
	FormatText Format = "text"
	FormatJSON Format = "json"
)

// NewLogger gives a logger that writes lines of the format, from the level on.
func NewLogger(w io.Writer, format Format, level slog.Leveler) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	if format == FormatJSON {
		return slog.New(slog.NewJSONHandler(w, options))
	}
	return slog.New(slog.NewTextHandler(w, options))
}

// FormatFor is text where a person watches the file, and JSON where a machine collects it.
func FormatFor(file *os.File) Format {
	if term.IsTerminal(int(file.Fd())) {
		return FormatText
	}
	return FormatJSON
}
