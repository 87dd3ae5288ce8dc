package drivetest

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Trash throws a file or folder away. What is below a folder counts as trashed with it, and changes in no other way.
func (s *Server) Trash(id string) error {
	return s.alter("trash", id, func(it *item) error {
		if it.isRoot || it.isDrive {
			return errors.New("the top of a drive can't be thrown away")
		}
		if it.trashedAt.IsZero() {
			it.trashedAt, it.trasher = s.clock.Now(), s.editor
		}
		return nil
	})
}

// Restore takes a file or folder out of the trash; not out of a folder that is in the trash.
func (s *Server) Restore(id string) error {
	return s.alter("restore", id, func(it *item) error {
		it.trashedAt, it.trasher = time.Time{}, ""
		return nil
	})
}

// Delete removes a file, a folder with all below it, or a shared drive for ever. What is below a folder and belongs to somebody
// else, or lies in another folder too, stays. Only what is named is in the change logs, and a shared drive in none, as users of
// Drive report.
func (s *Server) Delete(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	it, err := s.find(id)
	if err != nil {
		return fmt.Errorf("delete a file: %w", err)
	}
	if it.isRoot {
		return fmt.Errorf("delete %q: My Drive can't be deleted", it.name)
	}
	s.remove(it)
	if !it.isDrive {
		s.record(it)
	}
	return nil
}

// remove makes an item gone, and what lies in it alone and is of the same owner. What is left has a parent less. The lock is held.
func (s *Server) remove(it *item) {
	s.noteSeen(it)
	for _, id := range slices.Clone(s.children[it.id]) {
		child := s.items[id]
		child.parents = slices.DeleteFunc(child.parents, func(parent string) bool { return parent == it.id })
		if len(child.parents) == 0 && child.owner == it.owner {
			child.parents = []string{it.id}
			s.remove(child)
		}
	}
	it.gone, it.content = true, nil
}
