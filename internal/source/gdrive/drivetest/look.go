package drivetest

import (
	"cmp"
	"fmt"
	"slices"
)

// File is what the stand-in knows of a file, folder, shortcut or shared drive, whoever may see it.
type File struct {
	ID, Name, Mime string
	// Parents are the folders that it lies in; Drive is its shared drive, empty in My Drives.
	Parents []string
	Drive   string
	Version int64
	// Trashed is whether it is in the trash, by itself or with a folder.
	Trashed bool
}

// Files are all that there is, in the order in which it was made; My Drives themselves are left out.
func (s *Server) Files() []File {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var items []*item
	for _, it := range s.items {
		if !it.gone && !it.isRoot {
			items = append(items, it)
		}
	}
	slices.SortFunc(items, func(a, b *item) int { return cmp.Compare(a.order, b.order) })
	found := make([]File, len(items))
	for i, it := range items {
		found[i] = s.look(it)
	}
	return found
}

// File is one of Files.
func (s *Server) File(id string) (File, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	it, err := s.find(id)
	if err != nil {
		return File{}, fmt.Errorf("look at a file: %w", err)
	}
	return s.look(it), nil
}

func (s *Server) look(it *item) File {
	return File{
		ID: it.id, Name: it.name, Mime: it.mime, Parents: slices.Clone(it.parents), Drive: it.drive, Version: it.version,
		Trashed: s.isTrashed(it),
	}
}

// Exported is what an export of a file gives, of any size and asked for by nobody.
func (s *Server) Exported(id, mime string) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	it, err := s.find(id)
	if err != nil {
		return nil, fmt.Errorf("export a file: %w", err)
	}
	if !slices.Contains(offered(it.content), mime) {
		return nil, fmt.Errorf("export %q: it has no format %s", it.name, mime)
	}
	return it.content.export(mime)
}
