package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/starter/internal/out"
)

type migrateAnswer struct {
	SchemaVersion int64 `json:"schema_version"`
}

func (a *app) migrateCommand() *cobra.Command {
	return &cobra.Command{
		Use: "migrate", Short: "Bring the database to this program's schema",
		Long: `Apply the migrations that the database lacks, one process at a time; run it before newer processes start. There is no way
back: restore a backup instead. The answer is schema_version.`,
		Example: "  starter migrate",
		Args:    exactly(),
		RunE: a.plain(func(ctx context.Context, _ []string) error {
			version, err := a.migrate(ctx)
			if err != nil {
				return err
			}
			return a.show(migrateAnswer{SchemaVersion: version}, func() { a.Line("the schema is at version %d", version) })
		}),
	}
}

type versionAnswer struct {
	Version  string `json:"version"`
	Revision string `json:"revision"`
	Modified bool   `json:"modified"`
	Time     string `json:"time,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show what this program was built from",
		Long:    `Show the version, the commit and the Go release that this program was built from. Needs no settings.`,
		Example: "  starter version\n  starter version --json",
		Args:    exactly(),
		RunE: a.plain(func(context.Context, []string) error {
			version := builtFrom()
			return a.show(version, func() {
				line := fmt.Sprintf("loresync %s (%s, %s)", version.Version, version.Go, version.Platform)
				if version.Revision != "" {
					line += " " + version.Revision
				}
				if version.Modified {
					line += ", changed since"
				}
				a.Line("%s", line)
			})
		}),
	}
}

// builtFrom reads what the linker noted; "go run" notes no commit.
func builtFrom() versionAnswer {
	version := versionAnswer{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version
	}
	version.Version = out.Or(info.Main.Version, version.Version)
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			version.Revision = setting.Value
		case "vcs.time":
			version.Time = setting.Value
		case "vcs.modified":
			version.Modified = setting.Value == "true"
		}
	}
	return version
}
