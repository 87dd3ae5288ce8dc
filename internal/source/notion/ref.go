package notion

import (
	"errors"
	"net/url"
	"regexp"
	"strings"

	"github.com/loresync/loresync/internal/source"
)

// Workspace is the root that stands for all that the connection may see.
const Workspace = "workspace"

var (
	errRootForm = errors.New("a Notion root is the URL or id of a page, a database or a data source, or `workspace`")
	// idAtEnd finds the id that every URL of Notion's ends its path with, dashed or not.
	idAtEnd = regexp.MustCompile(`(?i)(?:^|[^0-9a-f])([0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12})$`)
)

// Canonical gives the form of a root's reference that is stored: a dashed lower-case id, or workspace.
func Canonical(ref string) (string, error) {
	ref = strings.TrimSpace(ref)
	if strings.EqualFold(ref, Workspace) {
		return Workspace, nil
	}
	if id, ok := parseID(ref); ok {
		return id, nil
	}
	return "", errRootForm
}

// Resolve reads the id out of any form in which people paste a page: its URL, the short link to a block of it, a bare id.
func (*Source) Resolve(_ source.Root, ref string) (string, bool) { return parseID(ref) }

// parseID finds an id in a URL or a bare id, and gives it dashed and in lower case. In the URL of a view or of a page that is
// shown beside another, ?p= names the page.
func parseID(ref string) (string, bool) {
	ref = strings.TrimSpace(ref)
	if u, err := url.Parse(ref); err == nil && u.Host != "" {
		if !notionHost(u.Hostname()) {
			return "", false
		}
		if shown := u.Query().Get("p"); shown != "" {
			return bareID(shown)
		}
		return bareID(strings.TrimRight(u.Path, "/"))
	}
	return bareID(strings.TrimPrefix(ref, "/"))
}

func notionHost(host string) bool {
	host = strings.ToLower(host)
	for _, own := range []string{"notion.so", "notion.site", "notion.com"} {
		if host == own || strings.HasSuffix(host, "."+own) {
			return true
		}
	}
	// Stand-ins.
	return host == "127.0.0.1" || host == "localhost"
}

func bareID(text string) (string, bool) {
	found := idAtEnd.FindStringSubmatch(text)
	if found == nil {
		return "", false
	}
	return dashed(found[1]), true
}

// dashed gives an id the form in which Notion's API writes it.
func dashed(id string) string {
	id = strings.ToLower(strings.ReplaceAll(id, "-", ""))
	if len(id) != 32 {
		return id
	}
	return id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:]
}

// undashed is an id as Notion's addresses write it.
func undashed(id string) string { return strings.ReplaceAll(id, "-", "") }
