package api

import (
	"github.com/loresync/loresync/internal/control"
)

func (a *API) listConnections(c *call) (reply, error) {
	return ok(a.options.Control.Connections(c.r.Context()))
}

func (a *API) showConnection(c *call) (reply, error) {
	return ok(a.options.Control.Connection(c.r.Context(), c.path("connection")))
}

func (a *API) pauseConnection(c *call) (reply, error) {
	return ok(a.options.Control.PauseConnection(c.r.Context(), c.path("connection"), c.actor()))
}

func (a *API) resumeConnection(c *call) (reply, error) {
	return ok(a.options.Control.ResumeConnection(c.r.Context(), c.path("connection"), c.actor()))
}

func (a *API) checkConnection(c *call) (reply, error) {
	return ok(a.options.Control.CheckConnection(c.r.Context(), c.path("connection")))
}

func (a *API) status(c *call) (reply, error) { return ok(a.options.Control.Status(c.r.Context())) }

func (a *API) fsck(c *call) (reply, error) {
	return ok(a.options.Control.Fsck(c.r.Context(), control.FsckOptions{AgainstSource: c.flag("against_source")}))
}

func version(*call) (reply, error) { return ok(control.BuiltFrom(), nil) }

func (a *API) describe(*call) (reply, error) { return reply{raw: a.openapi, mediaType: jsonType}, nil }
