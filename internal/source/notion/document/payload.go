package document

import "encoding/json"

// Notion's words for types that more than one place needs.
const (
	typeUnsupported = "unsupported"
	typeTitle       = "title"
	typeBulleted    = "bulleted_list_item"
	typeNumbered    = "numbered_list_item"
	typeToDo        = "to_do"
	typeTableRow    = "table_row"
	typeTab         = "tab"
)

// payload is every member that any type of block is known to have. One struct for all types costs less than it looks: what
// a type doesn't have stays empty.
type payload struct {
	RichText []textRun `json:"rich_text"`
	// Text is what rich_text was called before 2022; template mentions and others use the word for a string.
	Text    json.RawMessage `json:"text"`
	Caption []textRun       `json:"caption"`
	// Title is a string for child pages and rich text for meeting notes.
	Title json.RawMessage `json:"title"`

	Checked        bool   `json:"checked"`
	IsToggleable   bool   `json:"is_toggleable"`
	Language       string `json:"language"`
	Expression     string `json:"expression"`
	ListStartIndex int    `json:"list_start_index"`
	ListFormat     string `json:"list_format"`
	Icon           icon   `json:"icon"`

	URL      string     `json:"url"`
	Type     string     `json:"type"`
	Name     string     `json:"name"`
	External fileSource `json:"external"`
	File     fileSource `json:"file"`

	HasColumnHeader bool        `json:"has_column_header"`
	HasRowHeader    bool        `json:"has_row_header"`
	Cells           [][]textRun `json:"cells"`

	SyncedFrom struct {
		BlockID string `json:"block_id"`
	} `json:"synced_from"`

	PageID     string `json:"page_id"`
	DatabaseID string `json:"database_id"`
	CommentID  string `json:"comment_id"`

	// Children holds ids in meeting notes, and whole blocks in requests.
	Children      json.RawMessage `json:"children"`
	CalendarEvent struct {
		StartTime string          `json:"start_time"`
		EndTime   string          `json:"end_time"`
		Attendees json.RawMessage `json:"attendees"`
	} `json:"calendar_event"`
}

// knownTypes are the types whose payload this package understands.
var knownTypes = setOf(
	"paragraph", "heading_1", "heading_2", "heading_3", "heading_4", typeBulleted, typeNumbered, typeToDo, "toggle", "template",
	"quote", "callout", "code", "equation", "divider", "breadcrumb", "table_of_contents", "column_list", "column", typeTab,
	"synced_block", "meeting_notes", "transcription", "table", typeTableRow, "child_page", "child_database", "link_to_page",
	"bookmark", "embed", "link_preview", "image", "video", "pdf", "file", "audio",
)

func setOf(words ...string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}

type fileSource struct {
	URL string `json:"url"`
}

type icon struct {
	Type        string `json:"type"`
	Emoji       string `json:"emoji"`
	CustomEmoji struct {
		Name string `json:"name"`
	} `json:"custom_emoji"`
}

// sign is the icon as text; icons that are pictures have none.
func (i icon) sign() string {
	switch {
	case i.Emoji != "":
		return tidyText(i.Emoji)
	case i.CustomEmoji.Name != "":
		return ":" + tidyText(i.CustomEmoji.Name) + ":"
	}
	return ""
}
