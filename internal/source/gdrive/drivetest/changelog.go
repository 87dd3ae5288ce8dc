package drivetest

import "time"

// entry is one change in the log that all users' and drives' logs are read from.
type entry struct {
	item string
	// drive is the shared drive that the item was in; empty for My Drives.
	drive   string
	at      time.Time
	isDrive bool
}

// record notes a change of an item where it is now. The lock is held.
func (s *Server) record(it *item) {
	s.noteSeen(it)
	s.append(it, it.drive)
}

// append notes a change in the log of a drive. The lock is held.
func (s *Server) append(it *item, drive string) {
	it.version++
	s.changes = append(s.changes, entry{item: it.id, drive: drive, at: s.clock.Now(), isDrive: it.isDrive})
	s.channels.wake()
}

// ForgetChanges refuses all change tokens that were given before now, with 400 or 410; new ones are good.
func (s *Server) ForgetChanges(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgotten, s.forgetting = s.forgotten+1, status
}

// lastEntries gives the last entry of each item in a log: those before it are superseded.
func (s *Server) lastEntries(l changesOf, from int) map[string]int {
	last := map[string]int{}
	for i, e := range s.changes[from:] {
		if l.covers(e.drive) {
			last[e.item] = from + i
		}
	}
	return last
}

// covers is whether the log is about what happens in a shared drive, or in My Drives for an empty one.
func (l changesOf) covers(drive string) bool {
	if l.drive != "" {
		return drive == l.drive
	}
	return drive == "" || l.items
}

// show gives an entry as a user reads it in a log; false when it isn't in it. What changed is shown as it is now: removed, when
// the user can't see it any more or it has left what the log is about.
func (l changesOf) show(v *view, e entry) (Object, bool) {
	it := v.s.items[e.item]
	if e.isDrive {
		return l.showDrive(v, it, e)
	}
	finds, stays := v.finds(it), l.covers(it.drive)
	known, removed := finds || it.seenBy[v.email], !finds || !stays
	if !known || !l.covers(e.drive) || l.mine && !v.isMine(it) || removed && !l.removed {
		return nil, false
	}
	o := Object{
		"kind": "drive#change", "changeType": "file", "type": "file", "time": stamp(e.at), "removed": removed, "fileId": it.id,
	}
	if finds && (stays || l.corpus) {
		o["file"] = true
	}
	return o, true
}

// showDrive is show for a shared drive, whose changes are in users' logs alone.
func (l changesOf) showDrive(v *view, it *item, e entry) (Object, bool) {
	if l.drive != "" || !l.items || l.mine || !v.sees(it) {
		return nil, false
	}
	return Object{
		"kind": "drive#change", "changeType": "drive", "type": "teamDrive", "time": stamp(e.at), "removed": false, "driveId": it.id,
		"teamDriveId": it.id,
	}, true
}

// isMine is whether an item lies in the user's own My Drive.
func (v *view) isMine(it *item) bool { return v.s.isBelow(it, v.s.users[v.email].root) }
