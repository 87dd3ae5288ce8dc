package drivetest

import "net/http"

// changesOf is one log of changes: a user's, or a shared drive's.
type changesOf struct {
	drive string
	// items is includeItemsFromAllDrives, removed includeRemoved, mine restrictToMyDrive.
	items, removed, mine bool
	// corpus is includeCorpusRemovals.
	corpus bool
}

// name is what the log's tokens are for.
func (l changesOf) name() string { return "changes/" + l.drive }

// readLog reads which log is asked for, and what of it.
func (c *call) readLog() (changesOf, error) {
	l := changesOf{drive: c.query().Get("driveId")}
	var all bool
	for name, flag := range map[string]*bool{
		"supportsAllDrives": &all, "includeItemsFromAllDrives": &l.items, "includeRemoved": &l.removed, "restrictToMyDrive": &l.mine,
		"includeCorpusRemovals": &l.corpus,
	} {
		var err error
		if *flag, err = c.flag(name); err != nil {
			return l, err
		}
	}
	switch {
	case l.items && !all:
		return l, refused("includeTeamDriveItemsRequiresSupportsTeamDrives",
			"The supportsAllDrives parameter must be set to true when includeItemsFromAllDrives is set.")
	case l.drive != "" && !all:
		return l, driveNotFound(l.drive)
	case l.drive != "" && !l.items && c.kind != KindStartToken:
		return l, refused("teamDriveIdRequiresIncludeTeamDriveItems",
			"The includeItemsFromAllDrives parameter must be set to true when driveId is set or corpora is allDrives.")
	case l.drive != "":
		_, err := c.sharedDrive(l.drive)
		return l, err
	}
	return l, nil
}

// startToken answers changes.getStartPageToken.
func (c *call) startToken() (answer, error) {
	m, err := c.mask()
	if err != nil {
		return answer{}, err
	}
	l, err := c.readLog()
	if err != nil {
		return answer{}, err
	}
	return m.object(Object{"kind": "drive#startPageToken", "startPageToken": c.changeToken(l, len(c.s.changes))}), nil
}

func (c *call) changeToken(l changesOf, position int) string {
	return c.s.token(pageToken{For: l.name(), User: c.email, Position: position, Epoch: c.s.forgotten})
}

// readPosition reads where in the log a token points.
func (c *call) readPosition(l changesOf) (int, error) {
	text := c.query().Get("pageToken")
	if text == "" {
		return 0, &apiError{status: http.StatusBadRequest, reason: "required", message: "Required parameter: pageToken"}
	}
	t, ok := c.readToken(text, l.name())
	switch {
	case !ok:
		return 0, invalid("")
	case t.Epoch != c.s.forgotten && c.s.forgetting == http.StatusGone:
		return 0, &apiError{status: http.StatusGone, reason: "gone", message: "The page token is no longer valid."}
	case t.Epoch != c.s.forgotten:
		return 0, invalid("")
	}
	return min(t.Position, len(c.s.changes)), nil
}

// listChanges answers changes.list.
func (c *call) listChanges() (answer, error) {
	m, err := c.mask()
	if err != nil {
		return answer{}, err
	}
	l, err := c.readLog()
	if err != nil {
		return answer{}, err
	}
	size, err := c.pageSize(100, 1000)
	if err != nil {
		return answer{}, err
	}
	if limit := c.s.options.PageCap; limit > 0 {
		size = min(size, limit)
	}
	from, err := c.readPosition(l)
	if err != nil {
		return answer{}, err
	}
	changes, position := c.page(l, from, size, m)
	o := Object{"kind": "drive#changeList", "changes": changes}
	switch trick := trickOf(c.r); {
	case trick == trickEmpty:
		o["changes"], o["nextPageToken"] = []any{}, c.changeToken(l, from)
	case trick == trickRepeat:
		o["nextPageToken"] = c.changeToken(l, from)
	case position < len(c.s.changes):
		o["nextPageToken"] = c.changeToken(l, position)
	default:
		o["newStartPageToken"] = c.changeToken(l, position)
	}
	return m.object(o), nil
}

// page gives changes from a position on, and where the next page begins: at the end of the log when there is none.
func (c *call) page(l changesOf, from, size int, m *mask) ([]any, int) {
	last := c.s.lastEntries(l, from)
	changes := []any{}
	for i := from; i < len(c.s.changes); i++ {
		e := c.s.changes[i]
		if !c.s.options.RepeatChanges && last[e.item] != i {
			continue
		}
		change, ok := l.show(c.view, e)
		if !ok {
			continue
		}
		if len(changes) == size {
			return changes, i
		}
		if e.isDrive {
			change["drive"] = c.driveObject(c.s.items[e.item])
		} else if it := c.s.items[e.item]; change["file"] != nil {
			change["file"] = c.file(it, m.changedFile())
		}
		changes = append(changes, change)
	}
	return changes, len(c.s.changes)
}

// changedFile is what was asked for of the files in changes.
func (m *mask) changedFile() *mask {
	if below := m.sub("changes"); below != nil && below.sub("file") != nil {
		return below.sub("file")
	}
	return &mask{fields: map[string]*mask{"id": {}}}
}
