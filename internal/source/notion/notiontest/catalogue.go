package notiontest

// References are the ids that some types of blocks need.
type References struct {
	// Page, Database and User are mentioned and linked to.
	Page, Database, User string
	// Original is the synced block that a copy shows.
	Original string
	// File is one of AddFile's.
	File string
}

// EveryBlock gives one block of every type that Notion had in August 2026, and one that is newer.
func EveryBlock(to References) []Block {
	blocks := textBlocks(to)
	blocks = append(blocks, nestedBlocks(to)...)
	blocks = append(blocks, mediaBlocks(to)...)
	return append(blocks, strangeBlocks()...)
}

func textBlocks(to References) []Block {
	return []Block{
		Paragraph(
			Text("Plain, "), Bold("bold"), Text(", "), Span{Text: "italic", Italic: true}, Text(", "),
			Span{Text: "struck", Strikethrough: true}, Text(", "), Span{Text: "code", Code: true}, Text(", "),
			Span{Text: "red", Color: "red"}, Text(" and "), Linked("linked", "https://example.org/a?b=c"), Text("."),
		),
		Paragraph(
			MentionPage(to.Page, "A page"), Text(" "), MentionDatabase(to.Database, "A database"), Text(" "),
			MentionUser(to.User, "Somebody"), Text(" "), MentionDate("2026-12-24"), Text(" "), Equation("E = mc^2"),
		),
		Heading(1, Text("Heading one")),
		Heading(2, Text("Heading two")),
		Heading(3, Text("Heading three")),
		Heading(4, Text("Heading four")),
		Bullet(Text("Bullet")).With(Bullet(Text("Nested bullet"))),
		Numbered(Text("Third")).Set("list_start_index", 3).Set("list_format", "numbers").With(Numbered(Text("Nested number"))),
		Numbered(Text("Fourth")),
		ToDo(true, Text("Done")),
		ToDo(false, Text("Not done")),
		Quote(Text("Quoted\non two lines")),
		Callout("💡", Text("Called out")).With(Paragraph(Text("Inside the callout"))),
		Code("go", "fmt.Println(\"```\")\n"),
		TeX(`\int_0^1 x\,dx`),
		Divider(),
		Of("breadcrumb", Object{}),
		Of("table_of_contents", Object{"color": "gray"}),
	}
}

func nestedBlocks(to References) []Block {
	return []Block{
		Toggle(Text("Toggle")).With(Paragraph(Text("Inside the toggle"))),
		ToggleHeading(2, Text("Toggle heading")).With(Paragraph(Text("Inside the heading"))),
		Table(
			[][]Span{{Text("Name")}, {Text("Value")}},
			[][]Span{{Text("a|b")}, {Text("two\nlines")}},
			[][]Span{{Bold("empty")}, {}},
		),
		Columns([]Block{Paragraph(Text("Left"))}, []Block{Paragraph(Text("Right"))}),
		Of("tab", Object{}, Paragraph(Text("First tab")).With(Paragraph(Text("Inside the tab")))),
		Synced(Paragraph(Text("Synced"))),
		SyncedCopy(to.Original),
		written("template", []Span{Text("Template")}).With(ToDo(false, Text("Inside the template"))),
		Of(
			"meeting_notes", Object{"title": richText(titled("Weekly")), "status": "notes_ready"},
			Heading(3, Text("Summary")), Paragraph(Text("What was said")),
		),
	}
}

func mediaBlocks(to References) []Block {
	return []Block{
		Bookmark("https://example.org/bookmark", Text("A bookmark")),
		Of("embed", Object{"url": "https://example.org/embed", "caption": []any{}}),
		Of("link_preview", Object{"url": "https://example.org/preview"}),
		Uploaded("image", to.File, Text("A picture")),
		External("image", "https://example.org/picture.png"),
		External("video", "https://example.org/film.mp4"),
		External("audio", "https://example.org/sound.mp3"),
		Uploaded("pdf", to.File),
		Uploaded("file", to.File, Text("A file")).Set("name", "file.bin"),
		LinkToPage(to.Page),
		Of("link_to_page", Object{"type": "database_id", "database_id": to.Database}),
	}
}

func strangeBlocks() []Block {
	return []Block{
		Of("unsupported", Object{"block_type": "form"}),
		Of("unsupported", Object{"block_type": "button"}, Paragraph(Text("Inside the unsupported"))),
		Of("hologram", Object{"rich_text": richText(titled("From the future"))}, Paragraph(Text("Inside the unknown"))),
	}
}
