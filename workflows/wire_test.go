package workflows_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/activities"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/workflows"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestWireNames shows every name that crosses a process, so that a change of one is seen and meant: what a running workflow's
// history holds under an old name, new code doesn't find.
func TestWireNames(t *testing.T) {
	t.Parallel()
	golden := filepath.Join("testdata", "wire_names.golden")
	got := wireNames(t)
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(string(want), got), "a wire name has changed; if it must, running workflows need a way on (-update writes the file)")
}

func wireNames(t *testing.T) string {
	t.Helper()
	var text strings.Builder
	list := func(title string, names []string) {
		slices.Sort(names)
		fmt.Fprintf(&text, "%s\n\t%s\n\n", title, strings.Join(names, "\n\t"))
	}
	wire := wireTypes{}
	list("workflows", wire.workflows())
	list("activities", wire.activities())
	list("signals", []string{workflows.SignalReadAgain, workflows.SignalLookAgain})
	list("task queues", []string{workflows.QueueKnowledge, workflows.QueueVendor, workflows.QueueVendorInteractive, workflows.QueueModel})
	list("schedules", []string{workflows.ScheduleDaily, workflows.ScheduleJanitor, workflows.ScheduleDue})
	list("failures", failureNames())
	list("fields", wire.fields())
	return strings.TrimSuffix(text.String(), "\n")
}

// wireTypes are the structs that inputs and results are made of, by their names without a package: moving one is no change.
type wireTypes map[string]reflect.Type

func (w wireTypes) workflows() []string {
	names := make([]string, 0, len(workflows.All()))
	for _, wf := range workflows.All() {
		signature := reflect.TypeOf(wf)
		names = append(names, fmt.Sprintf("%s(%s) %s", typeName(wf), w.name(signature.In(1)), w.name(signature.Out(0))))
	}
	return names
}

func (w wireTypes) activities() []string {
	var names []string
	for acts := range reflect.TypeFor[workflows.Activities]().Fields() {
		for method := range acts.Type.Methods() {
			names = append(names, fmt.Sprintf("%s(%s) %s", method.Name, w.name(method.Type.In(2)), w.name(method.Type.Out(0))))
		}
	}
	return names
}

// name gives a type as JSON knows it, and notes the structs that it is made of.
func (w wireTypes) name(t reflect.Type) string {
	switch {
	case t.Kind() == reflect.Pointer:
		return "optional " + w.name(t.Elem())
	case t.Kind() == reflect.Slice:
		return "list of " + w.name(t.Elem())
	case t == reflect.TypeFor[time.Time]():
		return "time"
	case t.Kind() != reflect.Struct:
		return t.Kind().String()
	}
	if w[t.Name()] == nil {
		w[t.Name()] = t
		for _, field := range reflect.VisibleFields(t) {
			w.name(field.Type)
		}
	}
	return t.Name()
}

// fields gives each field as JSON names it, with its type.
func (w wireTypes) fields() []string {
	var names []string
	for name, t := range w {
		for _, field := range reflect.VisibleFields(t) {
			if field.Anonymous {
				continue
			}
			wire, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if wire == "" {
				wire = field.Name
			}
			names = append(names, fmt.Sprintf("%s.%s %s", name, wire, w.name(field.Type)))
		}
	}
	return names
}

func failureNames() []string {
	names := []string{
		activities.FailureRateLimited, activities.FailureUnavailable, activities.FailureUnauthorized, activities.FailureCheckpointExpired,
		activities.FailureInvalid, activities.FailureFenced, activities.FailureInternal,
		string(source.ClassRateLimited), string(source.ClassUnavailable), string(source.ClassUnauthorized), string(source.ClassNotFound),
		string(source.ClassCheckpointExpired), string(source.ClassInvalid),
	}
	slices.Sort(names)
	return slices.Compact(names)
}
