package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

// drive is a stand-in Google Drive with one folder that holds every kind of file.
type drive struct {
	server *drivetest.Server
	// root is the folder that is synced, outside one beside it, to move things to.
	root, outside string
	pages         pages
}

// startDrive fills a Drive and serves it at an address of this machine.
func startDrive(files fs.FS, address string) (d *drive, err error) {
	clock := drivetest.WallClock()
	clock.Set(written)
	// The stand-in takes a failure to listen for a mistake of the test that starts it.
	defer func() {
		if failed := recover(); failed != nil {
			d, err = nil, fmt.Errorf("start the stand-in of Drive: %v", failed)
		}
	}()
	server := drivetest.New(drivetest.Options{Seed: seed, Address: address, Clock: clock})
	d = &drive{server: server, pages: newPages(nil)}
	if err := d.fill(files); err != nil {
		server.Close()
		return nil, fmt.Errorf("fill the stand-in of Drive: %w", err)
	}
	server.SetPush(drivetest.PushOptions{})
	clock.Set(time.Now())
	return d, nil
}

// fill puts one file of each kind into a tree of folders.
func (d *drive) fill(files fs.FS) error {
	mine := d.server.Root(d.server.Owner())
	var err error
	if d.root, err = d.server.AddFolder(mine, "Company drive"); err != nil {
		return err
	}
	if d.outside, err = d.server.AddFolder(mine, "Elsewhere"); err != nil {
		return err
	}
	f := filler{drive: d}
	f.documents(f.folder(d.root, "Documents"), files)
	f.tables(f.folder(d.root, "Tables"))
	f.texts(f.folder(d.root, "Texts"))
	return f.err
}

// filler keeps the first error, so that the tree can be written down as it is.
type filler struct {
	*drive
	err error
}

func (f *filler) folder(parent, name string) string {
	id, err := f.server.AddFolder(parent, name)
	return f.keep(id, name, err)
}

// keep notes a file under its name.
func (f *filler) keep(id, name string, err error) string {
	if f.err == nil {
		f.err = err
	}
	if err == nil {
		f.pages.set(id, func(p *Page) { p.Path = name })
	}
	return id
}

func (f *filler) file(parent, name, mime string, data []byte) {
	id, err := f.server.AddFile(parent, name, mime, data)
	f.keep(id, name, err)
}

// copyOf stores what Drive exports of a file as a file of its own.
func (f *filler) copyOf(id, parent, name, mime string) {
	data, err := f.server.Exported(id, mime)
	if err != nil {
		f.err = errors.Join(f.err, err)
		return
	}
	f.file(parent, name, mime, data)
}

const (
	mimeDocx = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	mimePptx = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
	mimeXlsx = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	mimeOdt  = "application/vnd.oasis.opendocument.text"
	mimePDF  = "application/pdf"
)

// documents are Docs made of the handbook's first files, Slides, and files of other office programs.
func (f *filler) documents(folder string, files fs.FS) {
	first := f.document(folder, files, "people/onboarding.md", "Onboarding guide")
	f.document(folder, files, "ja/people/経費精算.md", "経費精算")
	slides, err := f.server.AddSlides(folder, "First days", onboarding...)
	f.keep(slides, "First days", err)
	f.copyOf(first, folder, "Onboarding guide 2025.docx", mimeDocx)
	f.copyOf(slides, folder, "First days 2025.pptx", mimePptx)
	f.file(folder, "Visitors.odt", mimeOdt, openDocument(visitors))
	f.file(folder, "Fire drill.pdf", mimePDF, portableDocument(fireDrill))
	id, err := f.server.AddShortcut(folder, "Start here", first)
	f.keep(id, "Start here", err)
	f.file(folder, "Logo.png", "image/png", []byte("\x89PNG\r\n\x1a\n"))
}

// document makes a Doc of a page of the handbook.
func (f *filler) document(folder string, files fs.FS, path, name string) string {
	text, err := fs.ReadFile(files, path)
	if err != nil {
		return f.keep("", name, err)
	}
	id, err := f.server.AddDoc(folder, name, string(text))
	return f.keep(id, name, err)
}

func (f *filler) tables(folder string) {
	sheet, err := f.server.AddSheet(folder, "Equipment", equipment...)
	f.keep(sheet, "Equipment", err)
	f.copyOf(sheet, folder, "Equipment 2025.xlsx", mimeXlsx)
	f.file(folder, "座席表.csv", "text/csv", seatsInShiftJIS)
}

func (f *filler) texts(folder string) {
	f.file(folder, "Printer.md", "text/markdown", []byte("# The printer\n\nThe printer of floor 2 takes A3 in its lower tray.\n"))
	f.file(folder, "Lost and found.txt", "text/plain", keysInUTF16)
	f.file(folder, "Canteen.html", "text/html", []byte("<h1>Canteen</h1><p>Open from 11:30 to 14:00. Curry is on <b>Friday</b>.</p>"))
}

// change does to the Drive what people do in it, and gives the file's id.
func (d *drive) change(action string, value func(string) string) (string, error) {
	id := value("page")
	var err error
	switch action {
	case "add":
		return d.add(cmp.Or(value("parent"), d.root), value("title"), value("text"))
	case "edit":
		err = d.server.EditDoc(id, value("text"))
	case "rename":
		err = d.noted(id, d.server.Rename(id, value("title")), func(p *Page) { p.Path = value("title") })
	case "move":
		err = d.server.Move(id, cmp.Or(value("parent"), d.outside))
	case "trash":
		err = d.noted(id, d.server.Trash(id), func(p *Page) { p.Trashed = true })
	case "restore":
		err = d.noted(id, d.server.Restore(id), func(p *Page) { p.Trashed = false })
	case "unshare":
		err = d.server.LoseAccess(id, d.server.ServiceAccount())
	case "share":
		err = d.server.RegainAccess(id, d.server.ServiceAccount())
	default:
		err = fmt.Errorf("there is no change %q: use add, edit, rename, move, trash, restore, unshare or share", action)
	}
	return id, err
}

func (d *drive) add(parent, title, text string) (string, error) {
	id, err := d.server.AddDoc(parent, title, text)
	return id, d.noted(id, err, func(p *Page) { p.Path = title })
}

// noted changes what the sandbox's own page shows, once the Drive took the change.
func (d *drive) noted(id string, err error, change func(*Page)) error {
	if err == nil {
		d.pages.set(id, change)
	}
	return err
}
