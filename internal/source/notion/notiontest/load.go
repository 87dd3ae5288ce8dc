package notiontest

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// LoadMarkdown makes pages of a folder of Markdown, below a parent or at the top of the workspace for an empty one. Folders
// become pages that hold those of their files; a file called index.md or README.md becomes the content of its folder's page.
// A page's title is the one in the front matter, else the first heading, else the name of the file. Links between files become
// links between pages. What isn't Markdown is left out, as is what begins with a dot. It gives the ids of the pages by the paths
// of the files and folders; an id depends only on the seed and the path.
func (w *Workspace) LoadMarkdown(parent string, files fs.FS) (map[string]string, error) {
	l := &loading{w: w, files: files, parent: parent, ids: map[string]string{}, texts: map[string]document{}}
	if err := fs.WalkDir(files, ".", l.visit); err != nil {
		return nil, fmt.Errorf("load a folder of Markdown: %w", err)
	}
	// Only now are all pages known that a link may lead to.
	for _, name := range slices.Sorted(maps.Keys(l.texts)) {
		if err := w.Edit(l.ids[name], markdown(l.texts[name].body, l.linker(name))...); err != nil {
			return nil, fmt.Errorf("load %s: %w", name, err)
		}
	}
	return l.ids, nil
}

// loading is one run of LoadMarkdown.
type loading struct {
	w      *Workspace
	files  fs.FS
	parent string
	ids    map[string]string
	texts  map[string]document
}

func (l *loading) visit(name string, entry fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case name == ".":
		return nil
	case strings.HasPrefix(entry.Name(), "."):
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	case entry.IsDir():
		return l.folder(name)
	case strings.EqualFold(path.Ext(name), ".md"):
		return l.page(name)
	}
	return nil
}

func (l *loading) folder(name string) error {
	title := path.Base(name)
	for _, index := range []string{"index.md", "README.md"} {
		doc, err := l.read(path.Join(name, index))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		title = withDefault(doc.title, title)
		l.texts[name] = doc
		break
	}
	return l.add(name, title)
}

func (l *loading) page(name string) error {
	folder := path.Dir(name)
	if base := path.Base(name); folder != "." && (base == "index.md" || base == "README.md") {
		if _, taken := l.texts[folder]; taken {
			l.ids[name] = l.ids[folder]
			return nil
		}
	}
	doc, err := l.read(name)
	if err != nil {
		return err
	}
	l.texts[name] = doc
	return l.add(name, withDefault(doc.title, strings.TrimSuffix(path.Base(name), path.Ext(name))))
}

func (l *loading) read(name string) (document, error) {
	raw, err := fs.ReadFile(l.files, name)
	if err != nil {
		return document{}, err
	}
	return parseDocument(string(raw)), nil
}

// add makes an empty page for a file or folder.
func (l *loading) add(name, title string) error {
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	parent := l.parent
	if folder := path.Dir(name); folder != "." {
		parent = l.ids[folder]
	}
	id, err := l.w.addPage(uuidOf(l.w.seed, "markdown/"+l.parent+"/"+name), parent, title, nil)
	l.ids[name] = id
	return err
}

// linker turns the address of a link in a file into one that leads to a page, where it leads to another file.
func (l *loading) linker(name string) func(string) string {
	folder := path.Dir(name)
	if _, isFile := l.texts[name]; isFile && path.Ext(name) == "" {
		folder = name
	}
	return func(address string) string {
		target, _, _ := strings.Cut(address, "#")
		if id, ok := l.ids[path.Join(folder, target)]; ok && target != "" && !strings.Contains(address, ":") {
			return "/" + compact(id)
		}
		return address
	}
}

// document is a file of Markdown without what became the page's title.
type document struct{ title, body string }

func parseDocument(text string) document {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	title, body := frontMatter(text)
	heading, rest, found := strings.Cut(strings.TrimLeft(body, "\n"), "\n")
	if name, ok := strings.CutPrefix(heading, "# "); ok {
		name = strings.TrimSpace(name)
		// The first heading is the title, unless another one was given that says something else.
		if title == "" || plain(inline(title, nil)) == plain(inline(name, nil)) {
			title, body = plain(inline(name, nil)), rest
			if !found {
				body = ""
			}
		}
	}
	return document{title: title, body: body}
}

// frontMatter splits a file into the title that its front matter names and what follows it.
func frontMatter(text string) (title, body string) {
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", text
	}
	head, body, ok := strings.Cut(rest, "\n---\n")
	if !ok {
		return "", text
	}
	for line := range strings.Lines(head) {
		if value, ok := strings.CutPrefix(line, "title:"); ok {
			title = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return title, body
}
