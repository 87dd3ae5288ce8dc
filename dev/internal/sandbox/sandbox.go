// Package sandbox runs stand-ins for the vendors' APIs, so that the real clients have something to sync without an account: a
// Notion workspace that holds the sample handbook, a Google Drive with every kind of file, and a page on which people change them.
package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"time"

	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

// seed makes the ids of the workspace the same at every start, so that a second start finds its pages unchanged.
const seed = 20260115

// written is when the handbook was written, by the workspace's clock.
var written = time.Date(2026, 1, 15, 9, 0, 0, 0, time.UTC)

// Sandbox is the running stand-ins.
type Sandbox struct {
	drive  *drive
	space  *notiontest.Workspace
	server *notiontest.Server
	http   *http.Server
	url    string
	secret string
	pages  pages
}

// Start serves a folder of Markdown as a Notion workspace, and parts of it in a Drive, each at an address of this machine.
func Start(files fs.FS, notionAddress, driveAddress string) (*Sandbox, error) {
	clock := notiontest.WallClock()
	clock.Set(written)
	space := notiontest.New(notiontest.Options{Seed: seed, Name: "Sample company", Clock: clock})
	ids, err := space.LoadMarkdown("", files)
	if err != nil {
		return nil, fmt.Errorf("load the handbook: %w", err)
	}
	clock.Set(time.Now())
	listener, err := net.Listen("tcp", notionAddress) //nolint:noctx // answers at once
	if err != nil {
		return nil, fmt.Errorf("listen for the sandbox: %w", err)
	}
	s := &Sandbox{
		space: space, server: notiontest.NewServer(space, notiontest.ServerOptions{}), url: "http://" + listener.Addr().String(), secret: "secret_" + rand.Text(),
		pages: newPages(ids),
	}
	if s.drive, err = startDrive(files, driveAddress); err != nil {
		return nil, errors.Join(err, listener.Close(), s.server.Close())
	}
	s.server.SetWebhooks(notiontest.WebhookOptions{Delay: 500 * time.Millisecond})
	s.http = &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.http.Serve(listener) }() // ends with Close
	return s, nil
}

// URL is the base URL of the API, without /v1. The page for people is at its root.
func (s *Sandbox) URL() string { return s.url }

// Token is what the API wants as a bearer.
func (s *Sandbox) Token() string { return s.server.Token() }

// WebhookSecret signs the webhooks.
func (s *Sandbox) WebhookSecret() string { return s.secret }

// DriveEndpoint is the base URL of Drive's API, with /drive/v3/.
func (s *Sandbox) DriveEndpoint() string { return s.drive.server.Endpoint() }

// DriveCredentials is the key file of the service account that the Drive is shared with.
func (s *Sandbox) DriveCredentials() []byte { return s.drive.server.CredentialsJSON() }

// DriveRoot is the id of the folder that holds every kind of file.
func (s *Sandbox) DriveRoot() string { return s.drive.root }

// Subscribe sends webhooks for every change to an address.
func (s *Sandbox) Subscribe(ctx context.Context, address string) error {
	if _, err := s.server.Subscribe(ctx, address, s.secret); err != nil {
		return fmt.Errorf("subscribe the gateway: %w", err)
	}
	return nil
}

// Close ends the servers.
func (s *Sandbox) Close() error {
	s.drive.server.Close()
	return errors.Join(s.http.Close(), s.server.Close())
}
