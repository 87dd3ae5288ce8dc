package gdrive

import (
	"context"

	"google.golang.org/api/googleapi"

	"github.com/loresync/loresync/internal/source"
)

// Presence reads a file and climbs from it to the root. Drive answers the same for what was deleted and for what isn't shared any
// more: both are gone. An error of Drive's own says nothing, which counts as alive, and so does a root that can't be found: then
// nothing can be said of what was below it.
func (s *Source) Presence(ctx context.Context, root source.Root, sourceID string) (source.Presence, error) {
	presence, err := s.presence(ctx, root, sourceID)
	if err != nil {
		return s.doubt(err)
	}
	return presence, nil
}

func (s *Source) presence(ctx context.Context, root source.Root, id string) (source.Presence, error) {
	f, err := s.metadata(ctx, root, id, fileFields)
	missing := notFound(err)
	if err != nil && !missing {
		return source.PresenceUnknown, err
	}
	top, listed, err := s.top(ctx, root, presenceKept)
	switch {
	case err != nil:
		return source.PresenceUnknown, err
	case listed.Verdict != "":
		return source.PresenceUnknown, nil
	case missing:
		return source.PresenceGone, nil
	case f.trashed:
		return source.PresenceTrashed, nil
	}
	at, err := s.climber(top, presenceKept).place(ctx, f)
	switch {
	case err != nil:
		return source.PresenceUnknown, err
	case at.inside:
		return source.PresenceAlive, nil
	case at.unsure:
		return source.PresenceUnknown, nil
	}
	return source.PresenceMoved, nil
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

// metadata reads what Drive tells of a file. One that isn't found is asked for once more when a resource key turns up for it: keys
// come with listings and shortcuts, which this process may not have seen.
func (s *Source) metadata(ctx context.Context, root source.Root, id string, fields googleapi.Field) (file, error) {
	ref := refOf(root)
	s.client.keys.note(ref.id, ref.key)
	f, err := s.client.get(ctx, id, fields)
	if !notFound(err) || s.client.keys.has(id) {
		return f, err
	}
	if learned := s.learnKeys(ctx, root); learned != nil {
		return file{}, learned
	}
	if !s.client.keys.has(id) {
		return f, err
	}
	return s.client.get(ctx, id, fields)
}

// learnKeys reads the shortcuts that bear keys, and lists a root that needs one itself, whose files may need theirs.
func (s *Source) learnKeys(ctx context.Context, root source.Root) error {
	top, listed, err := s.top(ctx, root, presenceKept)
	if err != nil || listed.Verdict != "" {
		return err
	}
	if _, _, err := s.targets.to(ctx, s.client, top.drive, "", targetsKept); err != nil || refOf(root).key == "" || !s.client.keys.due(root.Ref) {
		return err
	}
	w := s.sweep(top, checkpoint{}, false)
	w.take = func(context.Context, placed) error { return nil }
	return w.down(ctx, []placed{top})
}
