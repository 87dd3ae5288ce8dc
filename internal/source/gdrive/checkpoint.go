package gdrive

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/loresync/loresync/internal/source"
)

// checkpoint holds the token of each change log that covers a folder, by the log's name.
type checkpoint map[string]string

const (
	// userLog is the account's own log: its My Drive, what is shared with it, and its shared drives as such.
	userLog = "user"
	// maxLogs keeps a cursor, which bears the checkpoint, below 4 KiB. What is in further shared drives, to which only shortcuts
	// lead, is looked at by full listings alone.
	maxLogs = 40
)

func (c checkpoint) String() string {
	if len(c) == 0 {
		return ""
	}
	said, err := json.Marshal(c)
	if err != nil {
		return ""
	}
	return string(said)
}

// parseCheckpoint reads what String wrote.
func parseCheckpoint(said string) (checkpoint, bool) {
	var c checkpoint
	if json.Unmarshal([]byte(said), &c) != nil || c[userLog] == "" {
		return nil, false
	}
	return c, true
}

// logs are the names in an order of their own: the user's log before those of shared drives.
func (c checkpoint) logs() []string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(c)), func(name string) bool { return name == userLog })
	if c[userLog] == "" {
		return names
	}
	return slices.Insert(names, 0, userLog)
}

// Logs are the change logs that a checkpoint covers: "user", and the ids of shared drives.
func (*Source) Logs(said string) []string {
	c, ok := parseCheckpoint(said)
	if !ok {
		return nil
	}
	return c.logs()
}

// begin takes the tokens from which changes will be read, before anything is listed: what changes meanwhile is then in the logs,
// whether the listing saw it or not. A resumed listing keeps those that it began with.
func (s *Source) begin(ctx context.Context, top placed, kept checkpoint) (checkpoint, error) {
	logs := checkpoint{}
	maps.Copy(logs, kept)
	for _, name := range []string{userLog, top.drive} {
		if name == "" || logs[name] != "" {
			continue
		}
		token, err := s.client.startToken(ctx, name)
		if err != nil {
			return nil, err
		}
		logs[name] = token
	}
	return logs, nil
}

// watchDrive takes the token of a shared drive to which a shortcut leads, before anything in it is listed. One that vanished in this
// moment costs the verdict.
func (w *sweep) watchDrive(ctx context.Context, driveID string) error {
	if driveID == "" || w.logs[driveID] != "" || len(w.logs) >= maxLogs {
		return nil
	}
	token, err := w.s.client.startToken(ctx, driveID)
	switch {
	case notFound(err), withheld(err):
		w.note(true, false)
		return nil
	case err != nil:
		return err
	}
	w.logs[driveID] = token
	return nil
}

// listed is the word of a sweep on whether it saw everything.
func (w *sweep) listed() source.Listed {
	listed := source.Listed{Verdict: source.VerdictComplete, Checkpoint: w.logs.String()}
	switch {
	case w.capped:
		listed.Verdict = source.VerdictCapped
		listed.Sentence = "Google Drive said that it didn't look everywhere, so some files may not have been seen; nothing is removed, and the next sync " +
			"lists again"
	case w.unread > 0:
		listed.Verdict = source.VerdictPartUnreadable
		listed.Sentence = "some folders in Google Drive could not be read, so nothing is removed: share them with the connection's account, or wait for the " +
			"next sync"
	}
	return listed
}
