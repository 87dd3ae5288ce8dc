package gdrive

import (
	"context"
	"net/http"
	"time"

	"google.golang.org/api/drive/v3"

	"github.com/loresync/loresync/internal/source"
)

// news is what change logs tell, the latest word on each file. An entry shows a file as it is now; older ones of it say nothing more.
type news struct {
	files map[string]file
	gone  map[string]bool
	at    map[string]time.Time
	// drives are shared drives that the account lost, and renamed those that changed otherwise.
	drives, renamed map[string]bool
}

func newNews() *news {
	return &news{files: map[string]file{}, gone: map[string]bool{}, at: map[string]time.Time{}, drives: map[string]bool{}, renamed: map[string]bool{}}
}

func (n *news) empty() bool { return len(n.files) == 0 && len(n.gone) == 0 && len(n.renamed) == 0 }

// add keeps an entry unless a later one is known. A file that moved from one drive into another is gone from one log and present in
// the other at the same moment: it is there.
func (n *news) add(c *drive.Change) {
	if c.ChangeType == "drive" {
		// The last word holds.
		n.drives[c.DriveId], n.renamed[c.DriveId] = c.Removed, !c.Removed
		return
	}
	present := !c.Removed && c.File != nil
	at, before := timeOf(c.Time), n.at[c.FileId]
	_, here := n.files[c.FileId]
	if c.FileId == "" || at.Before(before) || at.Equal(before) && here && !present {
		return
	}
	n.at[c.FileId] = at
	delete(n.files, c.FileId)
	delete(n.gone, c.FileId)
	if present {
		f := fileOf(c.File)
		f.id = c.FileId
		n.files[c.FileId] = f
		return
	}
	n.gone[c.FileId] = true
}

const changeFields = "nextPageToken,newStartPageToken,changes(changeType,removed,time,fileId,driveId,file(" + fileFields + "))"

// startToken gives the place at which a log ends now.
func (c *client) startToken(ctx context.Context, log string) (string, error) {
	call := c.api.Changes.GetStartPageToken().SupportsAllDrives(true).Fields("startPageToken").Context(ctx)
	if log != userLog {
		call.DriveId(log)
	}
	said, err := call.Do()
	if err != nil {
		return "", refusal("take a token of the change log", err)
	}
	return said.StartPageToken, nil
}

// changes reads a log to its end and gives the token from which to go on.
func (c *client) changes(ctx context.Context, log, token string, take func(*drive.Change)) (next string, err error) {
	err = pages(func(at string) (string, error) {
		if at == "" {
			at = token
		}
		call := c.api.Changes.List(at).SupportsAllDrives(true).IncludeItemsFromAllDrives(true).IncludeRemoved(true).Spaces("drive").
			PageSize(pageSize).Fields(changeFields).Context(ctx)
		if log != userLog {
			call.DriveId(log)
		}
		said, err := call.Do()
		if err != nil {
			return "", refusal("read the change log", err)
		}
		for _, change := range said.Changes {
			if change != nil {
				take(change)
			}
		}
		next = said.NewStartPageToken
		return said.NextPageToken, nil
	})
	if err == nil && next == "" {
		err = errBrokenList
	}
	return next, err
}

// read reads a log. lost is true when it belongs to a shared drive that is gone, or that the account isn't a member of any more.
func (s *Source) read(ctx context.Context, log, token string, n *news) (next string, lost bool, err error) {
	next, err = s.client.changes(ctx, log, token, n.add)
	status, _ := refusedWith(err)
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusGone, http.StatusForbidden:
	default:
		return next, false, err
	}
	if log != userLog {
		_, seen := s.client.get(ctx, log, "id")
		if notFound(seen) || withheld(seen) {
			return token, true, nil
		}
		if seen != nil {
			return "", false, seen
		}
	}
	if status == http.StatusForbidden {
		return "", false, err
	}
	return "", false, &source.Failure{Class: source.ClassCheckpointExpired, Doing: "read the change log", Sentence: sayExpired, Err: err}
}

const sayExpired = "Google Drive doesn't know the change token any more: everything is listed"
