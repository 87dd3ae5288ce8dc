// Package chart draws figures as bars in an SVG file, one panel below the other. It has a white ground of its own, so that it can be
// read on light and on dark pages.
package chart

import (
	"fmt"
	"os"
	"strconv"

	"github.com/go-analyze/charts"
)

// Bar is one figure.
type Bar struct {
	Name  string
	Value float64
}

// Panel is one comparison.
type Panel struct {
	Title string
	Bars  []Bar
}

// In pixels of the picture.
const (
	width       = 760
	titleHeight = 70
	barHeight   = 30
	// room is what a name may be wider than it was measured, where the font that it was measured with is missing.
	room = 28
)

func (p Panel) height() int { return titleHeight + barHeight*len(p.Bars) }

// Draw gives the panels as SVG.
func Draw(panels []Panel) ([]byte, error) {
	height := 0
	for _, panel := range panels {
		height += panel.height()
	}
	painter := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: width, Height: height})
	top := 0
	for _, panel := range panels {
		place := painter.Child(charts.PainterBoxOption(charts.NewBox(0, top, width, top+panel.height())))
		if err := place.BarChart(panel.options()); err != nil {
			return nil, fmt.Errorf("draw %q: %w", panel.Title, err)
		}
		top += panel.height()
	}
	svg, err := painter.Bytes()
	if err != nil {
		return nil, fmt.Errorf("draw a chart: %w", err)
	}
	return svg, nil
}

// options are those of one panel: a bar for each name, with its figure at its end.
func (p Panel) options() charts.BarChartOption {
	names, values := make([]string, len(p.Bars)), make([]float64, len(p.Bars))
	for i, bar := range p.Bars {
		at := len(p.Bars) - 1 - i // the library begins at the bottom
		names[at], values[at] = bar.Name, bar.Value
	}
	options := charts.NewBarChartOptionWithData([][]float64{values})
	options.Theme = charts.GetTheme(charts.ThemeLight)
	options.Horizontal = true
	options.Padding = charts.NewBox(20+room, 16, 60, 12)
	options.CategoryAxis.LabelOffset = charts.OffsetInt{Left: -room}
	options.CategoryAxis.LabelFontStyle = charts.NewFontStyleWithSize(10)
	options.Title = charts.TitleOption{Text: p.Title, FontStyle: charts.NewFontStyleWithSize(12)}
	options.Legend.Show = new(false)
	options.CategoryAxis.Labels = names
	options.ValueAxis[0].Min = new(0.0)
	options.ValueAxis[0].Show = new(false)
	options.SeriesList[0].Label.Show = new(true)
	options.SeriesList[0].Label.ValueFormatter = Figure
	return options
}

// Figure writes a value as short as it can be told from others.
func Figure(value float64) string {
	switch {
	case value == float64(int64(value)) || value >= 100:
		return strconv.FormatFloat(value, 'f', 0, 64)
	case value >= 10:
		return strconv.FormatFloat(value, 'f', 1, 64)
	}
	return strconv.FormatFloat(value, 'f', 2, 64)
}

// WriteFile draws the panels into a file.
func WriteFile(path string, panels []Panel) error {
	svg, err := Draw(panels)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, svg, 0o644); err != nil {
		return fmt.Errorf("write a chart: %w", err)
	}
	return nil
}
