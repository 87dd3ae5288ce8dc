package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/loresync/loresync/internal/control"
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

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show what this program was built from",
		Long:    `Show the version, the commit and the Go release that this program was built from. Needs no settings.`,
		Example: "  starter version\n  starter version --json",
		Args:    exactly(),
		RunE: a.plain(func(context.Context, []string) error {
			version := control.BuiltFrom()
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
