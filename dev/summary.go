package main

import (
	"context"
	"fmt"
	"net/url"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/loresync/loresync/dev/internal/handbook"
	"github.com/loresync/loresync/dev/internal/screen"
	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/internal/knowledge"
)

// sync syncs the sample, or with --no-sample and --once what folders there are.
func (d *dev) sync(ctx context.Context) (string, error) {
	if d.options.noSample {
		return d.syncAll(ctx)
	}
	places, err := d.samplePlaces()
	if err != nil {
		return "", err
	}
	results := make([]string, len(places))
	for i, place := range places {
		if results[i], err = d.syncPlace(ctx, place); err != nil {
			return strings.Join(results[:i+1], "; "), err
		}
	}
	return strings.Join(results, "; "), nil
}

func (d *dev) syncPlace(ctx context.Context, place handbook.Place) (string, error) {
	name, doing := "Sample", "syncing the sample handbook"
	if d.sandbox != nil {
		name, doing = "Folder "+place.FolderID, "syncing "+place.Title
	}
	stage := d.screen.Begin(name, doing)
	result, err := handbook.Sync(ctx, d.wiring.Control, place, actor(), func(p knowledge.RunProgress) {
		stage.Progress(doing+", "+p.Phase, p.Done, p.Total)
	})
	if err != nil {
		stage.Fail()
		return countsOf(result.Counts), err
	}
	if result.Skipped != "" {
		stage.Done(result.Skipped)
		return result.Skipped, nil
	}
	stage.Done("synced: " + countsOf(result.Counts))
	return fmt.Sprintf("%d pages in %d chunks are live (%s), synced in %s", result.Live, result.Chunks, countsOf(result.Counts), screen.Took(result.Took)), nil
}

// samplePlaces are what the stand-ins hold, or the sample written out as files.
func (d *dev) samplePlaces() ([]handbook.Place, error) {
	if d.sandbox != nil {
		return handbook.Sandbox(d.sandbox.DriveRoot()), nil
	}
	files, err := sample()
	if err != nil {
		return nil, err
	}
	root := filepath.Join(d.dir, "sample")
	return []handbook.Place{handbook.Files(root)}, handbook.Write(root, files)
}

// syncAll is for a run that has nothing to do but sync.
func (d *dev) syncAll(ctx context.Context) (string, error) {
	if !d.options.once {
		return "", nil
	}
	stage := d.screen.Begin("Folders", "syncing all folders")
	answer, err := d.wiring.Control.SyncAll(ctx, actor())
	if err == nil {
		answer, err = d.wiring.Control.Wait(ctx, answer, nil)
	}
	if err == nil && answer.Status != string(knowledge.RunCompleted) {
		err = fmt.Errorf("%w: it ended as %s (%s)", handbook.ErrIncomplete, answer.Status, answer.Reason)
	}
	if err != nil {
		stage.Fail()
		return "", err
	}
	counts := knowledge.Counts{}
	if answer.Counts != nil {
		counts = *answer.Counts
	}
	stage.Done("synced: " + countsOf(counts))
	return countsOf(counts), nil
}

func actor() control.Actor {
	name := "dev"
	if current, err := user.Current(); err == nil {
		name = current.Username
	}
	return control.Actor{Name: name, Trigger: "cli"}
}

// countsOf names what happened, and leaves out what didn't.
func countsOf(c knowledge.Counts) string {
	var parts []string
	for _, count := range []struct {
		n    int64
		what string
	}{
		{c.New, "new"},
		{c.Changed, "changed"},
		{c.Unchanged, "unchanged"},
		{c.Moved, "moved"},
		{c.Removed, "removed"},
		{c.Held, "held"},
		{c.Revived, "back"},
		{c.Excluded, "excluded"},
		{c.Skipped, "skipped"},
		{c.Failed, "failed"},
	} {
		if count.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count.n, count.what))
		}
	}
	if len(parts) == 0 {
		return "nothing to do"
	}
	return strings.Join(parts, ", ")
}

// report is the end of a run with --once.
func (d *dev) report(result string, err error) {
	if err != nil {
		return
	}
	d.screen.Line("")
	d.screen.Line(d.screen.Strong("Done") + " in " + screen.Took(time.Since(d.began)) + ": " + result)
}

// welcome says what there is and where to look.
func (d *dev) welcome(result string, err error) {
	s := d.screen
	s.Line("")
	s.Line(s.Strong("loresync is ready") + " after " + screen.Took(time.Since(d.began)))
	if err != nil {
		s.Trouble(fmt.Sprintf("the sample: %v", err))
	}
	data := d.options.dataDir
	if d.isElsewhere() {
		data += ", Postgres' files in " + d.servers.postgres.DataDir()
	}
	s.Rows([]screen.Row{
		{Name: "Sample", Value: result},
		{Name: "Status page", Value: d.settings[publicVariable] + "/"},
		{Name: "Sandbox", Value: d.sandboxPage()},
		{Name: "Temporal", Value: d.servers.temporalPages()},
		{Name: "Postgres", Value: withoutPassword(d.servers.databaseURL)},
		{Name: "Data", Value: data},
		{Name: "Logs", Value: filepath.Join(d.options.dataDir, "*.log")},
	})
	s.Line("")
	s.Line("In a second terminal:")
	for _, command := range d.examples() {
		s.Line("  " + s.Strong(command))
	}
	s.Line("")
	s.Line(s.Faint("Ctrl-C stops all of this; the next start goes on with the same data."))
}

// sandboxPage is where people change the stand-in's pages.
func (d *dev) sandboxPage() string {
	if d.sandbox == nil {
		return "off; --sandbox syncs from stand-ins of Notion and Google Drive instead"
	}
	return d.sandbox.URL() + "/ (what is changed there is lost when this stops)"
}

func (d *dev) examples() []string {
	env := filepath.Join(d.options.dataDir, filepath.Base(d.envFile()))
	if !strings.ContainsRune(env, filepath.Separator) {
		env = "./" + env
	}
	examples := []string{". " + quote(env)}
	if !d.options.noSample {
		examples = append(examples, `go run ./starter search "how do I claim a train ticket"`, `go run ./starter search "領収書の提出期限"`)
	}
	return append(examples, "go run ./starter status --watch", `psql "$LORESYNC_DATABASE_URL" -c "SELECT title, url FROM live_pages"`)
}

// quote makes a path one word of a shell.
func quote(path string) string {
	if strings.IndexFunc(path, func(r rune) bool { return strings.ContainsRune(" '\"$&;()<>|*?`\\\t", r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

func (s *servers) temporalPages() string {
	if s.temporalUI == "" {
		return s.temporalAddress
	}
	return s.temporalUI
}

// withoutPassword is an address as it may stand in a terminal's history.
func withoutPassword(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return "the given database"
	}
	shown := url.URL{Scheme: parsed.Scheme, Host: parsed.Host, Path: parsed.Path}
	if name := parsed.User.Username(); name != "" {
		shown.User = url.User(name)
	}
	return shown.String()
}
