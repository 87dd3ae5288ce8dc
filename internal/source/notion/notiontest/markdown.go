package notiontest

import (
	"regexp"
	"strings"
)

// The beginnings of lines by which Markdown's blocks are known.
var (
	headingLine = regexp.MustCompile(`^(#{1,6})\s+(.*?)\s*#*$`)
	ruleLine    = regexp.MustCompile(`^ {0,3}([-*_])( *[-*_]){2,}\s*$`)
	fenceLine   = regexp.MustCompile("^ {0,3}(```+|~~~+)\\s*([^`\\s]*)[^`]*$")
	itemLine    = regexp.MustCompile(`^( *)([-*+]|\d{1,9}[.)])( +)(.*)$`)
	taskText    = regexp.MustCompile(`^\[([ xX])\]\s+(.*)$`)
	tableRule   = regexp.MustCompile(`^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$`)
	imageLine   = regexp.MustCompile(`^!\[([^\]]*)\]\(([^)\s]+)[^)]*\)$`)
)

// parser turns lines of Markdown into blocks.
type parser struct {
	lines []string
	at    int
	link  func(string) string
}

// markdown turns the Markdown of a page into blocks; link changes the addresses of links, and may be nil.
func markdown(text string, link func(string) string) []Block {
	p := &parser{lines: strings.Split(text, "\n"), link: link}
	var blocks []Block
	for p.at < len(p.lines) {
		if strings.TrimSpace(p.lines[p.at]) == "" {
			p.at++
			continue
		}
		blocks = append(blocks, p.block())
	}
	return blocks
}

// block reads one block from a line that isn't blank. Every branch takes at least that line.
func (p *parser) block() Block {
	line := p.lines[p.at]
	switch {
	case fenceLine.MatchString(line):
		return p.code()
	case headingLine.MatchString(line):
		p.at++
		found := headingLine.FindStringSubmatch(line)
		return Heading(min(len(found[1]), 4), p.spans(found[2])...)
	case ruleLine.MatchString(line):
		p.at++
		return Divider()
	case strings.HasPrefix(line, ">"):
		return p.quote()
	case itemLine.MatchString(line):
		return p.item()
	case p.atTable():
		return p.table()
	case imageLine.MatchString(line):
		p.at++
		found := imageLine.FindStringSubmatch(line)
		return External("image", found[2], p.spans(found[1])...)
	default:
		return p.paragraph()
	}
}

func (p *parser) spans(text string) []Span { return inline(text, p.link) }

// code reads a fenced block, up to its closing fence or the end.
func (p *parser) code() Block {
	found := fenceLine.FindStringSubmatch(p.lines[p.at])
	fence, language := found[1], withDefault(found[2], "plain text")
	p.at++
	var lines []string
	for p.at < len(p.lines) {
		line := p.lines[p.at]
		p.at++
		if closing := strings.TrimSpace(line); strings.HasPrefix(closing, fence) && strings.Trim(closing, fence[:1]) == "" {
			break
		}
		lines = append(lines, line)
	}
	return Code(language, strings.Join(lines, "\n"))
}

// quote reads quoted lines. Notion's quote has a text of its own: the first paragraph becomes that, the rest its children.
func (p *parser) quote() Block {
	var lines []string
	for p.at < len(p.lines) && strings.HasPrefix(p.lines[p.at], ">") {
		lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(p.lines[p.at], ">"), " "))
		p.at++
	}
	return leading(Quote(), markdown(strings.Join(lines, "\n"), p.link))
}

// leading makes the first paragraph of some blocks the text of another block, and the others its children.
func leading(b Block, inside []Block) Block {
	if len(inside) > 0 && inside[0].Type == "paragraph" {
		b = b.Set("rich_text", inside[0].Payload["rich_text"])
		inside = inside[1:]
	}
	return b.With(inside...)
}

// item reads one item of a list with what is indented below it.
func (p *parser) item() Block {
	found := itemLine.FindStringSubmatch(p.lines[p.at])
	marker, text := found[2], found[4]
	indent := len(found[1]) + len(marker) + len(found[3])
	block := Bullet()
	if marker[0] >= '0' && marker[0] <= '9' {
		block = Numbered()
	} else if task := taskText.FindStringSubmatch(text); task != nil {
		block, text = ToDo(task[1] != " "), task[2]
	}
	lines := append([]string{text}, p.indented(len(found[1])+1, indent)...)
	return leading(block, markdown(strings.Join(lines, "\n"), p.link))
}

// indented takes the lines that belong to an item: those indented by at least least, and the blank ones between them, without
// up to most of their indent.
func (p *parser) indented(least, most int) []string {
	p.at++
	var lines []string
	for p.at < len(p.lines) {
		line := p.lines[p.at]
		spaces := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case strings.TrimSpace(line) == "" && !p.goesOn(least):
			return lines
		case strings.TrimSpace(line) != "" && spaces < least:
			return lines
		}
		lines = append(lines, line[min(spaces, most):])
		p.at++
	}
	return lines
}

// goesOn is whether the next line that isn't blank is indented by at least so much.
func (p *parser) goesOn(least int) bool {
	for _, line := range p.lines[p.at:] {
		if strings.TrimSpace(line) != "" {
			return len(line)-len(strings.TrimLeft(line, " ")) >= least
		}
	}
	return false
}

func (p *parser) atTable() bool {
	return strings.Contains(p.lines[p.at], "|") && p.at+1 < len(p.lines) &&
		strings.Contains(p.lines[p.at+1], "|") && tableRule.MatchString(p.lines[p.at+1])
}

func (p *parser) table() Block {
	rows := [][][]Span{p.cells(p.lines[p.at])}
	p.at += 2
	for p.at < len(p.lines) && strings.Contains(p.lines[p.at], "|") {
		rows = append(rows, p.cells(p.lines[p.at]))
		p.at++
	}
	return Table(rows...)
}

// cells splits a row at its bars, but not at those behind a backslash.
func (p *parser) cells(line string) [][]Span {
	const bar = "\x00"
	line = strings.ReplaceAll(strings.TrimSpace(line), `\|`, bar)
	line = strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|")
	parts := strings.Split(line, "|")
	cells := make([][]Span, len(parts))
	for i, part := range parts {
		cells[i] = p.spans(strings.ReplaceAll(strings.TrimSpace(part), bar, "|"))
	}
	return cells
}

// paragraph reads lines up to a blank one or the beginning of another block. A line that ends in two spaces or a backslash is
// broken there; others are joined with a space.
func (p *parser) paragraph() Block {
	var text strings.Builder
	for {
		line := p.lines[p.at]
		p.at++
		hard := strings.HasSuffix(line, "  ") || strings.HasSuffix(line, `\`)
		text.WriteString(strings.TrimSuffix(strings.TrimSpace(line), `\`))
		if p.at == len(p.lines) || p.interrupted() {
			return Paragraph(p.spans(text.String())...)
		}
		if hard {
			text.WriteByte('\n')
		} else {
			text.WriteByte(' ')
		}
	}
}

func (p *parser) interrupted() bool {
	line := p.lines[p.at]
	return strings.TrimSpace(line) == "" || strings.HasPrefix(line, ">") || headingLine.MatchString(line) ||
		fenceLine.MatchString(line) || ruleLine.MatchString(line) || itemLine.MatchString(line)
}
