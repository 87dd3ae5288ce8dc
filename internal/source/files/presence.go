package files

import (
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/loresync/loresync/internal/source"
)

const confirming = "looking for the file"

// Presence looks at one path. It says gone only when the system says that there is nothing of that name in a root that is
// there, before and after the look.
func (s *Source) Presence(ctx context.Context, root source.Root, sourceID string) (source.Presence, error) {
	if err := ctx.Err(); err != nil {
		return source.PresenceUnknown, err
	}
	t, err := openTree(root.Ref)
	if err != nil {
		if _, ok := errors.AsType[*rootError](err); ok {
			return source.PresenceUnknown, nil
		}
		return source.PresenceUnknown, err
	}
	defer t.close()
	presence, err := look(ctx, t, sourceID)
	if err != nil {
		return presenceOf(ctx, t, err)
	}
	return confirmed(t, presence), nil
}

// confirmed keeps an answer that would remove a page only where the root is still the one that was opened.
func confirmed(t *tree, answer source.Presence) source.Presence {
	if answer != source.PresenceAlive && t.intact() != nil {
		return source.PresenceUnknown
	}
	return answer
}

// presenceOf reads an error of the system as an answer.
func presenceOf(ctx context.Context, t *tree, err error) (source.Presence, error) {
	switch {
	case ctx.Err() != nil:
		return source.PresenceUnknown, ctx.Err()
	case errors.Is(err, errExcluded):
		return confirmed(t, source.PresenceMoved), nil
	case vanished(err):
		return confirmed(t, source.PresenceGone), nil
	case errors.Is(err, fs.ErrPermission):
		return source.PresenceUnknown, nil
	}
	return source.PresenceUnknown, presenceFailure(err)
}

func presenceFailure(err error) error {
	if failure, ok := errors.AsType[*source.Failure](err); ok {
		return failure
	}
	return unavailable(confirming, "The system could not look at the file ("+cause(err)+"); it will be tried again.", err)
}

func look(ctx context.Context, t *tree, id string) (source.Presence, error) {
	if isHashed(id) {
		return lookForLong(ctx, t, id)
	}
	name, ok := nameOf(id)
	if !ok {
		return source.PresenceUnknown, nil
	}
	at, err := t.locate(name)
	if err != nil {
		return source.PresenceUnknown, err
	}
	if at.info.IsDir() {
		return lookInside(ctx, t, name)
	}
	return source.PresenceAlive, nil
}

var errFound = errors.New("found")

// lookInside tells whether a directory is still a container: one without a page in it exists, but is not listed.
func lookInside(ctx context.Context, t *tree, name string) (source.Presence, error) {
	w := walker{tree: t, limit: DefaultMaxBytes, emit: func(source.Entry) error { return errFound }}
	err := w.walk(ctx, placeOf(t.path, name), position{})
	switch {
	case errors.Is(err, errFound):
		return source.PresenceAlive, nil
	case err != nil:
		return source.PresenceUnknown, err
	case w.unread != "":
		return source.PresenceUnknown, nil
	}
	return source.PresenceMoved, nil
}

// lookForLong finds a file of which the id holds only a hash of the name.
func lookForLong(ctx context.Context, t *tree, id string) (source.Presence, error) {
	parentID := parentOf(id)
	parent := ""
	if parentID != "" {
		name, ok := nameOf(parentID)
		if !ok {
			return source.PresenceUnknown, nil
		}
		at, err := t.locate(name)
		if err != nil || !at.info.IsDir() {
			return source.PresenceGone, err
		}
		parent = name
	}
	files, _, err := t.read(ctx, parent, parentID)
	if err != nil {
		return source.PresenceUnknown, err
	}
	if slices.ContainsFunc(files, func(c child) bool { return childOf(parentID, c.segment) == id }) {
		return source.PresenceAlive, nil
	}
	return source.PresenceGone, nil
}
