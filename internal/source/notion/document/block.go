package document

import (
	"encoding/json"
	"fmt"
	"time"
)

// Missing says why a block's children, or a whole item of a list, could not be read.
type Missing string

// The reasons. Unshared and error count as unreadable in the Report, limit and depth as truncated.
const (
	MissingUnshared Missing = "unshared"
	MissingLimit    Missing = "limit"
	MissingDepth    Missing = "depth"
	MissingError    Missing = "error"
)

// Block is one block as Notion sent it. Its type may be one that nobody knew when this was written.
type Block struct {
	ID string
	// Type is Notion's word, such as "heading_1"; empty for a partial object that has none.
	Type        string
	HasChildren bool
	// InTrash is true under either of Notion's words for it, in_trash or archived.
	InTrash bool
	// LastEdited is cut to the minute by Notion; zero when it can't be read.
	LastEdited time.Time
	// Payload is the member that bears the type's name, not decoded; nil when there is none.
	Payload json.RawMessage
	// BlockType is what an "unsupported" block really is, in Notion's word; empty when it isn't told.
	BlockType string
	// Children is filled by the caller. Nil means that they were not read, empty that there are none.
	Children []*Block
	// Missing is set by the caller when the children could not be read, or not all of them.
	Missing Missing
}

// DecodeBlock reads one block. It errs only when raw is not a JSON object; a member of an unexpected type is treated as
// absent.
func DecodeBlock(raw json.RawMessage) (Block, error) {
	f, err := decodeFields(raw)
	if err != nil {
		return Block{}, fmt.Errorf("read a block: %w", err)
	}
	b := Block{
		ID:          f.text("id"),
		Type:        f.text("type"),
		HasChildren: f.flag("has_children"),
		InTrash:     f.flag("in_trash") || f.flag("archived"),
		LastEdited:  decodeTime(f["last_edited_time"]),
	}
	if b.Type != "" && f.has(b.Type) {
		b.Payload = f[b.Type]
	}
	if b.Type == typeUnsupported {
		if payload, err := decodeFields(b.Payload); err == nil {
			b.BlockType = payload.text("block_type")
		}
	}
	return b, nil
}

// DecodeBlocks reads the results of a list. An item that can't be read keeps its place as a block without a type whose
// Missing is MissingError, so that it is seen and counted and spoils no other.
func DecodeBlocks(results []json.RawMessage) []*Block {
	blocks := make([]*Block, len(results))
	for i, raw := range results {
		b, err := DecodeBlock(raw)
		if err != nil {
			b = Block{Payload: raw, Missing: MissingError}
		}
		blocks[i] = &b
	}
	return blocks
}
