package api_test

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/api"
)

// description is the OpenAPI document, ready to check answers against: the schemas of OpenAPI 3.1 are JSON Schema's.
type description struct {
	document map[string]any
	compiler *jsonschema.Compiler
	// patterns find the operation of a request.
	patterns *http.ServeMux
	// mu guards the compiler.
	mu sync.Mutex
}

const documentName = "openapi.json"

var described = sync.OnceValues(func() (*description, error) {
	rest, err := api.New(api.Options{})
	if err != nil {
		return nil, err
	}
	read, err := jsonschema.UnmarshalJSON(bytes.NewReader(rest.Description()))
	if err != nil {
		return nil, err
	}
	document, _ := read.(map[string]any)
	d := &description{document: document, compiler: jsonschema.NewCompiler(), patterns: http.NewServeMux()}
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	for path, operations := range at(document, "paths") {
		for method := range at(operations) {
			d.patterns.Handle(strings.ToUpper(method)+" "+path, http.NotFoundHandler())
		}
	}
	return d, d.compiler.AddResource(documentName, document)
})

// at goes down a document by names; nothing is there where a name isn't.
func at(value any, names ...string) map[string]any {
	for _, name := range names {
		value = at(value)[name]
	}
	found, _ := value.(map[string]any)
	return found
}

// schema gives the schema of an answer's body; nil where an answer has none.
func (d *description) schema(t *testing.T, pattern string, status int, mediaType string) *jsonschema.Schema {
	t.Helper()
	method, path, _ := strings.Cut(pattern, " ")
	names := []string{"paths", path, strings.ToLower(method), "responses", strconv.Itoa(status)}
	given := at(d.document, names...)
	if status == http.StatusInternalServerError {
		names[len(names)-1] = "default"
		given = at(d.document, names...)
	}
	require.NotNil(t, given, "%s answers %d, which isn't described", pattern, status)
	if reference, ok := given["$ref"].(string); ok {
		names = strings.Split(strings.TrimPrefix(reference, "#/"), "/")
		given = at(d.document, names...)
	}
	if given["content"] == nil {
		return nil
	}
	names = append(names, "content", mediaType, "schema")
	require.NotNil(t, at(d.document, names...), "%s answers %d with %s, which isn't described", pattern, status, mediaType)
	for i, name := range names {
		names[i] = strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D", " ", "%20").Replace(name)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	schema, err := d.compiler.Compile(documentName + "#/" + strings.Join(names, "/"))
	require.NoError(t, err)
	return schema
}

// fits demands that an answer is as the document says. Addresses and methods that aren't there aren't in it.
func (r *room) fits(request *http.Request, response *http.Response, body []byte) {
	r.t.Helper()
	d, err := described()
	require.NoError(r.t, err)
	_, pattern := d.patterns.Handler(request)
	if pattern == "" || request.Method == http.MethodHead {
		return
	}
	mediaType := response.Header.Get("Content-Type")
	schema := d.schema(r.t, pattern, response.StatusCode, mediaType)
	if schema == nil {
		require.Empty(r.t, body)
		return
	}
	var value any = string(body)
	if strings.HasSuffix(mediaType, "json") {
		value, err = jsonschema.UnmarshalJSON(bytes.NewReader(body))
		require.NoError(r.t, err, string(body))
	}
	require.NoError(r.t, schema.Validate(value), "%s answers %s", pattern, body)
}

func TestWhatIsNotDescribedIsNoticed(t *testing.T) {
	t.Parallel()
	d, err := described()
	require.NoError(t, err)
	schema := d.schema(t, "GET /api/v1/folders/{folder}", http.StatusOK, "application/json")
	for body, fits := range map[string]bool{
		`{"id":"hr"}`: false,
		`[]`:          false,
		`{"id":"hr","source":"","root":"","connection":"","title":"","state":"","owner":"","interval":"","limits":{},"readers":[],
			"created_at":"2026-11-30T12:00:00Z","deleted_at":null,"purge_at":null,"last_sync_at":null,
			"pages":{"live":0,"pending":0,"skipped":0,"excluded":0,"tombstoned":0,"failed":0,"held":0,"syncing":0}}`: true,
		`{"id":"hr","source":"","root":"","connection":"","title":"","state":"","owner":"","interval":"","limits":{},"readers":[],
			"created_at":"yesterday","deleted_at":null,"purge_at":null,"last_sync_at":null,
			"pages":{"live":0,"pending":0,"skipped":0,"excluded":0,"tombstoned":0,"failed":0,"held":0,"syncing":0}}`: false,
	} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
		require.NoError(t, err)
		assert.Equal(t, fits, schema.Validate(value) == nil, body)
	}
}

func TestAllSchemasAreSchemas(t *testing.T) {
	t.Parallel()
	d, err := described()
	require.NoError(t, err)
	for path, operations := range at(d.document, "paths") {
		for method, operation := range at(operations) {
			for status, given := range at(operation, "responses") {
				number, err := strconv.Atoi(status)
				if err != nil { // default
					continue
				}
				for mediaType := range at(given, "content") {
					assert.NotNil(t, d.schema(t, strings.ToUpper(method)+" "+path, number, mediaType))
				}
			}
		}
	}
	for name := range at(d.document, "components", "schemas") {
		_, err := d.compiler.Compile(documentName + "#/components/schemas/" + name)
		assert.NoError(t, err, name)
	}
}
