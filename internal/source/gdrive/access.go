package gdrive

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"google.golang.org/api/drive/v3"

	"github.com/loresync/loresync/internal/content/text"
)

// grant says who may do what with a file.
type grant struct {
	Type   string `json:"type"`
	Role   string `json:"role"`
	Email  string `json:"email,omitempty"`
	Domain string `json:"domain,omitempty"`
	// Discoverable is whether those of a domain, or anyone, find the file by searching, not only by its link.
	Discoverable bool `json:"allow_file_discovery,omitempty"`
}

// grantsOf gives permissions in an order of their own, so that the same ones always look the same.
func grantsOf(permissions []*drive.Permission) []grant {
	var grants []grant
	for _, p := range permissions {
		if p != nil && !p.Deleted {
			grants = append(grants, grant{
				Type: text.Clean(p.Type), Role: text.Clean(p.Role), Email: text.Clean(p.EmailAddress), Domain: text.Clean(p.Domain),
				Discoverable: p.AllowFileDiscovery,
			})
		}
	}
	slices.SortFunc(grants, func(a, b grant) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Email, b.Email), cmp.Compare(a.Domain, b.Domain), cmp.Compare(a.Role, b.Role))
	})
	return grants
}

// access says who may read a file; nil where Drive doesn't tell. Files of shared drives bear no permissions: those of the drive hold
// for all of them, and the ones that a file has besides aren't asked for, which would cost a request for each file.
func (s *Source) access(ctx context.Context, f file) (json.RawMessage, error) {
	grants, told := f.grants, f.told
	if f.drive != "" && !told {
		var err error
		if grants, told, err = s.drives.of(ctx, s.client, f.drive); err != nil {
			return nil, err
		}
	}
	if !told {
		return nil, nil
	}
	if grants == nil {
		grants = []grant{}
	}
	said, err := json.Marshal(grants)
	if err != nil {
		return nil, fmt.Errorf("write who may read: %w", err)
	}
	return said, nil
}

// drivesKept is how long a shared drive's permissions are believed: who was taken out of one is out of new revisions soon after.
const drivesKept = 5 * time.Minute

// drivePermissions remembers who may read shared drives.
type drivePermissions struct {
	turn  turn
	known map[string]driveGrants
}

type driveGrants struct {
	grants []grant
	told   bool
	at     time.Time
}

func newDrivePermissions() *drivePermissions {
	return &drivePermissions{turn: newTurn(), known: map[string]driveGrants{}}
}

// of asks once for all files of a drive. That it may not be known, as for members who manage nothing, costs no page its text.
func (d *drivePermissions) of(ctx context.Context, c *client, driveID string) (grants []grant, told bool, err error) {
	if err := d.turn.take(ctx); err != nil {
		return nil, false, err
	}
	defer d.turn.give()
	if kept, ok := d.known[driveID]; ok && time.Since(kept.at) < drivesKept {
		return kept.grants, kept.told, nil
	}
	permissions, err := c.permissions(ctx, driveID)
	if err != nil && !withheld(err) && !notFound(err) {
		return nil, false, err
	}
	d.known[driveID] = driveGrants{grants: grantsOf(permissions), told: err == nil, at: time.Now()}
	return d.known[driveID].grants, err == nil, nil
}
