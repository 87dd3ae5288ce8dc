package web

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/loresync/loresync/internal/ids"
)

// links lead to Temporal's own pages, where there are any.
type links struct{ ui, namespace string }

func (l links) home() string {
	if l.ui == "" {
		return ""
	}
	return strings.TrimRight(l.ui, "/") + "/namespaces/" + url.PathEscape(l.namespace) + "/workflows"
}

// folder leads to all workflows about a folder.
func (l links) folder(id string) string {
	prefix, err := ids.FolderPrefix(id)
	if err != nil {
		return ""
	}
	return l.search("STARTS_WITH", prefix)
}

// workflow leads to the runs of one Workflow ID. A search is used, since an ID of ours has slashes, which paths bear badly.
func (l links) workflow(id string) string { return l.search("=", id) }

func (l links) search(operator, value string) string {
	if l.ui == "" {
		return ""
	}
	query := fmt.Sprintf("WorkflowId %s %q", operator, value)
	return l.home() + "?query=" + url.PathEscape(query)
}
