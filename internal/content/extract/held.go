package extract

import (
	"errors"
	"io"
)

// blockSize is the piece in which a file is held.
const blockSize = 1 << 20

// held is a file in the child's memory. It grows by blocks rather than by moving to a larger place, which would take twice its
// size for a moment.
type held struct {
	blocks [][]byte
	size   int64
}

func hold(file []byte) *held {
	h := &held{}
	_, _ = h.Write(file) // never fails
	return h
}

// Write adds to the end of the file. It never fails.
func (h *held) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		last := len(h.blocks) - 1
		if last < 0 || len(h.blocks[last]) == blockSize {
			h.blocks = append(h.blocks, nil)
			last++
		}
		fits := min(len(p), blockSize-len(h.blocks[last]))
		h.blocks[last] = append(h.blocks[last], p[:fits]...)
		p = p[fits:]
	}
	h.size += int64(written)
	return written, nil
}

// ReadAt reads from a place in the file.
func (h *held) ReadAt(p []byte, from int64) (int, error) {
	if from < 0 {
		return 0, errors.New("read before the beginning of a file")
	}
	read := 0
	for read < len(p) && from < h.size {
		n := copy(p[read:], h.blocks[from/blockSize][from%blockSize:])
		read += n
		from += int64(n)
	}
	if read < len(p) {
		return read, io.EOF
	}
	return read, nil
}

// reader reads the file from its beginning.
func (h *held) reader() *io.SectionReader { return io.NewSectionReader(h, 0, h.size) }

// bytes gives the whole file in one piece, which takes as much memory again.
func (h *held) bytes() []byte {
	whole := make([]byte, h.size)
	_, _ = h.ReadAt(whole, 0) // reads all of it
	return whole
}

// begins tells whether the file begins with these bytes.
func (h *held) begins(opening string) bool {
	head := make([]byte, len(opening))
	n, _ := h.ReadAt(head, 0) // a shorter file begins otherwise
	return string(head[:n]) == opening
}
