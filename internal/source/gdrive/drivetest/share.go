package drivetest

import (
	"fmt"
	"slices"
	"time"
)

// Role is what a permission allows.
type Role string

// The roles, from the weakest. Organizers are found in shared drives only, owners in My Drives only.
const (
	RoleReader        Role = "reader"
	RoleCommenter     Role = "commenter"
	RoleWriter        Role = "writer"
	RoleFileOrganizer Role = "fileOrganizer"
	RoleOrganizer     Role = "organizer"
	RoleOwner         Role = "owner"
)

// rank orders roles; 0 is none.
func (r Role) rank() int {
	order := []Role{RoleReader, RoleCommenter, RoleWriter, RoleFileOrganizer, RoleOrganizer, RoleOwner}
	return slices.Index(order, r) + 1
}

// Permission is who may do what with a file, a folder and what is below it, or a shared drive.
type Permission struct {
	// Type is user, group, domain or anyone. Nobody is a member of a group here: it is shown and gives nothing.
	Type string
	// Email is that of a user or group.
	Email string
	// Domain is that of a domain.
	Domain string
	Role   Role
	// Discoverable lets those of a domain, or anyone, find the file in lists, not only by its id.
	Discoverable bool
}

// id is what the API calls a permission.
func (p Permission) id() string {
	switch p.Type {
	case "anyone":
		return "anyoneWithLink"
	case "domain":
		return numberOf(p.Domain) + "k"
	}
	return numberOf(p.Email)
}

// Share gives a user a role on a file, a folder or a shared drive. The user is made when nobody has the address.
func (s *Server) Share(id, email string, role Role) error {
	return s.alter("share", id, func(it *item) error {
		s.user(email)
		s.grant(it, Permission{Type: "user", Email: email, Role: role})
		return nil
	})
}

// Unshare takes back what Share gave.
func (s *Server) Unshare(id, email string) error {
	return s.alter("unshare", id, func(it *item) error {
		it.permissions = slices.DeleteFunc(it.permissions, func(p Permission) bool { return p.Type == "user" && p.Email == email })
		return nil
	})
}

// SetPermissions makes the permissions of a file, folder or shared drive those that are given, besides its owner's.
func (s *Server) SetPermissions(id string, permissions ...Permission) error {
	return s.alter("set the permissions of", id, func(it *item) error {
		it.permissions = nil
		for _, p := range permissions {
			if p.Type == "user" {
				s.user(p.Email)
			}
			s.grant(it, p)
		}
		return nil
	})
}

// grant adds a permission or replaces the one of the same grantee. The lock is held.
func (s *Server) grant(it *item, p Permission) {
	it.permissions = slices.DeleteFunc(it.permissions, func(other Permission) bool { return other.id() == p.id() })
	it.permissions = append(it.permissions, p)
	if p.Type == "user" {
		if it.sharedAt == nil {
			it.sharedAt = map[string]time.Time{}
		}
		it.sharedAt[p.Email] = s.clock.Now()
	}
}

// LoseAccess hides a file, a folder with all below it, or a shared drive from a user, whatever the permissions say. The loss of
// a file or folder is a change of its own; that of a shared drive shows in no log, as users of Drive report.
func (s *Server) LoseAccess(id, email string) error {
	return s.setLost("take access to", id, email, true)
}

// RegainAccess ends LoseAccess.
func (s *Server) RegainAccess(id, email string) error {
	return s.setLost("give access to", id, email, false)
}

func (s *Server) setLost(what, id, email string, lost bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	it, err := s.find(id)
	if err != nil {
		return fmt.Errorf("%s a file: %w", what, err)
	}
	s.noteSeen(it)
	it.lost[email] = lost
	if !it.isDrive {
		s.record(it)
	}
	return nil
}

// RequireResourceKey makes a file or folder one that was shared by link long ago: all but its owner must send the key that is
// returned with the id to read it.
func (s *Server) RequireResourceKey(id string) (string, error) {
	key := "0-" + idOf(s.options.Seed, "key/"+id, "", 22)
	err := s.alter("protect", id, func(it *item) error {
		it.resourceKey = key
		return nil
	})
	return key, err
}
