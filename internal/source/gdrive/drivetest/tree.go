package drivetest

import (
	"fmt"
)

// AddFolder makes a folder and gives its id. An empty parent is My Drive, here and everywhere.
func (s *Server) AddFolder(parent, name string) (string, error) {
	return s.add(parent, &item{name: name, mime: MimeFolder})
}

// AddDoc makes a Doc of Markdown. Pictures become data in its exports: what they show is the picture of a data URI, else a dot.
func (s *Server) AddDoc(parent, name, markdown string) (string, error) {
	return s.add(parent, &item{name: name, mime: MimeDoc, content: newDocument(markdown, nil)})
}

// AddSheet makes a Sheet of tabs.
func (s *Server) AddSheet(parent, name string, tabs ...Tab) (string, error) {
	return s.add(parent, &item{name: name, mime: MimeSheet, content: workbook(tabs)})
}

// AddSlides makes a presentation.
func (s *Server) AddSlides(parent, name string, slides ...Slide) (string, error) {
	return s.add(parent, &item{name: name, mime: MimeSlides, content: deck(slides)})
}

// AddFile makes a file of bytes.
func (s *Server) AddFile(parent, name, mime string, data []byte) (string, error) {
	return s.add(parent, &item{name: name, mime: mime, content: newBlob(data)})
}

// AddNative makes a file of one of Google's other types, such as MimeForm, with what its exports give by type; none for nil.
func (s *Server) AddNative(parent, name, mime string, exports map[string][]byte) (string, error) {
	return s.add(parent, &item{name: name, mime: mime, content: native(exports)})
}

// AddShortcut makes a shortcut. Its target may be anything with an id, a file that is gone included.
func (s *Server) AddShortcut(parent, name, target string) (string, error) {
	it := &item{name: name, mime: MimeShortcut, target: target}
	s.mu.RLock()
	if to := s.items[target]; to != nil {
		it.targetMime = to.mime
	}
	s.mu.RUnlock()
	return s.add(parent, it)
}

// add places a new item in a folder.
func (s *Server) add(parent string, it *item) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	it.id = fileID(s.options.Seed, fmt.Sprintf("file/%d", s.made), it.mime)
	return s.insert(parent, it)
}

// insert is add for an item that has its id. The lock is held.
func (s *Server) insert(parent string, it *item) (string, error) {
	in, err := s.container(parent)
	if err != nil {
		return "", fmt.Errorf("add %q: %w", it.name, err)
	}
	if s.items[it.id] != nil {
		return "", fmt.Errorf("add %q: there is a file with its id already", it.name)
	}
	now := s.clock.Now()
	s.made++
	it.created, it.modified, it.editor, it.order = now, now, s.editor, s.made
	it.lost, it.seenBy = map[string]bool{}, map[string]bool{}
	it.drive = in.drive
	if in.drive == "" {
		it.owner = s.editor
	}
	s.items[it.id] = it
	s.place(it, in.id)
	if in.isRoot && !s.options.Private && s.editor != serviceAccount {
		s.grant(it, Permission{Type: "user", Email: serviceAccount, Role: RoleReader})
	}
	s.record(it)
	return it.id, nil
}
