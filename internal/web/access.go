package web

import (
	"net/http"

	"github.com/loresync/loresync/internal/access"
)

// sight is how much a request may see of the status page.
type sight int

const (
	// sightNone is everybody's.
	sightNone sight = iota
	// sightLocal is this machine's: ids, states and counts.
	sightLocal
	// sightAll is that of whoever may read the whole deployment.
	sightAll
)

// door decides who may see how much.
type door struct {
	*access.Door
	// atHome is whether the gateway is meant for this machine alone. Behind a proxy every request comes from this machine.
	atHome bool
}

// newDoor makes a door that no credentials open where there is none.
func newDoor(opened *access.Door, publicURL string) door {
	if opened == nil {
		opened = access.NewDoor("", nil, nil)
	}
	return door{Door: opened, atHome: publicURL == "" || access.IsLoopbackURL(publicURL)}
}

// sight looks at a request's credentials first: whoever shows a wrong token is refused, wherever the request comes from. The page
// is about the whole deployment, so a token for some folders opens it as little as a wrong one.
func (d door) sight(r *http.Request) sight {
	if r.Header.Get("Authorization") != "" {
		principal, err := d.Principal(r)
		if err == nil && principal.Role >= access.Viewer && !principal.Scoped() {
			return sightAll
		}
		return sightNone
	}
	if d.atHome && access.IsLocal(r) {
		return sightLocal
	}
	return sightNone
}
