package drivetest

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// EditDoc gives a Doc other content.
func (s *Server) EditDoc(id, markdown string) error {
	return s.rewrite(id, MimeDoc, newDocument(markdown, nil))
}

// EditSheet gives a Sheet other tabs.
func (s *Server) EditSheet(id string, tabs ...Tab) error {
	return s.rewrite(id, MimeSheet, workbook(tabs))
}

// EditSlides gives a presentation other slides.
func (s *Server) EditSlides(id string, slides ...Slide) error {
	return s.rewrite(id, MimeSlides, deck(slides))
}

// EditFile gives a file other bytes.
func (s *Server) EditFile(id string, data []byte) error {
	return s.rewrite(id, "", newBlob(data))
}

// rewrite replaces the content of a file of a type; an empty type is every one that isn't Google's own.
func (s *Server) rewrite(id, mime string, to content) error {
	return s.alter("edit", id, func(it *item) error {
		if it.mime != mime && (mime != "" || isEditors(it.mime) || it.content == nil) {
			return fmt.Errorf("its type is %s", it.mime)
		}
		it.content = to
		s.touch(it)
		return nil
	})
}

// Rename gives a file, folder or shared drive another name. The time of its last change stays: whether Drive moves it isn't
// certain, and clients that go by it alone would miss the new name.
func (s *Server) Rename(id, name string) error {
	return s.alter("rename", id, func(it *item) error {
		it.name, it.editor = name, s.editor
		return nil
	})
}

// Describe gives a file a description.
func (s *Server) Describe(id, description string) error {
	return s.alter("describe", id, func(it *item) error {
		it.description = description
		return nil
	})
}

// Touch makes the version of a file rise though nothing can be seen to have changed.
func (s *Server) Touch(id string) error {
	return s.alter("touch", id, func(*item) error { return nil })
}

// SetModified gives a file a time of its last change, as clients of the API can.
func (s *Server) SetModified(id string, at time.Time) error {
	return s.alter("set the time of", id, func(it *item) error {
		it.modified = at
		return nil
	})
}

// SetDownload says whether those who can't write a file may download, export and copy it.
func (s *Server) SetDownload(id string, allowed bool) error {
	return s.alter("lock", id, func(it *item) error {
		it.locked = !allowed
		return nil
	})
}

// SetAbusive says whether a file counts as malware, which only who acknowledges that may download.
func (s *Server) SetAbusive(id string, abusive bool) error {
	return s.alter("mark", id, func(it *item) error {
		it.abusive = abusive
		return nil
	})
}

// Move puts a file or folder into another folder, out of all that it was in; also from and to shared drives.
func (s *Server) Move(id, parent string) error {
	return s.alter("move", id, func(it *item) error {
		to, err := s.destination(it, parent)
		if err != nil {
			return err
		}
		s.displace(it)
		s.place(it, to.id)
		s.settle(it, to)
		return nil
	})
}

// AddParent puts a file or folder into a second folder of the same My Drive, as was possible until 2020.
func (s *Server) AddParent(id, parent string) error {
	return s.alter("add a parent to", id, func(it *item) error {
		to, err := s.destination(it, parent)
		if err != nil {
			return err
		}
		if to.drive != "" || it.drive != "" || slices.Contains(it.parents, to.id) {
			return fmt.Errorf("it can't lie in %s besides", to.id)
		}
		s.place(it, to.id)
		return nil
	})
}

// Orphan takes a file or folder out of all folders, as happens when the folder of another user goes.
func (s *Server) Orphan(id string) error {
	return s.alter("orphan", id, func(it *item) error {
		if it.isRoot || it.isDrive || it.drive != "" {
			return errors.New("what is in a shared drive has a parent")
		}
		s.displace(it)
		return nil
	})
}

// destination gives the folder that an item may be put into. The lock is held.
func (s *Server) destination(it *item, parent string) (*item, error) {
	to, err := s.container(parent)
	switch {
	case err != nil:
		return nil, err
	case it.isRoot || it.isDrive:
		return nil, errors.New("the top of a drive stays where it is")
	case s.isBelow(to, it.id):
		return nil, fmt.Errorf("%s lies in it", to.id)
	}
	return to, nil
}

// settle makes an item and all below it belong to the drive that they were moved to. The lock is held.
func (s *Server) settle(it, to *item) {
	if it.drive == to.drive {
		return
	}
	for _, moved := range append(s.below(it), it) {
		moved.drive, moved.owner = to.drive, ""
		if to.drive == "" {
			moved.owner = s.editor
		}
	}
}

// touch makes a change one that people see: it has a time and an author. The lock is held.
func (s *Server) touch(it *item) {
	it.modified, it.editor = s.clock.Now(), s.editor
}

// alter changes an item and logs that.
func (s *Server) alter(what, id string, change func(*item) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	it, err := s.find(id)
	if err != nil {
		return fmt.Errorf("%s a file: %w", what, err)
	}
	s.noteSeen(it)
	from := it.drive
	if err := change(it); err != nil {
		return fmt.Errorf("%s %q: %w", what, it.name, err)
	}
	if it.drive != from {
		s.append(it, from)
	}
	s.record(it)
	return nil
}
