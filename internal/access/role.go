// Package access says who may do what over HTTP: the roles, the principals that bear them, the secrets that prove a principal,
// and the door that finds the principal of a request. Which role a route asks for stands in the table of routes.
package access

import "slices"

// Role is how much a principal may do. Each role includes those below it.
type Role int

// The roles. Anyone is nobody in particular: what asks for no role is open to all.
const (
	Anyone Role = iota
	// Viewer reads: pages, runs, states and counts.
	Viewer
	// Operator also runs the daily work: syncs, cancels, retries, deletes and restores of pages, decisions about holds, pauses of folders.
	Operator
	// Admin also decides what is synced at all: folders, connections and the schedule.
	Admin
)

var roleNames = []string{Anyone: "anyone", Viewer: "viewer", Operator: "operator", Admin: "admin"}

// RoleNames are the roles that a principal can have, the least first.
func RoleNames() []string { return slices.Clone(roleNames[Viewer:]) }

// String gives the role's name.
func (r Role) String() string {
	if r < Anyone || int(r) >= len(roleNames) {
		return "unknown"
	}
	return roleNames[r]
}

// ParseRole finds a role that a principal can have by its name.
func ParseRole(name string) (Role, bool) {
	i := slices.Index(roleNames, name)
	return Role(max(i, 0)), i > int(Anyone)
}

// Principal is who makes a request.
type Principal struct {
	// Name is what audits and people call it.
	Name string
	Role Role
	// Folders are the only ones it reaches; none means the whole deployment.
	Folders []string
	// TokenID is the API token that it bears; empty for the bearer of the admin token.
	TokenID string

	// secret is the hash of what it showed, to look again whether that still counts.
	secret Hash
}

// Scoped tells whether the principal reaches some folders only.
func (p Principal) Scoped() bool { return len(p.Folders) > 0 }

// Sees tells whether the principal reaches a folder. What belongs to no folder, "", is the whole deployment's.
func (p Principal) Sees(folder string) bool {
	return p.Role > Anyone && (!p.Scoped() || folder != "" && slices.Contains(p.Folders, folder))
}
