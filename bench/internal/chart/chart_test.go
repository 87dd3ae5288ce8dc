package chart_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/bench/internal/chart"
)

var panels = []chart.Panel{
	{Title: "Seconds of a delete", Bars: []chart.Bar{{"a queue & its line", 101.3}, {"named", 0.84}}},
	{Title: "Reads", Bars: []chart.Bar{{"a queue & its line", 50}, {"named", 1}, {"none", 0}}},
}

func TestChart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "chart.svg")
	require.NoError(t, chart.WriteFile(path, panels))
	svg, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Less(t, len(svg), 30_000, "a small file")

	var texts []string
	decoder, inText := xml.NewDecoder(bytes.NewReader(svg)), false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err, "it is well formed")
		switch part := token.(type) {
		case xml.StartElement:
			inText = part.Name.Local == "text"
		case xml.CharData:
			if inText {
				texts = append(texts, string(part))
			}
		case xml.EndElement:
			inText = false
		}
	}
	for _, text := range []string{"Seconds of a delete", "Reads", "a queue & its line", "named", "101", "0.84", "50", "1"} {
		assert.Contains(t, texts, text)
	}
}

func TestFigure(t *testing.T) {
	t.Parallel()
	for value, want := range map[float64]string{0: "0", 1: "1", 0.844: "0.84", 12.34: "12.3", 101.6: "102", 2000: "2000"} {
		assert.Equal(t, want, chart.Figure(value))
	}
}
