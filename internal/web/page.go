package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
)

//go:embed templates/*.html
var templates embed.FS

// The pages, each the common layout with what is its own. They are parsed when the program starts, so that a page that is
// wrong can't wait for its first visitor.
var (
	statusTemplate  = parse("status.html")
	messageTemplate = parse("message.html")
)

// The addresses of the static files, which change with their content.
var (
	styleAddress = addressOf("style.css")
	iconAddress  = addressOf("icon.svg")
)

func parse(page string) *template.Template {
	return template.Must(template.ParseFS(templates, "templates/layout.html", "templates/"+page))
}

func addressOf(name string) string {
	content, err := static.ReadFile("static/" + name)
	if err != nil {
		panic(fmt.Sprintf("a static file is not part of the program: %v", err))
	}
	hash := sha256.Sum256(content)
	return "/static/" + name + "?v=" + hex.EncodeToString(hash[:4])
}

// frame is what every page has.
type frame struct {
	Title, Style, Icon string
	// Refresh is in seconds; 0 means that the page stays as it is.
	Refresh int
}

func newFrame(title string) frame {
	return frame{Title: title, Style: styleAddress, Icon: iconAddress}
}

// message is a page that says one thing.
type message struct {
	frame
	Heading, Sentence, Command string
}

// render makes the whole page before its first byte is sent.
func (s *server) render(w http.ResponseWriter, r *http.Request, status int, page *template.Template, data any) {
	var body bytes.Buffer
	if err := page.ExecuteTemplate(&body, "layout", data); err != nil {
		s.options.Log.ErrorContext(r.Context(), "page could not be made", "error", err)
		problem(w, http.StatusInternalServerError, "This page could not be made. The gateway's log says why.")
		return
	}
	send(w, status, "text/html; charset=utf-8", body.Bytes())
}
