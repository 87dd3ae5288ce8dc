package drivetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// AddDrive makes a shared drive and gives its id, which is that of its top folder. The editor manages it, the members may read
// it, and so may the service account unless Options.Private.
func (s *Server) AddDrive(name string, members ...string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	id := idOf(s.options.Seed, fmt.Sprintf("drive/%d", s.made), "0A", driveID)
	now := s.clock.Now()
	it := &item{
		id: id, name: name, mime: MimeFolder, drive: id, isDrive: true, created: now, modified: now, editor: s.editor, order: s.made,
		lost: map[string]bool{}, seenBy: map[string]bool{},
	}
	if !s.options.Private {
		s.grant(it, Permission{Type: "user", Email: serviceAccount, Role: RoleReader})
	}
	for _, member := range members {
		s.user(member)
		s.grant(it, Permission{Type: "user", Email: member, Role: RoleReader})
	}
	s.grant(it, Permission{Type: "user", Email: s.editor, Role: RoleOrganizer})
	s.items[id] = it
	s.record(it)
	return id, nil
}

// driveObject is a shared drive as the user sees it.
func (v *view) driveObject(it *item) Object {
	manages := v.role(it) == RoleOrganizer
	return Object{
		"kind": "drive#drive", "id": it.id, "name": it.name, "colorRgb": "#5c6bc0", "createdTime": stamp(it.created), "hidden": false,
		"capabilities": Object{
			"canAddChildren": v.canWrite(it), "canCopy": true, "canDeleteDrive": manages, "canDownload": true, "canEdit": v.canWrite(it),
			"canListChildren": true, "canManageMembers": manages, "canReadRevisions": v.canWrite(it), "canRenameDrive": manages,
		},
		"restrictions": Object{
			"adminManagedRestrictions": false, "copyRequiresWriterPermission": it.locked, "domainUsersOnly": false, "driveMembersOnly": false,
		},
	}
}

// listDrives answers drives.list: the shared drives that the user is a member of, by their names.
func (c *call) listDrives() (answer, error) {
	m, err := c.mask()
	if err != nil {
		return answer{}, err
	}
	size, err := c.pageSize(10, 100)
	if err != nil {
		return answer{}, err
	}
	var all []any
	for _, it := range c.sharedDrives() {
		all = append(all, c.driveObject(it))
	}
	same := c.sameQuery("q")
	from, err := c.offset(same, len(all))
	if err != nil {
		return answer{}, err
	}
	if c.query().Get("q") != "" {
		// Only domain administrators may search, and there are none here.
		return answer{}, invalid("")
	}
	o := Object{"kind": "drive#driveList"}
	page := all[from:]
	if len(page) > size {
		page = page[:size]
		o["nextPageToken"] = c.s.token(pageToken{For: same, User: c.email, Position: from + size})
	}
	o["drives"] = append([]any{}, page...)
	return m.object(o), nil
}

func (v *view) sharedDrives() []*item {
	var found []*item
	for _, it := range v.s.items {
		if it.isDrive && !it.gone && v.sees(it) {
			found = append(found, it)
		}
	}
	slices.SortFunc(found, func(a, b *item) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.id, b.id))
	})
	return found
}

// getDrive answers drives.get.
func (c *call) getDrive() (answer, error) {
	m, err := c.mask()
	if err != nil {
		return answer{}, err
	}
	it, err := c.sharedDrive(c.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	return m.object(c.driveObject(it)), nil
}
