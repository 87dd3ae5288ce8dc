package config

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/loresync/loresync/internal/content/extract"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/gdrive"
	"github.com/loresync/loresync/internal/source/transport"
)

// gdriveBurst is how many requests may go out at once: Drive counts by the minute, and half a second's worth is far from that.
const gdriveBurst = 25

// gdriveSetting is the path of the default connection's key file.
const gdriveSetting = "LORESYNC_GDRIVE_CREDENTIALS_FILE"

func (s *Sources) newGDrive(ctx context.Context, connection string) (source.Source, error) {
	_, subject, err := s.gdriveKey(ctx, connection)
	if err != nil {
		return nil, err
	}
	key := func(ctx context.Context) ([]byte, error) {
		key, subject, err := s.gdriveKey(ctx, connection)
		if err == nil {
			s.use(ctx, connection, gdriveSetting, key, accountOf(key, subject))
		}
		return key, err
	}
	if err := s.store.SetBudget(ctx, connection, s.config.GDrive.Rate, gdriveBurst); err != nil {
		return nil, err
	}
	return gdrive.New(gdrive.Options{ //nolint:contextcheck // nothing is sent before a request brings its own
		Endpoint:    s.config.GDrive.Endpoint,
		Transport:   transport.New(gdrive.Transport(connection, s.budget)),
		Credentials: gdrive.Credentials{Key: key, Subject: subject},
		Extract:     s.extractDriveFile,
	})
}

// gdriveKey reads a connection's key, and as whom it reads. The connection that bears the source's name takes the settings unless
// it has a reference of its own.
func (s *Sources) gdriveKey(ctx context.Context, connection string) (key []byte, subject string, err error) {
	row, err := s.store.Connection(ctx, connection)
	if err != nil {
		return nil, "", connectionTrouble(connection, err)
	}
	if row.SecretRef != "" {
		secret, err := s.secret(ctx, connection, "", gdriveSetting)
		return []byte(secret), row.Subject, err
	}
	if subject = row.Subject; subject == "" {
		subject = s.config.GDrive.Subject
	}
	if s.config.GDrive.CredentialsFile == "" {
		return nil, "", &source.Failure{
			Class: source.ClassUnauthorized, Doing: "find the credentials",
			Sentence: gdriveSetting + " is not set: set it to the path of a service account's key file",
		}
	}
	if key, err = os.ReadFile(s.config.GDrive.CredentialsFile); err != nil {
		return nil, "", &source.Failure{
			Class: source.ClassUnauthorized, Doing: "find the credentials", Err: err,
			Sentence: fmt.Sprintf("the key file that %s names can't be read: check its path and rights", gdriveSetting),
		}
	}
	return key, subject, nil
}

// extractDriveFile reads files in a child process of their own, so that a large spreadsheet keeps no attachment of a Notion page
// waiting.
func (s *Sources) extractDriveFile(ctx context.Context, mimeType, name string, r io.Reader) (gdrive.Extracted, error) {
	result, err := s.driveFiles.Extract(ctx, mimeType, name, r)
	return gdrive.Extracted{
		Text: result.Text, Reason: result.Reason, Searchable: result.Searchable, Truncated: result.Truncated, Note: result.Note,
		Pages: result.Pages,
	}, err
}

// newDriveExtractor takes files as large as the source hands over.
func newDriveExtractor() *extract.Extractor {
	return extract.New(extract.Options{CacheDir: cacheDir(), MaxBytes: gdrive.MaxContent})
}
