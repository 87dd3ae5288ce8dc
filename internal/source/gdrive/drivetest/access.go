package drivetest

import "slices"

// view is what one user sees. It remembers what it found out and is good while the lock is held.
type view struct {
	s     *Server
	email string
	roles map[string]Role
}

func (s *Server) viewOf(email string) *view {
	return &view{s: s, email: email, roles: map[string]Role{}}
}

// role is the strongest that the user has on an item, by itself or by what it lies in; empty for none.
func (v *view) role(it *item) Role {
	if known, ok := v.roles[it.id]; ok {
		return known
	}
	best := v.ownRole(it)
	for _, parent := range it.parents {
		if p := v.s.items[parent]; p != nil && !p.gone {
			best = stronger(best, v.role(p))
		}
	}
	if v.isHidden(it) {
		best = ""
	}
	v.roles[it.id] = best
	return best
}

func (v *view) ownRole(it *item) Role {
	var best Role
	if it.owner == v.email {
		best = RoleOwner
	}
	for _, p := range it.permissions {
		if p.covers(v.email) {
			best = stronger(best, p.Role)
		}
	}
	return best
}

// isHidden is whether access was taken from the user, to the item or to all that it lies in.
func (v *view) isHidden(it *item) bool {
	if it.gone || it.lost[v.email] {
		return true
	}
	for _, parent := range it.parents {
		if p := v.s.items[parent]; p != nil && !v.isHidden(p) {
			return false
		}
	}
	return len(it.parents) > 0
}

func stronger(a, b Role) Role {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// covers is whether a permission is for a user, or for all of a domain or the world.
func (p Permission) covers(email string) bool {
	switch p.Type {
	case "anyone":
		return true
	case "domain":
		return domainOf(email) == p.Domain
	case "user":
		return p.Email == email
	}
	return false
}

// sees is whether an item exists for the user.
func (v *view) sees(it *item) bool {
	if v.role(it) == "" {
		return false
	}
	hidden := v.s.options.HideOwnersTrash && it.owner != "" && it.owner != v.email && v.s.isTrashed(it)
	return !hidden
}

// finds is whether a list shows an item without being asked for its folder: what is shared by link alone isn't found.
func (v *view) finds(it *item) bool {
	if !v.sees(it) {
		return false
	}
	if it.owner == v.email {
		return true
	}
	named := func(p Permission) bool { return p.covers(v.email) && (p.Type == "user" || p.Discoverable) }
	for above := range v.s.above(it) {
		if slices.ContainsFunc(above.permissions, named) || above.owner == v.email {
			return true
		}
	}
	return false
}

// above gives an item and everything that it lies in.
func (s *Server) above(it *item) func(yield func(*item) bool) {
	return func(yield func(*item) bool) { s.climb(it, yield) }
}

func (s *Server) climb(it *item, yield func(*item) bool) bool {
	if !yield(it) {
		return false
	}
	for _, parent := range it.parents {
		if p := s.items[parent]; p != nil && !p.gone && !s.climb(p, yield) {
			return false
		}
	}
	return true
}

// isSharedWith is whether a file in another's My Drive was given to the user by itself.
func (v *view) isSharedWith(it *item) bool {
	return it.owner != "" && it.owner != v.email && !it.isRoot && slices.ContainsFunc(it.permissions, func(p Permission) bool {
		return p.Type == "user" && p.Email == v.email
	})
}

// noteSeen remembers who could find an item, so that they are told when it goes. The lock is held.
func (s *Server) noteSeen(it *item) {
	for _, email := range s.people {
		if !it.seenBy[email] && s.viewOf(email).finds(it) {
			it.seenBy[email] = true
		}
	}
}
