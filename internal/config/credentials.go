package config

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/source/gdrive"
	"github.com/loresync/loresync/internal/source/notion"
	"github.com/loresync/loresync/internal/store"
)

// notionSetting is the token of the default connection.
const notionSetting = "LORESYNC_NOTION_TOKEN"

var _ control.Identified = (*Sources)(nil)

// usedKeys are the digests of the keys that this process has noted as used, by connection.
type usedKeys struct {
	mu sync.Mutex
	// kept is whether the process notes them: workers do, whose requests are those that people ask about.
	kept  bool
	noted map[string]string
}

// KeepKeys makes this process note which keys it uses, so that people can see what a running worker has.
func (s *Sources) KeepKeys() {
	s.keys.mu.Lock()
	defer s.keys.mu.Unlock()
	s.keys.kept, s.keys.noted = true, map[string]string{}
}

// use notes a key that a request is about to bear, the first time. That it can't be noted keeps no request from being sent; the next
// one tries again.
func (s *Sources) use(ctx context.Context, connection, setting string, key []byte, identity string) {
	digest := digestOf(key)
	s.keys.mu.Lock()
	defer s.keys.mu.Unlock()
	if !s.keys.kept || s.keys.noted[connection] == digest {
		return
	}
	row, err := s.store.Connection(ctx, connection)
	if err != nil {
		return
	}
	note := store.KeyNote{Connection: connection, Digest: digest, Origin: originOf(row, setting), Identity: identity, Used: true}
	if s.store.NoteKey(ctx, note) == nil {
		s.keys.noted[connection] = digest
	}
}

// digestOf tells keys apart. They have far too many random bits to be guessed from it.
func digestOf(key []byte) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:4])
}

// originOf says where a connection's secret is found.
func originOf(row store.Connection, setting string) string {
	kind, where, _ := strings.Cut(row.SecretRef, ":")
	switch kind {
	case "env":
		return where
	case "file":
		return "the file " + where
	}
	return setting
}

// accountOf names whose key a JSON key is. What can't be read names nobody.
func accountOf(key []byte, subject string) string {
	var said struct {
		Type     string `json:"type"`
		Email    string `json:"client_email"`
		ClientID string `json:"client_id"`
	}
	if json.Unmarshal(key, &said) != nil {
		return ""
	}
	switch {
	case said.Email != "" && subject != "":
		return said.Email + " as " + subject
	case said.Email == "" && said.ClientID != "":
		return "a person's consent for the client " + said.ClientID
	}
	return said.Email
}

// renewal says how the secret of a connection is replaced, and whether its running processes notice by themselves.
func (s *Sources) renewal(ctx context.Context, name, connection string) string {
	row, err := s.store.Connection(ctx, connection)
	if err != nil {
		return "mend its credentials"
	}
	setting := notionSetting
	if name == gdrive.Name {
		setting = gdriveSetting
	}
	kind, where, _ := strings.Cut(row.SecretRef, ":")
	switch {
	case kind == "file":
		return fmt.Sprintf("to replace the secret, write the new one into %s: it is read anew, and nothing has to be restarted", where)
	case kind == "" && name == gdrive.Name:
		return fmt.Sprintf("to replace the key, write the new one into %s, which is read anew; only another path in %s needs a restart of all workers and gateways",
			s.config.GDrive.CredentialsFile, gdriveSetting)
	case kind == "" && row.KeyOrigin != "" && row.KeyDigest == "":
		return fmt.Sprintf("to renew them, have a person consent again: `starter connection authorize %s`", connection)
	}
	return fmt.Sprintf("to replace the secret, set %s for all workers and gateways and restart them: a running process keeps what it was started with",
		originOf(row, setting))
}

// Identity asks a source whose credentials this process has, with one request at most, and notes the answer. Those of a person's
// consent are known by their account.
func (s *Sources) Identity(ctx context.Context, name, connection string) (control.Credentials, error) {
	if s.store == nil || name != notion.Name && name != gdrive.Name {
		return control.Credentials{}, nil
	}
	row, err := s.store.Connection(ctx, connection)
	if err != nil {
		return control.Credentials{}, connectionTrouble(connection, err)
	}
	key, found, err := s.keyOf(ctx, name, row)
	if err != nil || key == nil {
		return found, err
	}
	note := store.KeyNote{Connection: connection, Digest: digestOf(key), Origin: found.Origin, Identity: found.Identity}
	found.Key = note.Digest
	if name == notion.Name {
		if note.Identity, err = s.askIdentity(ctx, name, connection); err != nil {
			return found, err
		}
		found.Identity = note.Identity
	}
	return found, s.store.NoteKey(ctx, note)
}

// keyOf reads a connection's key, nil for a person's consent, and what is known of it without asking anybody.
func (s *Sources) keyOf(ctx context.Context, name string, row store.Connection) ([]byte, control.Credentials, error) {
	if name == gdrive.Name {
		key, subject, err := s.gdriveKey(ctx, row.Name)
		return key, control.Credentials{Origin: originOf(row, gdriveSetting), Identity: accountOf(key, subject)}, err
	}
	if row.KeyOrigin != "" && row.KeyDigest == "" {
		return nil, control.Credentials{Origin: row.KeyOrigin, Identity: row.Identity, Since: row.KeySince}, nil
	}
	secret, err := s.secret(ctx, row.Name, s.config.Notion.Token, notionSetting)
	return []byte(secret), control.Credentials{Origin: originOf(row, notionSetting)}, err
}

func (s *Sources) askIdentity(ctx context.Context, name, connection string) (string, error) {
	src, err := s.Source(ctx, name, connection)
	if err != nil {
		return "", err
	}
	if asked, able := src.(interface {
		Identity(ctx context.Context) (string, error)
	}); able {
		return asked.Identity(ctx)
	}
	return "", nil
}
