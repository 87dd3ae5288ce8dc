package config

import (
	"context"
	"errors"
	"fmt"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/gdrive"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/store"
)

var _ control.Configured = (*Sources)(nil)

// Missing says what a connection lacks before its source can be asked anything, and what to set; empty when it lacks nothing.
// It looks at settings, files and Postgres, and never asks the vendor.
func (s *Sources) Missing(ctx context.Context, name, connection string) (string, error) {
	switch {
	case s.store == nil:
		return "", nil
	case name == notion.Name:
		return s.missingNotion(ctx, connection)
	case name == gdrive.Name:
		_, _, err := s.gdriveKey(ctx, connection)
		return missingSentence(err)
	}
	return "", nil
}

// missingNotion looks for a person's consent first, which goes before the setting.
func (s *Sources) missingNotion(ctx context.Context, connection string) (string, error) {
	_, err := s.store.OAuthToken(ctx, connection)
	if err == nil || !errors.Is(err, store.ErrNotFound) {
		return "", err
	}
	_, err = s.secret(ctx, connection, s.config.Notion.Token, notionSetting)
	sentence, err := missingSentence(err)
	if sentence != "" {
		sentence = fmt.Sprintf("%s, or have a person consent: `starter connection authorize %s`", sentence, connection)
	}
	return sentence, err
}

// missingSentence is what people read of credentials that aren't there; other errors stay errors.
func missingSentence(err error) (string, error) {
	if failure, known := errors.AsType[*source.Failure](err); known {
		return failure.Sentence, nil
	}
	return "", err
}
