// Package ids builds and parses every Workflow ID and every prefix that loresync uses. Nothing else spells one.
//
// The IDs are the duplicate control: whoever asks for a page sync arrives at the same ID and joins the run that is there.
//
//	folder/{folderId}/sync/{uniqueId}        SyncFolderWorkflow
//	folder/{folderId}/page/{pageId}/sync     SyncPageWorkflow
//	folder/{folderId}/page/{pageId}/delete   DeletePageWorkflow
//	folder/{folderId}/delete                 DeleteFolderWorkflow
//	folder/{folderId}/hold/{holdId}          ApproveHoldWorkflow
//	connection/{id}/webhook/{eventId}        FollowWebhookWorkflow
//	all/sync, all/janitor, all/due           SyncAllWorkflow, JanitorWorkflow, DueReadsWorkflow
//
// A segment holds only [A-Za-z0-9_-], a folder id is lower case, and the longest ID stays under the 255 characters that a
// Postgres-backed Temporal server can store. A prefix always ends in a slash: folder/f1 would also match folder/f10.
package ids

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
)

// The longest ids, in characters.
const (
	MaxFolder = 64
	MaxPage   = 128
	MaxUnique = 36
	// MaxConnection and MaxEvent bound the names of connections and the events that their sources tell of.
	MaxConnection = 64
	MaxEvent      = 128
	// MaxWorkflow is what a Postgres-backed Temporal server can store.
	MaxWorkflow = 255
)

// The Workflow IDs that exist once in a deployment.
const (
	SyncAll = "all/sync"
	Janitor = "all/janitor"
	Due     = "all/due"
	// Daily is the base of the ID that the daily Schedule gives its runs; Temporal appends a timestamp.
	Daily = "all/daily"
)

// Folders is what the Workflow IDs of everything in any folder start with. It ends in a slash.
const Folders = folderRoom + "/"

// Kind is what a Workflow ID stands for.
type Kind string

// The kinds of Workflow IDs.
const (
	KindSyncFolder   Kind = "sync_folder"
	KindSyncPage     Kind = "sync_page"
	KindDeletePage   Kind = "delete_page"
	KindDeleteFolder Kind = "delete_folder"
	KindHold         Kind = "hold"
	KindWebhook      Kind = "webhook"
	KindAll          Kind = "all"
)

const (
	folderRoom     = "folder"
	pageRoom       = "page"
	syncWord       = "sync"
	deleteWord     = "delete"
	holdRoom       = "hold"
	connectionRoom = "connection"
	webhookRoom    = "webhook"
	allRoom        = "all"
)

// Parsed is a Workflow ID taken apart.
type Parsed struct {
	Kind   Kind
	Folder string
	Page   string
	// Connection is set for webhooks, which belong to no folder.
	Connection string
	// Unique tells folder syncs, holds, webhook events and scheduled runs apart.
	Unique string
	// Work names what a KindAll id does: sync, janitor, due, daily.
	Work string
}

// SyncFolder is the Workflow ID of one folder sync.
func SyncFolder(folder, unique string) (string, error) {
	if err := CheckFolder(folder); err != nil {
		return "", err
	}
	if err := checkSegment("run id", unique, MaxUnique); err != nil {
		return "", err
	}
	return join(folderRoom, folder, syncWord, unique), nil
}

// Hold is the Workflow ID of the removal that a person approved.
func Hold(folder, hold string) (string, error) {
	if err := CheckFolder(folder); err != nil {
		return "", err
	}
	if err := checkSegment("hold id", hold, MaxUnique); err != nil {
		return "", err
	}
	return join(folderRoom, folder, holdRoom, hold), nil
}

// Webhook is the Workflow ID of one event that a source told a connection of. All deliveries of the event meet there. An event
// id outside the alphabet, or a longer one, is named by its hash.
func Webhook(connection, event string) (string, error) {
	if err := checkConnection(connection); err != nil {
		return "", err
	}
	if event == "" {
		return "", errors.New("event id is empty")
	}
	if checkSegment("event id", event, MaxEvent) != nil {
		event = PageIDForPath(event, 0)
	}
	return join(connectionRoom, connection, webhookRoom, event), nil
}

func checkConnection(connection string) error {
	if err := checkSegment("connection name", connection, MaxConnection); err != nil {
		return err
	}
	if strings.ToLower(connection) != connection {
		return fmt.Errorf("connection name %q has capitals: use lower case", connection)
	}
	return nil
}

// SyncPage is the Workflow ID at which every request for a sync of this page meets.
func SyncPage(folder, page string) (string, error) { return pageID(folder, page, syncWord) }

// DeletePage is the Workflow ID of the delete of a page.
func DeletePage(folder, page string) (string, error) { return pageID(folder, page, deleteWord) }

// DeleteFolder is the Workflow ID of the delete of a folder.
func DeleteFolder(folder string) (string, error) {
	if err := CheckFolder(folder); err != nil {
		return "", err
	}
	return join(folderRoom, folder, deleteWord), nil
}

// FolderPrefix is what the Workflow IDs of everything in a folder start with. It ends in a slash.
func FolderPrefix(folder string) (string, error) {
	if err := CheckFolder(folder); err != nil {
		return "", err
	}
	return join(folderRoom, folder) + "/", nil
}

