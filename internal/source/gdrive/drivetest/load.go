package drivetest

import (
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

// LoadOptions say what files become.
type LoadOptions struct {
	// KeepMarkdown keeps files of Markdown as they are; otherwise they become Docs with the name of the file without its ending.
	KeepMarkdown bool
	// Hidden loads files and folders too whose names begin with a dot.
	Hidden bool
}

// Load fills a folder with the files and folders of a tree, such as os.DirFS of a directory. It gives the ids of the files and
// folders by their paths; an id depends only on the seed, the folder and the path.
func (s *Server) Load(parent string, files fs.FS, o LoadOptions) (map[string]string, error) {
	if parent == "" {
		s.mu.Lock()
		parent = s.user(s.editor).root
		s.mu.Unlock()
	}
	l := &loading{s: s, files: files, options: o, root: parent, ids: map[string]string{".": parent}}
	if err := fs.WalkDir(files, ".", l.visit); err != nil {
		return nil, fmt.Errorf("load a folder: %w", err)
	}
	delete(l.ids, ".")
	return l.ids, nil
}

// loading is one run of Load.
type loading struct {
	s       *Server
	files   fs.FS
	options LoadOptions
	root    string
	ids     map[string]string
}

func (l *loading) visit(name string, entry fs.DirEntry, err error) error {
	switch {
	case err != nil:
		return err
	case name == ".":
		return nil
	case strings.HasPrefix(entry.Name(), ".") && !l.options.Hidden:
		if entry.IsDir() {
			return fs.SkipDir
		}
		return nil
	case entry.IsDir():
		return l.add(name, &item{name: entry.Name(), mime: MimeFolder})
	case entry.Type().IsRegular():
		return l.file(name)
	}
	return nil
}

func (l *loading) file(name string) error {
	data, err := fs.ReadFile(l.files, name)
	if err != nil {
		return err
	}
	base, ending := path.Base(name), strings.ToLower(path.Ext(name))
	isMarkdown := ending == ".md" || ending == ".markdown"
	if isMarkdown && !l.options.KeepMarkdown {
		it := &item{name: strings.TrimSuffix(base, path.Ext(base)), mime: MimeDoc}
		it.content = newDocument(string(data), l.pictures(name, string(data)))
		return l.add(name, it)
	}
	return l.add(name, &item{name: base, mime: typeOf(ending, data), content: newBlob(data)})
}

// typeOf is the type that Drive gives to what is uploaded.
func typeOf(ending string, data []byte) string {
	switch ending {
	case ".md", ".markdown":
		return "text/markdown"
	case ".txt", "":
		return "text/plain"
	}
	guess := mime.TypeByExtension(ending)
	if guess == "" {
		guess = http.DetectContentType(data)
	}
	bare, _, _ := strings.Cut(guess, ";")
	return bare
}

// pictures are the files that a text shows, by the addresses in it.
func (l *loading) pictures(name, text string) map[string][]byte {
	found := map[string][]byte{}
	for rest := text; ; {
		_, after, ok := strings.Cut(rest, "](")
		if !ok {
			return found
		}
		address, _, _ := strings.Cut(after, ")")
		rest = after
		// What isn't a file here is an address of the web, or a link to nowhere.
		if data, err := fs.ReadFile(l.files, path.Join(path.Dir(name), address)); err == nil {
			found[address] = data
		}
	}
}

// add places a file in the folder that its path says.
func (l *loading) add(name string, it *item) error {
	l.s.mu.Lock()
	defer l.s.mu.Unlock()
	it.id = fileID(l.s.options.Seed, "load/"+l.root+"/"+name, it.mime)
	id, err := l.s.insert(l.ids[path.Dir(name)], it)
	l.ids[name] = id
	return err
}
