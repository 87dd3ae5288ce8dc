package main

import (
	"context"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/loresync/loresync/bench/internal/proc"
	"github.com/loresync/loresync/bench/internal/report"
)

// facts describe the machine and the programs. What can't be found out is left out.
func (l *lab) facts(ctx context.Context) []report.Fact {
	facts := []report.Fact{
		{Name: "date", Value: time.Now().UTC().Format("2006-01-02 15:04 UTC")},
		{Name: "system", Value: runtime.GOOS + "/" + runtime.GOARCH + ", " + strconv.Itoa(runtime.NumCPU()) + " cores"},
		{Name: "Go", Value: strings.TrimPrefix(runtime.Version(), "go")},
		{Name: "pages", Value: humanize.Comma(int64(l.options.pages)) + ", " + humanize.Comma(int64(l.options.memoryPages)) + " for memory"},
	}
	add := func(name, value string, err error) {
		if err == nil && value != "" {
			facts = append(facts, report.Fact{Name: name, Value: value})
		}
	}
	processor, err := proc.Processor()
	add("processor", processor, err)
	memory, err := proc.TotalMemory()
	add("memory", humanize.IBytes(uint64(memory)), err)
	var postgres string
	err = l.sql.QueryRow(ctx, `SHOW server_version`).Scan(&postgres)
	add("Postgres", postgres+", fsync and synchronous_commit on", err)
	temporal, err := l.Temporal.WorkflowService().GetSystemInfo(ctx, &workflowservice.GetSystemInfoRequest{})
	add("Temporal", temporal.GetServerVersion()+", development server with a database file", err)
	commit, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output()
	add("commit", strings.TrimSpace(string(commit)), err)
	return facts
}
