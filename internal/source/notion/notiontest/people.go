package notiontest

import (
	"fmt"
	"strings"
	"time"
)

// user is a person or the integration's bot.
type user struct {
	id, name, email string
	bot             bool
}

// AddUser makes a person and gives the id.
func (w *Workspace) AddUser(name, email string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.addUser(user{name: name, email: email})
}

func (w *Workspace) addUser(u user) string {
	u.id = uuidOf(w.seed, fmt.Sprintf("user/%d", len(w.users)))
	w.users = append(w.users, u)
	return u.id
}

// Bot is the id of the integration's own user.
func (w *Workspace) Bot() string { return w.bot }

// As makes changes from now on those of a user.
func (w *Workspace) As(id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.user(id) == nil {
		return fmt.Errorf("act as a user: nobody has the id %s", id)
	}
	w.editor = id
	return nil
}

func (w *Workspace) user(id string) *user {
	for i := range w.users {
		if w.users[i].id == id {
			return &w.users[i]
		}
	}
	return nil
}

// comment is one comment of a discussion on a page or block.
type comment struct {
	id, parent, discussion, by string
	text                       []Span
	at                         time.Time
	resolved                   bool
}

// AddComment starts a discussion on a page or block and gives the comment's id.
func (w *Workspace) AddComment(parent string, text ...Span) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.findKind(parent, kindPage, kindBlock)
	if err != nil {
		return "", fmt.Errorf("add a comment: %w", err)
	}
	c := &comment{id: w.nextID(), discussion: w.nextID(), parent: n.id, by: w.editor, text: text, at: w.clock.Now()}
	w.comment = append(w.comment, c)
	w.emitComment(c, "created")
	return c.id, nil
}

// Reply adds a comment to the discussion of another and gives its id.
func (w *Workspace) Reply(to string, text ...Span) (string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.comment {
		if c.id == to {
			r := &comment{id: w.nextID(), discussion: c.discussion, parent: c.parent, by: w.editor, text: text, at: w.clock.Now()}
			w.comment = append(w.comment, r)
			w.emitComment(r, "created")
			return r.id, nil
		}
	}
	return "", fmt.Errorf("reply to a comment: none has the id %s", to)
}

// Resolve closes the discussion that a comment belongs to; the API lists only open ones.
func (w *Workspace) Resolve(id string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.comment {
		if c.id != id {
			continue
		}
		for _, other := range w.comment {
			if other.discussion == c.discussion {
				other.resolved = true
			}
		}
		return nil
	}
	return fmt.Errorf("resolve a comment: none has the id %s", id)
}

// upload is a file that Notion keeps.
type upload struct {
	id, name, contentType string
	data                  []byte
}

// AddFile keeps a file and gives the id by which blocks, icons and properties refer to it.
func (w *Workspace) AddFile(name, contentType string, data []byte) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := w.nextID()
	w.files[id] = upload{id: id, name: strings.ReplaceAll(name, "/", "_"), contentType: contentType, data: data}
	return id
}
