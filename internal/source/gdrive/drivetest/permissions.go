package drivetest

import (
	"slices"
)

// grants are the permissions that hold for an item: its owner's, its own, and those of all that it lies in, the strongest of
// each grantee.
func (s *Server) grants(it *item) []grant {
	var found []grant
	add := func(p Permission, from *item) {
		i := slices.IndexFunc(found, func(g grant) bool { return g.id() == p.id() })
		switch {
		case i < 0:
			found = append(found, grant{Permission: p, from: from})
		case p.Role.rank() > found[i].Role.rank():
			found[i] = grant{Permission: p, from: from}
		}
	}
	for at := range s.above(it) {
		if at.owner != "" {
			add(Permission{Type: "user", Email: at.owner, Role: RoleOwner}, at)
		}
		for _, p := range at.permissions {
			add(p, at)
		}
	}
	return found
}

// grant is a permission with the item that it was given on.
type grant struct {
	Permission
	from *item
}

// permission is a permission as the API shows it on an item.
func (v *view) permission(g grant, on *item) Object {
	o := Object{"kind": "drive#permission", "id": g.id(), "type": g.Type, "role": string(g.Role), "deleted": false}
	switch g.Type {
	case "user", "group":
		o["emailAddress"], o["displayName"], o["pendingOwner"] = g.Email, g.Email, false
		if u := v.s.users[g.Email]; u != nil {
			o["displayName"] = u.name
		}
	case "domain":
		o["domain"], o["displayName"], o["allowFileDiscovery"] = g.Domain, g.Domain, g.Discoverable
	default:
		o["allowFileDiscovery"] = g.Discoverable
	}
	if on.drive != "" {
		detail := Object{"permissionType": "file", "role": string(g.Role), "inherited": g.from != on}
		if g.from.isDrive {
			detail["permissionType"] = "member"
		}
		if g.from != on {
			detail["inheritedFrom"] = g.from.id
		}
		o["permissionDetails"] = []any{detail}
	}
	return o
}

// allPermissions shows all that hold for an item.
func (v *view) allPermissions(it *item) []any {
	grants := v.s.grants(it)
	all := make([]any, len(grants))
	for i, g := range grants {
		all[i] = v.permission(g, it)
	}
	return all
}

// permissions are only shown to who may share a file, and not in shared drives.
func (v *view) permissions(it *item) any {
	return onlyIf(it.drive == "" && v.canWrite(it), v.allPermissions(it))
}

func (v *view) permissionIDs(it *item) any {
	if it.drive != "" || !v.canWrite(it) {
		return nil
	}
	var ids []any
	for _, g := range v.s.grants(it) {
		ids = append(ids, g.id())
	}
	return ids
}

func (v *view) canWrite(it *item) bool { return v.role(it).rank() >= RoleWriter.rank() }

// canDownload is whether the user may have the content of a file.
func (v *view) canDownload(it *item) bool { return !it.locked || v.canWrite(it) }

// capabilities are what the user may do with a file: those that a reader of content may ask for.
func (v *view) capabilities(it *item) any {
	writes, owns, folder := v.canWrite(it), v.role(it).rank() >= RoleFileOrganizer.rank(), it.isFolder()
	download := v.canDownload(it)
	o := Object{
		"canAddChildren": folder && writes, "canComment": v.role(it).rank() >= RoleCommenter.rank(), "canCopy": !folder && download,
		"canDelete": owns, "canDownload": download, "canEdit": writes, "canListChildren": folder, "canModifyContent": writes,
		"canReadRevisions": writes, "canRemoveChildren": folder && writes, "canRename": writes, "canShare": writes, "canTrash": owns,
		"canUntrash": owns, "canChangeCopyRequiresWriterPermission": writes, "canAccessViaGenAi": download,
	}
	if it.drive != "" {
		o["canReadDrive"], o["canDeleteChildren"], o["canTrashChildren"] = true, folder && owns, folder && owns
	}
	return o
}

// listPermissions answers permissions.list. Readers of what is in a My Drive may not ask.
func (c *call) listPermissions() (answer, error) {
	m, err := c.mask()
	if err != nil {
		return answer{}, err
	}
	it, err := c.item(c.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	if it.drive == "" && !c.canWrite(it) {
		return answer{}, refusal(InsufficientFile, it.id)
	}
	size, err := c.pageSize(100, 100)
	if err != nil {
		return answer{}, err
	}
	all := c.allPermissions(it)
	from, err := c.offset("permissions/"+it.id, len(all))
	if err != nil {
		return answer{}, err
	}
	o := Object{"kind": "drive#permissionList"}
	page := all[from:]
	if len(page) > size {
		page = page[:size]
		o["nextPageToken"] = c.s.token(pageToken{For: "permissions/" + it.id, User: c.email, Position: from + size})
	}
	o["permissions"] = page
	return m.object(o), nil
}
