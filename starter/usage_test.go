package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWrongUsageIsOneLineAndExitCode2WithoutAnyConnection(t *testing.T) {
	t.Parallel()
	for line, sentence := range map[string]string{
		"fold":                                      `unknown command "fold" for "starter": did you mean "folder"?`,
		"xyzzy":                                     `unknown command "xyzzy" for "starter"`,
		"folder":                                    "starter folder needs one of: add, delete, list, pause, restore, resume, set, show",
		"folder lst":                                `did you mean "list"?`,
		"folder add hr":                             "missing --source",
		"folder add hr --source files":              "missing --root",
		"folder add hr --source ftp --root x":       `--source "ftp" is unknown`,
		"folder add --source files --root x":        "missing ID",
		"folder add a/b --source files --root x":    "folder id",
		"folder add HR --source files --root x":     "has capitals",
		"folder add 人事 --source files --root x":     "folder id",
		"folder add a'b --source files --root x":    "folder id",
		"folder show":                               "missing ID",
		"folder show hr wiki":                       `unexpected argument "wiki"`,
		"folder set hr":                             "nothing to set",
		"folder set hr --interval soon":             "--interval",
		"folder set hr --interval 10s":              "--interval",
		"folder set hr --root=":                     "--root is empty",
		"folder set hr --limits a=b":                "--limits a=b",
		"folder delete " + strings.Repeat("x", 65):  "65 characters",
		"connection check A":                        "connection name",
		"connection add x":                          "missing --source",
		"token add":                                 "missing NAME",
		"token add ci":                              "missing --role",
		"token add ci --role boss":                  `--role "boss" is unknown: use one of viewer, operator, admin`,
		"token add ci --role viewer --folder A":     "has capitals",
		"token add ci --role viewer --expires soon": "--expires",
		"token add ci --role viewer --expires 0d":   "--expires",
		"token revoke":                              "missing TOKEN",
		"sync":                                      "starter sync needs one of: all, folder, page",
		"sync folder":                               "missing ID",
		"sync folder hr --wat":                      "unknown flag: --wat",
		"sync page hr":                              "missing PAGE",
		"sync all hr":                               `unexpected argument "hr"`,
		"delete page hr":                            "missing PAGE",
		"restore page":                              "missing FOLDER",
		"deletes hr":                                `unexpected argument "hr"`,
		"pages":                                     "missing FOLDER",
		"pages hr --state gone":                     "use one of live, excluded, tombstoned, skipped, pending, failed, syncing, held",
		"pages hr --state live --tree":              "[state tree]",
		"page show hr p --chunks --markdown":        "[chunks markdown]",
		"runs hr --limit 0":                         "--limit 0",
		"runs hr --limit many":                      "invalid argument",
		"runs a b":                                  `unexpected argument "b"`,
		"runs show":                                 "missing RUN",
		"retry":                                     "missing FOLDER",
		"holds approve":                             "missing HOLD",
		"schedule set":                              "nothing to set",
		"schedule set --cron @often --timezone UTC": "is not five fields",
		"schedule set --cron TZ=X --timezone UTC":   "is not five fields",
		"schedule set --timezone Local":             "is unknown",
		"schedule set --timezone Mars":              "is unknown",
		"schedule set --jitter -5m":                 "below 0",
		"status --watch --json":                     "leave out --json",
		"why":                                       "missing REF",
		"search":                                    "missing QUERY",
		"search x --limit -1":                       "--limit -1",
		"search x --folder HR":                      "has capitals",
		"maintenance":                               "starter maintenance needs one of: off, on",
		"maintenance maybe":                         `unknown command "maybe"`,
		"migrate now":                               `unexpected argument "now"`,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			d := furnished()
			got := run1(t, d, strings.Fields(line)...)
			assert.Equal(t, exitUsage, got.code)
			assert.Empty(t, got.out)
			assert.Contains(t, got.err, sentence)
			lines := strings.Split(strings.TrimSpace(got.err), "\n")
			assert.Len(t, lines, 2)
			assert.Regexp(t, "^error: ", lines[0])
			assert.Regexp(t, "^see starter.* --help$", lines[len(lines)-1])
			assert.Empty(t, d.asked)
		})
	}
}

func TestACronThatNeverComesIsWrongUsage(t *testing.T) {
	t.Parallel()
	got := run1(t, furnished(), "schedule", "set", "--cron", "0 0 30 2 *", "--timezone", "UTC")
	assert.Equal(t, exitUsage, got.code)
	assert.Contains(t, got.err, "never comes")
}

func TestBlankReferencesAreWrongUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"sync", "page", "hr", ""}, {"why", " "}, {"search", " ", ""}, {"folder", "show", ""}} {
		assert.Equal(t, exitUsage, run1(t, furnished(), args...).code, args)
	}
}
