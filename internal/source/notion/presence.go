package notion

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/notion/document"
)

// Presence reads a page, or a database, and climbs from it to the root. Notion answers the same for what was deleted and for
// what isn't shared any more: both are gone. An error of Notion's own says nothing, which counts as alive.
func (s *Source) Presence(ctx context.Context, root source.Root, sourceID string) (source.Presence, error) {
	object, presence, err := s.lookAt(ctx, sourceID)
	if err != nil || presence != source.PresenceAlive {
		return presence, err
	}
	if root.Ref == Workspace {
		return source.PresenceAlive, nil
	}
	t, listed, err := s.top(ctx, root)
	switch {
	case err != nil:
		return s.doubt(err)
	case listed.Verdict != "":
		return source.PresenceUnknown, nil
	}
	return s.climb(ctx, t, sourceID, object)
}

// lookAt reads a page or database, and tells whether it is there.
func (s *Source) lookAt(ctx context.Context, id string) (document.Object, source.Presence, error) {
	object, err := decoded(s.client.page(ctx, id))
	if notShared(err) || statusOf(err) == http.StatusBadRequest {
		object, err = decoded(s.client.database(ctx, id))
	}
	switch {
	case notShared(err):
		return object, source.PresenceGone, nil
	case err != nil:
		presence, err := s.doubt(err)
		return object, presence, err
	case object.InTrash:
		return object, source.PresenceTrashed, nil
	}
	return object, source.PresenceAlive, nil
}

// doubt tells errors that have to be seen (a refused token, a limit, the end of the context) from those that say nothing.
func (*Source) doubt(err error) (source.Presence, error) {
	acted := failure(err)
	if known, ok := acted.(*source.Failure); ok { //nolint:errorlint // failure gives it outermost
		switch known.Class {
		case source.ClassUnauthorized, source.ClassRateLimited:
			return source.PresenceUnknown, acted
		case source.ClassUnavailable, source.ClassNotFound, source.ClassInvalid, source.ClassCheckpointExpired:
			return source.PresenceUnknown, nil
		}
	}
	return source.PresenceUnknown, acted
}

// climb goes up from an object until it meets the root, or the top of the workspace. What it may not see on the way is no
// proof of anything.
func (s *Source) climb(ctx context.Context, t top, id string, object document.Object) (source.Presence, error) {
	parent := object.Parent
	for range maxDepth {
		if id == t.id {
			return source.PresenceAlive, nil
		}
		var raw []byte
		var err error
		switch parent.Type {
		case "workspace":
			return source.PresenceMoved, nil
		case "page_id":
			id = parent.ID
			raw, err = s.client.page(ctx, id)
		case "database_id":
			id = parent.ID
			raw, err = s.client.database(ctx, id)
		case "data_source_id":
			if t.dataSource != "" && parent.DatabaseID == t.id {
				return presenceIf(parent.ID == t.dataSource), nil
			}
			if id = parent.DatabaseID; id == t.id {
				return source.PresenceAlive, nil
			}
			raw, err = s.client.database(ctx, id)
		case "block_id":
			raw, err = s.client.block(ctx, parent.ID)
		default:
			return source.PresenceUnknown, nil
		}
		if id == t.id {
			return source.PresenceAlive, nil
		}
		if err != nil {
			return s.doubt(err)
		}
		if parent, err = parentIn(raw); err != nil {
			return source.PresenceUnknown, nil //nolint:nilerr // what can't be read says nothing
		}
	}
	return source.PresenceUnknown, nil
}

func presenceIf(inside bool) source.Presence {
	if inside {
		return source.PresenceAlive
	}
	return source.PresenceMoved
}

// parentIn reads the parent of any object, blocks included.
func parentIn(raw json.RawMessage) (document.Parent, error) {
	var object struct {
		Parent json.RawMessage `json:"parent"`
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		return document.Parent{}, fmt.Errorf("read a parent: %w", err)
	}
	page, err := json.Marshal(map[string]any{"object": document.KindPage, "parent": object.Parent})
	if err != nil {
		return document.Parent{}, fmt.Errorf("read a parent: %w", err)
	}
	decoded, err := document.DecodeObject(page)
	return decoded.Parent, err
}
