package sandbox

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

// Page is a page of the workspace as the sandbox's own page shows it.
type Page struct {
	ID, Path string
	Trashed  bool
}

// pages are what the sandbox knows of the workspace. Safe for concurrent use.
type pages struct {
	mu   *sync.Mutex
	byID map[string]*Page
}

func newPages(ids map[string]string) pages {
	p := pages{mu: &sync.Mutex{}, byID: map[string]*Page{}}
	for path, id := range ids {
		p.byID[id] = &Page{ID: id, Path: path}
	}
	return p
}

func (p pages) all() []Page {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := make([]Page, 0, len(p.byID))
	for _, page := range p.byID {
		found = append(found, *page)
	}
	slices.SortFunc(found, func(a, b Page) int { return cmp.Compare(a.Path, b.Path) })
	return found
}

func (p pages) set(id string, change func(*Page)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byID[id] == nil {
		p.byID[id] = &Page{ID: id}
	}
	change(p.byID[id])
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// handler serves the page for people at / and what it sends at /sandbox/, and the API at everything else.
func (s *Sandbox) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", s.server)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = pageTemplate.Execute(w, s.view()) // the reader went away
	})
	mux.Handle("POST /sandbox/{action}", acting(s.change))
	mux.Handle("POST /sandbox/drive/{action}", acting(s.drive.change))
	return mux
}

// view is what the page shows: the vendors one below the other.
type view struct {
	Name, Action string
	// Top is what a page without a parent hangs below, Away where one is moved that leaves the synced folder.
	Top, Away string
	Pages     []Page
}

func (s *Sandbox) view() []view {
	return []view{
		{Name: "Notion", Action: "/sandbox/", Top: "the workspace", Away: "the workspace", Pages: s.pages.all()},
		{Name: "Google Drive", Action: "/sandbox/drive/", Top: "Company drive", Away: "Elsewhere, which is not synced", Pages: s.drive.pages.all()},
	}
}

// acting carries out one change and goes back to the page. Other sites may not send it.
func acting(change func(action string, value func(string) string) (string, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
			http.Error(w, "the sandbox takes changes from its own page only", http.StatusForbidden)
			return
		}
		id, err := change(r.PathValue("action"), r.FormValue)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		if strings.Contains(r.Header.Get("Accept"), "text/html") {
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		fmt.Fprintln(w, id)
	}
}

// change does to the workspace what people do in Notion, and gives the page's id.
func (s *Sandbox) change(action string, value func(string) string) (string, error) {
	id := value("page")
	var err error
	switch action {
	case "add":
		if id, err = s.space.AddPage(value("parent"), value("title"), blocks(value("text"))...); err == nil {
			s.pages.set(id, func(p *Page) { p.Path = value("title") })
		}
	case "edit":
		err = s.space.Edit(id, blocks(value("text"))...)
	case "rename":
		if err = s.space.Rename(id, value("title")); err == nil {
			s.pages.set(id, func(p *Page) { p.Path = value("title") })
		}
	case "move":
		err = s.space.Move(id, value("parent"))
	case "trash":
		if err = s.space.Trash(id); err == nil {
			s.pages.set(id, func(p *Page) { p.Trashed = true })
		}
	case "restore":
		if err = s.space.Restore(id); err == nil {
			s.pages.set(id, func(p *Page) { p.Trashed = false })
		}
	case "unshare":
		err = s.space.Unshare(id)
	case "share":
		err = s.space.Share(id)
	default:
		err = fmt.Errorf("there is no change %q: use add, edit, rename, move, trash, restore, unshare or share", action)
	}
	return id, err
}

// blocks makes blocks of a plain text: a paragraph for each part between empty lines, a heading for one that begins with #.
func blocks(text string) []notiontest.Block {
	var made []notiontest.Block
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		part = strings.TrimSpace(part)
		switch heading, isHeading := strings.CutPrefix(part, "# "); {
		case part == "":
		case isHeading:
			made = append(made, notiontest.Heading(1, notiontest.Text(heading)))
		default:
			made = append(made, notiontest.Paragraph(notiontest.Text(part)))
		}
	}
	return made
}
