package extract

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

// What is read of an archive at most. The parts are read as a stream, so the bounds are about time rather than memory: XML is
// parsed at some 20 MB a second.
const (
	maxEntries = 20_000
	maxPart    = 256 << 20
	maxTotal   = 512 << 20
	// maxRatio is what a part may unpack to, times its packed size. Real ones stay below 100; freeRatio bytes are for nothing.
	maxRatio  = 200
	freeRatio = 8 << 20
	// encryptedFlag marks an entry of a ZIP file that needs a password.
	encryptedFlag = 1
)

var (
	errMissing   = errors.New("a part is missing")
	errBomb      = errors.New("a part unpacks to too much")
	errEncrypted = errors.New("the archive is encrypted")
)

// archive is an opened office file: a ZIP file of parts. Their names don't depend on case.
type archive struct {
	parts map[string]*zip.File
	// left is how many bytes may still be unpacked.
	left int64
}

func openArchive(file *held) (*archive, error) {
	reader, err := zip.NewReader(file, file.size)
	if err != nil {
		return nil, fmt.Errorf("open the archive: %w", err)
	}
	if len(reader.File) > maxEntries {
		return nil, errBomb
	}
	a := &archive{parts: make(map[string]*zip.File, len(reader.File)), left: maxTotal}
	for _, f := range reader.File {
		if f.Flags&encryptedFlag != 0 {
			return nil, errEncrypted
		}
		a.parts[partName(f.Name)] = f
	}
	return a, nil
}

func partName(name string) string {
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/"))
}

func (a *archive) has(name string) bool { return a.parts[partName(name)] != nil }

// open begins to unpack a part.
func (a *archive) open(name string) (io.ReadCloser, error) {
	f := a.parts[partName(name)]
	if f == nil {
		return nil, errMissing
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("open a part: %w", err)
	}
	most := min(maxPart, max(freeRatio, int64(min(f.CompressedSize64, maxPart))*maxRatio))
	return &unpacking{ReadCloser: r, archive: a, left: most}, nil
}

// walk has a part read as XML. take is called with its root and reads it to its end.
func (a *archive) walk(name string, b *budget, take func(*walker, xml.StartElement) error) error {
	r, err := a.open(name)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // closing what was only read can lose nothing
	w := newWalker(r, b)
	root, err := w.root()
	if err != nil {
		return err
	}
	return take(w, root)
}

// unpacking is a part that is being read, within the bounds of the part and of the archive. What a part says of its own size
// isn't believed.
type unpacking struct {
	io.ReadCloser

	archive *archive
	left    int64
}

// Read unpacks more.
func (u *unpacking) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	u.left -= int64(n)
	u.archive.left -= int64(n)
	if u.left < 0 || u.archive.left < 0 {
		return 0, errBomb
	}
	return n, err
}

// link is what one part says of another, or of an address outside.
type link struct {
	kind, target string
	external     bool
}

// links reads which parts a part of an Office file refers to, by id. A part without any is an ordinary one.
func (a *archive) links(part string) (map[string]link, error) {
	dir, base := path.Split(part)
	all := map[string]link{}
	err := a.walk(dir+"_rels/"+base+".rels", unbounded(), func(w *walker, _ xml.StartElement) error {
		return w.each(func(e xml.StartElement) error {
			l := link{kind: path.Base(attribute(e, "Type")), target: attribute(e, "Target"), external: attribute(e, "TargetMode") == "External"}
			switch {
			case l.external:
			case strings.HasPrefix(l.target, "/"):
				l.target = l.target[1:]
			default:
				l.target = path.Join(dir, l.target)
			}
			all[attribute(e, "Id")] = l
			return w.Skip()
		})
	})
	if errors.Is(err, errMissing) {
		return all, nil
	}
	return all, err
}

// first gives the part of a kind that a part refers to; empty when there is none.
func first(links map[string]link, kind string) string {
	for _, l := range links {
		if l.kind == kind && !l.external {
			return l.target
		}
	}
	return ""
}
