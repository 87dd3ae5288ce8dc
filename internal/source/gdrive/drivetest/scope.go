package drivetest

import (
	"net/http"
	"slices"
)

// scope is where a list of files looks.
type scope struct {
	corpora, drive string
	// all is supportsAllDrives, items includeItemsFromAllDrives.
	all, items bool
	// nowhere is the space of an app's own files, of which there are none.
	nowhere bool
}

// readScope reads the parameters that say where to look and refuses those that don't go together.
func (l *listing) readScope() (err error) {
	values := l.call.query()
	l.corpora, l.drive = values.Get("corpora"), values.Get("driveId")
	if l.all, err = l.flag("supportsAllDrives"); err != nil {
		return err
	}
	if l.items, err = l.flag("includeItemsFromAllDrives"); err != nil {
		return err
	}
	switch values.Get("spaces") {
	case "", "drive":
	case "appDataFolder":
		l.nowhere = true
	default:
		return invalid("")
	}
	return l.checkScope()
}

func (l *listing) checkScope() error {
	if l.corpora == "" {
		l.corpora = "user"
	}
	several := l.corpora == "drive" || l.corpora == "allDrives"
	switch {
	case !slices.Contains([]string{"user", "domain", "drive", "allDrives"}, l.corpora):
		return invalid("")
	case (l.corpora == "drive") != (l.drive != ""):
		return refused("teamDriveIdRequiresTeamDriveCorpora", "The driveId parameter must be specified if and only if corpora is set to drive.")
	case several && !l.items:
		return refused("teamDriveIdRequiresIncludeTeamDriveItems",
			"The includeItemsFromAllDrives parameter must be set to true when driveId is set or corpora is allDrives.")
	case l.items && !l.all:
		return refused("includeTeamDriveItemsRequiresSupportsTeamDrives",
			"The supportsAllDrives parameter must be set to true when includeItemsFromAllDrives is set.")
	case l.drive != "":
		_, err := l.sharedDrive(l.drive)
		return err
	}
	return nil
}

// refused is an error for parameters that don't go together.
func refused(reason, message string) error {
	return &apiError{status: http.StatusForbidden, reason: reason, message: message}
}

// contains is whether the list looks where a file is. In shared drives, the corpora user holds only what was shared by itself
// and what lies right in a named folder: Drive's documentation calls for a list of each drive.
func (l *listing) contains(it *item, named bool) bool {
	if l.nowhere || it.drive != "" && !l.items {
		return false
	}
	switch l.corpora {
	case "drive":
		return it.drive == l.drive
	case "domain":
		return it.owner == l.email || l.isInDomain(it)
	case "allDrives":
		return true
	}
	return it.drive == "" || named || slices.ContainsFunc(it.permissions, func(p Permission) bool { return p.Email == l.email })
}

// isInDomain is whether an item was shared with all of the user's domain.
func (v *view) isInDomain(it *item) bool {
	return slices.ContainsFunc(v.s.grants(it), func(g grant) bool {
		return g.Type == "domain" && g.Domain == domainOf(v.email) && g.Discoverable
	})
}

// sharedDrive gives a shared drive that the user is a member of.
func (v *view) sharedDrive(id string) (*item, error) {
	it := v.s.items[id]
	if it == nil || !it.isDrive || !v.sees(it) {
		return nil, driveNotFound(id)
	}
	return it, nil
}
