package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/loresync/loresync/internal/access"
	"github.com/loresync/loresync/internal/control"
)

// object is a part of the OpenAPI document.
type object = map[string]any

// The words of OpenAPI that are needed again and again.
const (
	descriptionWord = "description"
	schemaWord      = "schema"
	typeWord        = "type"
)

const introduction = `The same nouns as loresync's commands, and the same JSON as they print with --json.

Every request but this one shows a token: "Authorization: Bearer …". It is the gateway's LORESYNC_ADMIN_TOKEN, of role admin, or one
made by "starter token add", whose role includes those below it (viewer, operator, admin) and which may be for some folders only: all
others are then unknown to it.

A mutation that starts a workflow answers 202, one that joined what runs already 200. It may bear an Idempotency-Key: for a day the
same request under the same key is answered as it was, and not carried out again. Lists are arrays; where more follows, the Link
header has the next address. Reads have an ETag, for If-None-Match. What goes wrong is a problem document with a sentence and a code.`

// document31 makes the OpenAPI 3.1 document from the table of routes.
func document31(routes []route) ([]byte, error) {
	s := &schemas{named: object{}, types: map[string]reflect.Type{}}
	paths := map[string]object{}
	for _, r := range routes {
		if paths[Prefix+r.path] == nil {
			paths[Prefix+r.path] = object{}
		}
		paths[Prefix+r.path][strings.ToLower(r.method)] = operation(s, r)
	}
	problem := s.of(Problem{})
	if len(s.twice) > 0 {
		return nil, fmt.Errorf("two types of answers are called %s", strings.Join(s.twice, ", "))
	}
	return json.Marshal(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "loresync", "version": control.BuiltFrom().Version, descriptionWord: introduction,
			"license": object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers": []object{{"url": "/"}},
		"paths":   paths,
		"components": object{
			"schemas":         s.named,
			"securitySchemes": object{"token": object{typeWord: "http", "scheme": "bearer"}},
			"responses":       object{"Problem": object{descriptionWord: "What is wrong.", "content": object{problemType: object{schemaWord: problem}}}},
		},
	})
}

func operation(s *schemas, r route) object {
	op := object{
		"operationId": r.name, "summary": r.summary, "tags": []string{tagOfPath(r.path)}, "parameters": parameters(r), "responses": responses(s, r),
		"security": []object{},
	}
	if r.least > access.Anyone {
		op["security"] = []object{{"token": []string{}}}
		op[descriptionWord] = "Asks for the role " + r.least.String() + "."
		if r.reach == wholeDeployment {
			op[descriptionWord] = "Asks for the role " + r.least.String() + ", for the whole deployment."
		}
		op["x-role"] = r.least.String()
	}
	if r.body != nil {
		op["requestBody"] = object{"required": hasRequired(r.body), "content": object{jsonType: object{schemaWord: s.of(r.body)}}}
	}
	return op
}

// tagOfPath is the noun that a path begins with.
func tagOfPath(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if slices.Contains(parts, "pages") {
		return "pages"
	}
	return strings.TrimSuffix(parts[0], ".json")
}

var inPath = regexp.MustCompile(`\{(\w+)\}`)

func parameters(r route) []object {
	all := []object{}
	for _, found := range inPath.FindAllStringSubmatch(r.path, -1) {
		all = append(all, object{"name": found[1], "in": "path", "required": true, schemaWord: object{typeWord: kindString}})
	}
	for _, p := range r.query {
		schema := object{typeWord: p.kind}
		if p.kind == kindInteger {
			schema["minimum"], schema["maximum"] = p.least, p.most
		}
		if p.words != nil {
			schema["enum"] = p.words
		}
		all = append(all, object{"name": p.name, "in": "query", "required": p.required, descriptionWord: p.doc, schemaWord: schema})
	}
	if r.mutates() {
		all = append(all, object{
			"name": keyHeader, "in": "header", "required": false, schemaWord: object{typeWord: kindString, "minLength": 1, "maxLength": maxKey},
			descriptionWord: "A word for this request, to repeat it safely.",
		})
	}
	return all
}

func responses(s *schemas, r route) object {
	problem := object{"$ref": "#/components/responses/Problem"}
	all := object{"default": problem}
	mediaType := r.mediaType
	if mediaType == "" {
		mediaType = jsonType
	}
	for status, value := range r.gives {
		all[strconv.Itoa(status)] = object{
			descriptionWord: http.StatusText(status) + ".", "content": object{mediaType: object{schemaWord: s.of(value)}},
		}
	}
	if r.method == http.MethodGet {
		all["304"] = object{descriptionWord: "It is as If-None-Match says."}
	}
	for _, status := range problemStatuses(r) {
		all[strconv.Itoa(status)] = problem
	}
	return all
}

// problemStatuses are the statuses of the problems that a route can have.
func problemStatuses(r route) []int {
	statuses := []int{http.StatusBadRequest}
	if r.least > access.Anyone {
		statuses = append(statuses, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable)
	}
	if strings.Contains(r.path, "{") || r.reach == filtered {
		statuses = append(statuses, http.StatusNotFound)
	}
	if r.mutates() {
		statuses = append(statuses, http.StatusConflict, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge)
	}
	if r.body != nil {
		statuses = append(statuses, http.StatusUnsupportedMediaType)
	}
	return statuses
}
