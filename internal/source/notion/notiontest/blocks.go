package notiontest

import (
	"fmt"
	"maps"
	"slices"
)

// Block is a block that is to be written: its type, what the API shows under the type's name, and the blocks inside it. An
// empty type makes the partial object that Notion documents for what the integration may not see: an id and nothing else.
type Block struct {
	Type     string
	Payload  Object
	Children []Block
}

// With gives the block with children added to it.
func (b Block) With(children ...Block) Block {
	b.Children = append(slices.Clip(b.Children), children...)
	return b
}

// Set gives the block with one field of its payload set, such as a color.
func (b Block) Set(field string, value any) Block {
	b.Payload = maps.Clone(b.Payload)
	if b.Payload == nil {
		b.Payload = Object{}
	}
	b.Payload[field] = value
	return b
}

// Of is a block of any type, known to Notion or not.
func Of(typ string, payload Object, children ...Block) Block {
	return Block{Type: typ, Payload: payload, Children: children}
}

// written is a block whose text is rich text.
func written(typ string, text []Span) Block {
	return Of(typ, Object{"rich_text": richText(text), "color": "default"})
}

// Paragraph is a paragraph.
func Paragraph(text ...Span) Block { return written("paragraph", text).Set("icon", nil) }

// Heading is a heading of level 1 to 4.
func Heading(level int, text ...Span) Block {
	return written(fmt.Sprintf("heading_%d", level), text).Set("is_toggleable", false)
}

// ToggleHeading is a heading that opens and closes what is inside it.
func ToggleHeading(level int, text ...Span) Block {
	return Heading(level, text...).Set("is_toggleable", true)
}

// Bullet is an item of a bulleted list.
func Bullet(text ...Span) Block { return written("bulleted_list_item", text) }

// Numbered is an item of a numbered list.
func Numbered(text ...Span) Block { return written("numbered_list_item", text) }

// ToDo is an item with a box that is ticked or not.
//
//nolint:godox // that is what Notion calls it
func ToDo(done bool, text ...Span) Block { return written("to_do", text).Set("checked", done) }

// Toggle opens and closes what is inside it.
func Toggle(text ...Span) Block { return written("toggle", text) }

// Quote is a quotation.
func Quote(text ...Span) Block { return written("quote", text) }

// Callout is a box with an emoji.
func Callout(emoji string, text ...Span) Block {
	return written("callout", text).Set("icon", Emoji(emoji))
}

// Code is a code block in one of the languages that Notion names.
func Code(language, text string) Block {
	return Of("code", Object{"caption": []any{}, "rich_text": richText(titled(text)), "language": language})
}

// TeX is an equation that stands alone.
func TeX(expression string) Block { return Of("equation", Object{"expression": expression}) }

// Divider is a line across the page.
func Divider() Block { return Of("divider", Object{}) }

// Table is a table of rows of cells. The first row is its header.
func Table(rows ...[][]Span) Block {
	width := 0
	for _, row := range rows {
		width = max(width, len(row))
	}
	table := Of("table", Object{"table_width": width, "has_column_header": true, "has_row_header": false})
	for _, row := range rows {
		cells := make([]any, width)
		for i := range cells {
			cells[i] = []any{}
			if i < len(row) {
				cells[i] = richText(row[i])
			}
		}
		table.Children = append(table.Children, Of("table_row", Object{"cells": cells}))
	}
	return table
}

// Columns puts blocks side by side.
func Columns(columns ...[]Block) Block {
	list := Of("column_list", Object{})
	for _, blocks := range columns {
		column := Of("column", Object{"width_ratio": 1 / float64(len(columns))}, blocks...)
		list.Children = append(list.Children, column)
	}
	return list
}

// Synced is the original of a synced block.
func Synced(children ...Block) Block {
	return Of("synced_block", Object{"synced_from": nil}, children...)
}

// SyncedCopy shows the children of a synced block that lies elsewhere.
func SyncedCopy(original string) Block {
	return Of("synced_block", Object{"synced_from": Object{"type": "block_id", "block_id": original}})
}

// Bookmark is a link to a web page, as a card.
func Bookmark(url string, caption ...Span) Block {
	return Of("bookmark", Object{"url": url, "caption": richText(caption)})
}

// LinkToPage is a link to a page that stands alone.
func LinkToPage(id string) Block { return Of("link_to_page", Object{"type": "page_id", "page_id": id}) }

// Uploaded is a block of type image, video, audio, pdf or file whose file Notion keeps: its URL is signed anew at every read.
func Uploaded(typ, file string, caption ...Span) Block {
	return Of(typ, Object{"caption": richText(caption), "type": "file", "file": hosted(file)})
}

// External is a block of type image, video, audio, pdf or file whose file lies elsewhere.
func External(typ, url string, caption ...Span) Block {
	return Of(typ, Object{"caption": richText(caption), "type": "external", "external": Object{"url": url}})
}

// Emoji is an icon.
func Emoji(emoji string) Object { return Object{"type": "emoji", "emoji": emoji} }

// UploadedIcon is an icon or cover whose file Notion keeps.
func UploadedIcon(file string) Object { return Object{"type": "file", "file": hosted(file)} }

// hostedKey marks a file that Notion keeps. It never reaches a client: what is sent in its place is a signed URL.
const hostedKey = "\x00hosted"

func hosted(file string) Object { return Object{hostedKey: file} }
