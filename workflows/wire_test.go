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
	got := wireNames()
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "a wire name has changed; if it must, running workflows need a way on: see testdata/histories (go test -update writes the file)")
}

func wireNames() string {
	var text strings.Builder
	list := func(title string, names []string) {
		slices.Sort(names)
		fmt.Fprintf(&text, "%s\n\t%s\n\n", title, strings.Join(names, "\n\t"))
	}
	structs := map[string]reflect.Type{}
	list("workflows", workflowNames(structs))
	list("activities", activityNames(structs))
	list("signals", []string{workflows.SignalReadAgain, workflows.SignalLookAgain})
	list("task queues", []string{workflows.QueueKnowledge, workflows.QueueVendor, workflows.QueueVendorInteractive, workflows.QueueModel})
	list("schedules", []string{workflows.ScheduleDaily, workflows.ScheduleJanitor, workflows.ScheduleDue})
	list("failures", failureNames())
	list("fields", fieldNames(structs))
	return strings.TrimSuffix(text.String(), "\n")
}

func workflowNames(structs map[string]reflect.Type) []string {
	var names []string
	for _, wf := range workflows.All() {
		signature := reflect.TypeOf(wf)
		in, out := signature.In(1), signature.Out(0)
		collect(structs, in)
		collect(structs, out)
		names = append(names, fmt.Sprintf("%s(%s) %s", typeName(wf), in, out))
	}
	return names
}

func activityNames(structs map[string]reflect.Type) []string {
	var names []string
	for i, all := 0, reflect.TypeFor[workflows.Activities](); i < all.NumField(); i++ {
		acts := all.Field(i).Type
		for m := range acts.NumMethod() {
			method := acts.Method(m)
			in, out := method.Type.In(2), method.Type.Out(0)
			collect(structs, in)
			collect(structs, out)
			names = append(names, fmt.Sprintf("%s(%s) %s", method.Name, in, out))
		}
	}
	return names
}

func failureNames() []string {
	names := []string{
		activities.FailureRateLimited, activities.FailureUnavailable, activities.FailureUnauthorized, activities.FailureCheckpointExpired,
		activities.FailureInvalid, activities.FailureFenced, activities.FailureInternal,
	}
	for _, class := range []source.Class{
		source.ClassRateLimited, source.ClassUnavailable, source.ClassUnauthorized, source.ClassNotFound, source.ClassCheckpointExpired, source.ClassInvalid,
	} {
		names = append(names, string(class))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// collect notes the structs that an input or result is made of.
func collect(structs map[string]reflect.Type, t reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() || structs[t.String()] != nil {
		return
	}
	structs[t.String()] = t
	for _, field := range reflect.VisibleFields(t) {
		collect(structs, field.Type)
	}
}

// fieldNames gives each field as JSON names it, with its type.
func fieldNames(structs map[string]reflect.Type) []string {
	var names []string
	for name, t := range structs {
		for _, field := range reflect.VisibleFields(t) {
			if field.Anonymous {
				continue
			}
			wire, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if wire == "" {
				wire = field.Name
			}
			names = append(names, fmt.Sprintf("%s.%s %s", name, wire, field.Type))
		}
	}
	return names
}