// PagePrefix is what the Workflow IDs of everything about a page start with. It ends in a slash.
func PagePrefix(folder, page string) (string, error) {
	if err := check(folder, page); err != nil {
		return "", err
	}
	return join(folderRoom, folder, pageRoom, page) + "/", nil
}

// Parse takes a Workflow ID apart; it accepts exactly what the builders of this package give.
func Parse(id string) (Parsed, error) {
	parts := strings.Split(id, "/")
	switch {
	case len(parts) == 2 && parts[0] == allRoom:
		return parseAll(parts[1])
	case len(parts) == 3 && parts[0] == folderRoom && parts[2] == deleteWord:
		return Parsed{Kind: KindDeleteFolder, Folder: parts[1]}, CheckFolder(parts[1])
	case len(parts) == 4 && parts[0] == folderRoom:
		return parseUnique(parts)
	case len(parts) == 4 && parts[0] == connectionRoom && parts[2] == webhookRoom:
		return parseWebhook(parts)
	case len(parts) == 5 && parts[0] == folderRoom && parts[2] == pageRoom:
		return parsePage(parts)
	}
	return Parsed{}, fmt.Errorf("%q is not a Workflow ID of loresync", id)
}

// parseAll takes what runs once in a deployment apart. A Schedule appends the time of the run to the ID it was given.
func parseAll(word string) (Parsed, error) {
	work, at, scheduled := strings.Cut(word, "-")
	if scheduled {
		if _, err := time.Parse(time.RFC3339, at); err != nil {
			return Parsed{}, fmt.Errorf("%q is not the time of a scheduled run", at)
		}
	}
	switch join(allRoom, work) {
	case SyncAll, Janitor, Due, Daily:
		return Parsed{Kind: KindAll, Work: work, Unique: at}, nil
	}
	return Parsed{}, fmt.Errorf("%q is nothing that runs for all folders", work)
}

func parseUnique(parts []string) (Parsed, error) {
	kind := map[string]Kind{syncWord: KindSyncFolder, holdRoom: KindHold}[parts[2]]
	if kind == "" {
		return Parsed{}, fmt.Errorf("%q is nothing that a folder has", parts[2])
	}
	if err := checkSegment("run id", parts[3], MaxUnique); err != nil {
		return Parsed{}, err
	}
	return Parsed{Kind: kind, Folder: parts[1], Unique: parts[3]}, CheckFolder(parts[1])
}

func parseWebhook(parts []string) (Parsed, error) {
	if err := checkSegment("event id", parts[3], MaxEvent); err != nil {
		return Parsed{}, err
	}
	return Parsed{Kind: KindWebhook, Connection: parts[1], Unique: parts[3]}, checkConnection(parts[1])
}

func parsePage(parts []string) (Parsed, error) {
	kind := map[string]Kind{syncWord: KindSyncPage, deleteWord: KindDeletePage}[parts[4]]
	if kind == "" {
		return Parsed{}, fmt.Errorf("%q is nothing that is done to a page", parts[4])
	}
	return Parsed{Kind: kind, Folder: parts[1], Page: parts[3]}, check(parts[1], parts[3])
}

// CheckFolder tells what is wrong with a folder id, in a sentence for people.
func CheckFolder(folder string) error {
	if lower := strings.ToLower(folder); lower != folder && checkSegment("folder id", lower, MaxFolder) == nil {
		return fmt.Errorf("folder id %q has capitals: use lower case, for example %q", folder, lower)
	}
	if err := checkSegment("folder id", folder, MaxFolder); err != nil {
		return fmt.Errorf("%w, and no capitals", err)
	}
	if strings.ToLower(folder) != folder {
		return fmt.Errorf("folder id %q has capitals: use lower case", folder)
	}
	return nil
}

// CheckPage tells what is wrong with a page id, in a sentence for people.
func CheckPage(page string) error { return checkSegment("page id", page, MaxPage) }

// PageIDForPath is the page id of a source that has none of its own: a hash of the source id. A suffix tells pages apart
// when the id is taken, since a renamed page keeps the id it was given first.
func PageIDForPath(sourceID string, taken int) string {
	sum := sha256.Sum256([]byte(sourceID))
	id := hex.EncodeToString(sum[:16])
	if taken > 0 {
		id += fmt.Sprintf("-%d", taken+1)
	}
	return id
}

// PageIDForVendor is the page id of a source with ids of its own: the vendor's id where it fits the alphabet, else a hash.
func PageIDForVendor(sourceID string) string {
	if CheckPage(sourceID) == nil {
		return sourceID
	}
	return PageIDForPath(sourceID, 0)
}

func pageID(folder, page, word string) (string, error) {
	if err := check(folder, page); err != nil {
		return "", err
	}
	return join(folderRoom, folder, pageRoom, page, word), nil
}

func check(folder, page string) error {
	if err := CheckFolder(folder); err != nil {
		return err
	}
	return CheckPage(page)
}

func checkSegment(what, segment string, limit int) error {
	if segment == "" {
		return fmt.Errorf("%s is empty: give 1 to %d letters, digits, - or _", what, limit)
	}
	if len(segment) > limit {
		return fmt.Errorf("%s has %d characters: at most %d are possible", what, len(segment), limit)
	}
	for _, r := range segment {
		if !inAlphabet(r) {
			return fmt.Errorf("%s %q holds %q: only letters A to Z, digits, - and _ are possible", what, segment, r)
		}
	}
	return nil
}

func inAlphabet(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-'
}

func join(parts ...string) string { return strings.Join(parts, "/") }
