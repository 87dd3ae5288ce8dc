package drivetest

import (
	"bytes"
	"net/http"
	"time"
)

// item gives a file of the user by its id, or by the alias root, under the parameters and keys of the request.
func (c *call) item(id string) (*item, error) {
	all, err := c.flag("supportsAllDrives")
	if err != nil {
		return nil, err
	}
	return c.itemOf(id, all)
}

// itemOf is item for a request that knows shared drives, or doesn't.
func (c *call) itemOf(id string, allDrives bool) (*item, error) {
	if id == "root" {
		id = c.s.users[c.email].root
	}
	it := c.s.items[id]
	if it == nil || !c.sees(it) || it.drive != "" && !allDrives {
		return nil, notFound(id)
	}
	if it.resourceKey != "" && it.owner != c.email && c.keys[id] != it.resourceKey {
		return nil, notFound(id)
	}
	return it, nil
}

// getFile answers files.get, with alt=media too.
func (c *call) getFile() (answer, error) {
	switch alt := c.query().Get("alt"); alt {
	case "", "json":
	case "media":
		return c.download()
	default:
		return answer{}, invalid("")
	}
	m, err := c.mask()
	if err != nil {
		return answer{}, err
	}
	it, err := c.item(c.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	return answer{object: c.file(it, m)}, nil
}

// download gives the bytes of a file. Only its owner, or an organizer of its shared drive, may have what counts as malware.
func (c *call) download() (answer, error) {
	it, err := c.item(c.r.PathValue("id"))
	if err != nil {
		return answer{}, err
	}
	acknowledged, err := c.flag("acknowledgeAbuse")
	if err != nil {
		return answer{}, err
	}
	b, ok := it.content.(*blob)
	switch role := c.role(it); {
	case !ok:
		return answer{}, refusal(NotDownloadable, it.id)
	case !c.canDownload(it):
		return answer{}, refusal(CannotDownload, it.id)
	case it.abusive && (!acknowledged || role != RoleOwner && role != RoleOrganizer):
		return answer{}, refusal(Abusive, it.id)
	}
	return answer{media: b.data, mime: it.mime, ranges: true}, nil
}

// send answers with bytes. Downloads have a length and may be asked for in part; exports are made while they are sent.
func (a answer) send(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", a.mime)
	if a.ranges {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(a.media))
		return
	}
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	_, _ = w.Write(a.media) // the client went away
}
