package drivetest

import (
	"fmt"
	"slices"
	"strings"
)

// user is a person or a service account. All are told apart by their address.
type user struct {
	email, name string
	// root is the folder "My Drive".
	root string
}

// AddUser makes a person with an empty My Drive, or gives a known one a new name. Service accounts may act as any user.
func (s *Server) AddUser(email, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user(email).name = name
}

// Owner is the address of the user whose My Drive is meant by an empty parent, unless As chose another.
func (s *Server) Owner() string { return s.options.Owner }

// ServiceAccount is the address of the account that CredentialsJSON is for.
func (s *Server) ServiceAccount() string { return serviceAccount }

// As makes changes from now on those of a user, and an empty parent that user's My Drive.
func (s *Server) As(email string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users[email] == nil {
		return fmt.Errorf("act as a user: nobody has the address %s", email)
	}
	s.editor = email
	return nil
}

// Root is the id of a user's My Drive.
func (s *Server) Root(email string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.user(email).root
}

// user gives a user, who is made when nobody has the address. The lock is held.
func (s *Server) user(email string) *user {
	if u := s.users[email]; u != nil {
		return u
	}
	name, _, _ := strings.Cut(email, "@")
	u := &user{email: email, name: name, root: idOf(s.options.Seed, "root/"+email, "0A", driveID)}
	s.users[email] = u
	s.people = append(s.people, email)
	slices.Sort(s.people)
	now := s.clock.Now()
	s.items[u.root] = &item{
		id: u.root, name: "My Drive", mime: MimeFolder, owner: email, created: now, modified: now, editor: email, version: 1,
		isRoot: true, seenBy: map[string]bool{}, lost: map[string]bool{},
	}
	return u
}

// domainOf is what follows the @ of an address.
func domainOf(email string) string {
	_, domain, _ := strings.Cut(email, "@")
	return domain
}

// person is a user as the API shows one to another.
func (s *Server) person(email, to string) Object {
	u := s.users[email]
	if u == nil {
		return Object{"kind": "drive#user", "displayName": "", "me": false}
	}
	return Object{
		"kind": "drive#user", "displayName": u.name, "me": email == to, "permissionId": numberOf(email), "emailAddress": email,
	}
}
