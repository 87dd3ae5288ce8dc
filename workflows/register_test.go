package workflows_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/workflows"
)

func allActivities() workflows.Activities {
	return workflows.Activities{
		Page: &activities.PageActivities{}, Folder: &activities.FolderActivities{}, Reconcile: &activities.ReconcileActivities{},
		Delete: &activities.DeleteActivities{}, Batch: &activities.BatchActivities{}, Upkeep: &activities.UpkeepActivities{},
		Webhook: &activities.WebhookActivities{},
	}
}

// typeName is the wire name of a workflow: the name of its function.
func typeName(wf any) string {
	full := runtime.FuncForPC(reflect.ValueOf(wf).Pointer()).Name()
	return full[strings.LastIndex(full, ".")+1:]
}

func TestRegister(t *testing.T) {
	t.Parallel()

	t.Run("a real worker takes all of it", func(t *testing.T) {
		t.Parallel()
		lazy, err := client.NewLazyClient(client.Options{HostPort: "127.0.0.1:1", Logger: sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler))})
		require.NoError(t, err)
		t.Cleanup(lazy.Close)
		assert.NotPanics(t, func() {
			workflows.Register(worker.New(lazy, workflows.QueueKnowledge, worker.Options{}), allActivities())
		})
		assert.NotPanics(t, func() {
			workflows.RegisterActivities(worker.New(lazy, workflows.QueueModel, worker.Options{}), allActivities())
		})
	})

	t.Run("every struct of activities is among them", func(t *testing.T) {
		t.Parallel()
		acts := allActivities()
		registry := &recording{}
		workflows.RegisterActivities(registry, acts)
		fields := reflect.ValueOf(acts)
		require.Len(t, registry.seen, fields.NumField())
		for i := range fields.NumField() {
			assert.Contains(t, registry.seen, fields.Field(i).Interface(), fields.Type().Field(i).Name)
		}
	})

	t.Run("activity names are unique across the structs", func(t *testing.T) {
		t.Parallel()
		owner := map[string]string{}
		for acts := range reflect.TypeFor[workflows.Activities]().Fields() {
			for method := range acts.Type.Methods() {
				assert.Empty(t, owner[method.Name], "%s is also an activity of %s", method.Name, acts.Type)
				owner[method.Name] = acts.Type.String()
			}
		}
	})

	t.Run("every workflow of the package is among them", func(t *testing.T) {
		t.Parallel()
		registered := make([]string, 0, len(workflows.All()))
		for _, wf := range workflows.All() {
			registered = append(registered, typeName(wf))
		}
		assert.ElementsMatch(t, declaredWorkflows(t), registered)
	})
}

type recording struct {
	worker.ActivityRegistry
	seen []any
}

func (r *recording) RegisterActivity(acts any) { r.seen = append(r.seen, acts) }

// declaredWorkflows are the exported functions of the package whose name says that they are one.
func declaredWorkflows(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var names []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			if function, ok := decl.(*ast.FuncDecl); ok && function.Recv == nil && function.Name.IsExported() && strings.HasSuffix(function.Name.Name, "Workflow") {
				names = append(names, function.Name.Name)
			}
		}
	}
	return names
}
