package api_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/api"
)

func TestEveryRouteIsDescribedAndTheReverse(t *testing.T) {
	t.Parallel()
	rest, err := api.New(api.Options{})
	require.NoError(t, err)
	answered := map[string]bool{}
	for _, route := range rest.Routes() {
		answered[route.Pattern] = true
	}
	d, err := described()
	require.NoError(t, err)
	assert.Equal(t, "3.1.0", d.document["openapi"])
	listed, names := map[string]bool{api.Prefix + "/": true}, map[any]bool{}
	for path, operations := range at(d.document, "paths") {
		for method, given := range at(operations) {
			listed[strings.ToUpper(method)+" "+path] = true
			operation := at(given)
			assert.NotEmpty(t, operation["summary"], path)
			assert.False(t, names[operation["operationId"]], operation["operationId"])
			names[operation["operationId"]] = true
			security, _ := operation["security"].([]any)
			assert.Equal(t, path == "/api/v1/openapi.json", len(security) == 0, path)
			checkParameters(t, path, operation)
		}
	}
	assert.Equal(t, answered, listed)
}

// checkParameters demands that what stands in a path is named, and that everything else is explained.
func checkParameters(t *testing.T, path string, operation map[string]any) {
	t.Helper()
	parameters, _ := operation["parameters"].([]any)
	inPath := 0
	for _, each := range parameters {
		p := at(each)
		name, _ := p["name"].(string)
		if p["in"] != "path" {
			assert.NotEmpty(t, p["description"], "%s: %s", path, name)
			continue
		}
		inPath++
		assert.Contains(t, path, "{"+name+"}")
	}
	assert.Equal(t, strings.Count(path, "{"), inPath, path)
}

func TestAWrongAddressOfTheGatewayIsTold(t *testing.T) {
	t.Parallel()
	_, err := api.New(api.Options{PublicURL: "lore.example.com"})
	require.Error(t, err)
}
