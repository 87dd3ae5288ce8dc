package extract

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// What parent and child say to each other is frames: a length of four bytes, big end first, and as many bytes. The child
// begins with a greeting. Then, for each file: the parent sends a job (JSON) and the file in pieces, ended by an empty frame
// or given up by a forget mark; the child answers with an empty frame when it begins to parse, and a reply (JSON). The end
// of the child's input ends the child.

const (
	// greeting is the child's first frame. It tells a child from a program that doesn't call ServeChildIfAsked.
	greeting = "loresync extract 1"
	// forget stands in place of a length and takes back the job whose file is being sent.
	forget = ^uint32(0)
	// maxJob bounds the frame of a job, and the frames that carry a file.
	maxJob = 64 << 10
)

var (
	errForgotten = errors.New("the job was taken back")
	errFrame     = errors.New("a frame is longer than it may be")
)

// job is what the child is asked to do with the file that follows.
type job struct {
	Format   format `json:"format"`
	Charset  string `json:"charset"`
	MaxBytes int64  `json:"max_bytes"`
	MaxPages int    `json:"max_pages"`
	MaxRunes int    `json:"max_runes"`
}

// reply is the child's answer to a job.
type reply struct {
	Text       string `json:"text"`
	Pages      int    `json:"pages"`
	Searchable bool   `json:"searchable"`
	Reason     string `json:"reason"`
	Truncated  bool   `json:"truncated"`
	Note       string `json:"note"`
	// Spent is true when the file left the child in no state for another one.
	Spent bool `json:"spent"`
	// Peak is the most memory that the child has had resident so far, in bytes.
	Peak int64 `json:"peak"`
}

func writeFrame(w io.Writer, content []byte) error {
	if err := writeLength(w, uint32(len(content))); err != nil {
		return err
	}
	_, err := w.Write(content)
	return err
}

func writeLength(w io.Writer, length uint32) error {
	_, err := w.Write(binary.BigEndian.AppendUint32(nil, length))
	return err
}

// readFrame reads a frame of at most limit bytes. The other side isn't trusted with the length: a child may be in the hands
// of the file that it parses.
func readFrame(r io.Reader, limit int) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length == forget {
		return nil, errForgotten
	}
	if uint64(length) > uint64(limit) {
		return nil, errFrame
	}
	content := make([]byte, length)
	_, err := io.ReadFull(r, content)
	return content, err
}

func writeJSON(w io.Writer, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode a frame: %w", err)
	}
	return writeFrame(w, content)
}

func readJSON(r io.Reader, limit int, value any) error {
	content, err := readFrame(r, limit)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, value); err != nil {
		return fmt.Errorf("decode a frame: %w", err)
	}
	return nil
}
