package extract

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// wordNumbering counts the lists of a document as Word does. Several lists may share one definition, and then count on.
type wordNumbering struct {
	definitions map[string]*listDefinition
	lists       map[string]*wordList
}

// listDefinition says how the levels of a list look, and holds their counters.
type listDefinition struct {
	levels   [maxLevel]listLevel
	counters [maxLevel]int
}

// listLevel is one level of a definition.
type listLevel struct {
	// form is how its number is written, label the text with %1 to %9 for the numbers of the levels.
	form, label string
	start       int
	// goesOn is true when it doesn't begin anew below each item of the level above: articles are counted through all chapters.
	goesOn bool
}

// wordList is a list by its number in the document.
type wordList struct {
	definition string
	// starts are the numbers at which levels begin anew in this list; 0 for those that count on.
	starts  [maxLevel]int
	entered bool
}

// listItem is the place of a paragraph in a list.
type listItem struct {
	level int
	// plain is true when Markdown has the same: a bullet, or a number with a full stop or a bracket. number is 0 for a bullet.
	plain  bool
	number int
	// label is what Word shows in front of the text.
	label string
}

func (n *wordNumbering) read(w *walker, _ xml.StartElement) error {
	n.definitions, n.lists = map[string]*listDefinition{}, map[string]*wordList{}
	return w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "abstractNum":
			d := &listDefinition{}
			n.definitions[attribute(e, "abstractNumId")] = d
			return w.each(func(e xml.StartElement) error { return d.read(w, e) })
		case "num":
			l := &wordList{}
			n.lists[attribute(e, "numId")] = l
			return w.each(func(e xml.StartElement) error { return l.read(w, e) })
		default:
			return w.Skip()
		}
	})
}

// levelOf is the level that an element is about, from 0.
func levelOf(e xml.StartElement) int {
	n, _ := strconv.Atoi(attribute(e, "ilvl"))
	return min(max(0, n), maxLevel-1)
}

func (d *listDefinition) read(w *walker, e xml.StartElement) error {
	if e.Name.Local != "lvl" {
		return w.Skip()
	}
	at := levelOf(e)
	level := &d.levels[at]
	// What isn't said is what Word shows: 1., 2., 3.
	*level = listLevel{form: "decimal", label: "%" + strconv.Itoa(at+1) + ".", start: 1}
	return w.each(func(e xml.StartElement) error {
		switch e.Name.Local {
		case "start":
			level.start = numberOf(e)
		case "numFmt":
			level.form = attribute(e, "val")
		case "lvlText":
			level.label = attribute(e, "val")
		case "lvlRestart":
			level.goesOn = attribute(e, "val") == "0"
		}
		return w.Skip()
	})
}

func (l *wordList) read(w *walker, e xml.StartElement) error {
	switch e.Name.Local {
	case "abstractNumId":
		l.definition = attribute(e, "val")
	case "lvlOverride":
		start := &l.starts[levelOf(e)]
		return w.each(func(e xml.StartElement) error {
			if e.Name.Local == "startOverride" {
				*start = numberOf(e)
			}
			return w.Skip()
		})
	}
	return w.Skip()
}

// next counts a paragraph of a list. It is false for one that shows no number.
func (n *wordNumbering) next(id string, level int) (listItem, bool) {
	l := n.lists[id]
	if l == nil || n.definitions[l.definition] == nil {
		return listItem{}, false
	}
	d := n.definitions[l.definition]
	if !l.entered {
		l.entered = true
		l.begin(d)
	}
	d.count(level)
	return d.item(level)
}

// begin has the counters of the levels begin anew where the list says so.
func (l *wordList) begin(d *listDefinition) {
	for i, start := range l.starts {
		if start > 0 {
			d.counters[i] = 0
			d.levels[i].start = start
		}
	}
}

// count goes on by one at a level; the levels below it begin anew, but for those that go on.
func (d *listDefinition) count(level int) {
	for i := range level + 1 {
		if d.counters[i] == 0 {
			d.counters[i] = d.levels[i].start
		} else if i == level {
			d.counters[i]++
		}
	}
	for i := level + 1; i < maxLevel; i++ {
		if !d.levels[i].goesOn {
			d.counters[i] = 0
		}
	}
}

// plainEnds are what may stand behind a number that Markdown can show.
var plainEnds = map[string]bool{"": true, ".": true, ")": true, "．": true, "）": true, "、": true}

func (d *listDefinition) item(level int) (listItem, bool) {
	this := d.levels[level]
	item := listItem{level: level}
	switch this.form {
	case "none":
		return listItem{}, false
	case "bullet", "":
		item.plain = true
		return item, true
	}
	end, only := strings.CutPrefix(this.label, "%"+strconv.Itoa(level+1))
	item.plain = only && plainEnds[end] && (this.form == "decimal" || this.form == "decimalFullWidth")
	item.number = d.counters[level]
	item.label = d.labelOf(this.label)
	return item, item.plain || item.label != ""
}

// labelOf fills in the numbers of a label.
func (d *listDefinition) labelOf(label string) string {
	pairs := make([]string, 0, 2*maxLevel)
	for i := range maxLevel {
		pairs = append(pairs, "%"+strconv.Itoa(i+1), numeral(d.counters[i], d.levels[i].form))
	}
	return strings.NewReplacer(pairs...).Replace(label)
}
