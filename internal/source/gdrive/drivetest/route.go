package drivetest

import (
	"net/http"
	"strings"
)

// Kind is an endpoint, for counting requests and choosing them; named as Drive's discovery document does.
type Kind string

// The endpoints. KindMedia is files.get with alt=media, KindExportLink an address of a file's exportLinks.
const (
	KindAbout       Kind = "about.get"
	KindList        Kind = "files.list"
	KindGet         Kind = "files.get"
	KindMedia       Kind = "files.get media"
	KindExport      Kind = "files.export"
	KindExportLink  Kind = "exportLinks"
	KindPermissions Kind = "permissions.list"
	KindDrives      Kind = "drives.list"
	KindDrive       Kind = "drives.get"
	KindStartToken  Kind = "changes.getStartPageToken"
	KindChanges     Kind = "changes.list"
	KindWatch       Kind = "changes.watch"
	KindStop        Kind = "channels.stop"
	KindToken       Kind = "token"
	// KindUnknown is every other path.
	KindUnknown Kind = "unknown"
)

// route is one endpoint. Its path has {id} in the place of a file's or shared drive's id.
type route struct {
	kind         Kind
	method, path string
	answer       func(*call) (answer, error)
}

func routes() []route {
	get, post := http.MethodGet, http.MethodPost
	return []route{
		{KindAbout, get, "about", (*call).about},
		{KindList, get, "files", (*call).listFiles},
		{KindGet, get, "files/{id}", (*call).getFile},
		{KindExport, get, "files/{id}/export", (*call).exportFile},
		{KindPermissions, get, "files/{id}/permissions", (*call).listPermissions},
		{KindDrives, get, "drives", (*call).listDrives},
		{KindDrive, get, "drives/{id}", (*call).getDrive},
		{KindStartToken, get, "changes/startPageToken", (*call).startToken},
		{KindChanges, get, "changes", (*call).listChanges},
		{KindWatch, post, "changes/watch", (*call).watchChanges},
		{KindStop, post, "channels/stop", (*call).stopChannel},
	}
}

// exportPath is where exportLinks lead, in the place of docs.google.com.
const exportPath = "/docs.google.com/"

// newMux leads requests to their endpoints.
func (s *Server) newMux() *http.ServeMux {
	mux := http.NewServeMux()
	for _, to := range routes() {
		mux.Handle(to.method+" /drive/v3/"+to.path, s.endpoint(to))
	}
	mux.Handle("GET "+exportPath+"{editor}/export", s.endpoint(route{kind: KindExportLink, answer: (*call).followExportLink}))
	mux.Handle("POST /token", s.endpoint(route{kind: KindToken}))
	mux.Handle("/", s.endpoint(route{kind: KindUnknown, answer: unknownPath}))
	return mux
}

func unknownPath(*call) (answer, error) {
	return answer{}, &apiError{status: http.StatusNotFound, reason: string(NotFound), message: "Not Found"}
}

// inspect notes what a request is and about what.
func (s *Server) inspect(r *http.Request, to route) Request {
	query := r.URL.Query()
	for _, secret := range []string{"access_token", "oauth_token", "key"} {
		query.Del(secret)
	}
	req := Request{Kind: to.kind, Method: r.Method, Path: r.URL.Path, Query: query, ID: r.PathValue("id")}
	switch {
	case to.kind == KindGet && query.Get("alt") == "media":
		req.Kind = KindMedia
	case to.kind == KindExportLink:
		req.ID = query.Get("id")
	case req.ID == "":
		req.ID = query.Get("driveId")
	}
	req.User, _ = s.oauth.bearer(r)
	return req
}

// call is one request that was let in.
type call struct {
	*view
	r    *http.Request
	kind Kind
	// keys are the resource keys that came with it, by the files' ids.
	keys map[string]string
}

// resourceKeys reads the header that carries them: id/key, separated by commas.
func resourceKeys(r *http.Request) map[string]string {
	keys := map[string]string{}
	for pair := range strings.SplitSeq(r.Header.Get("X-Goog-Drive-Resource-Keys"), ",") {
		if id, key, ok := strings.Cut(strings.TrimSpace(pair), "/"); ok {
			keys[id] = key
		}
	}
	return keys
}
