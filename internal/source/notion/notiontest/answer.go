package notiontest

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
)

// apiError is an error in the API's own form.
type apiError struct {
	status        int
	code, message string
	additional    Object
	// oauth makes it one of the token endpoint, which has another form.
	oauth bool
}

// Error is the code and the message.
func (e *apiError) Error() string { return e.code + ": " + e.message }

// invalid is the refusal of a request that isn't as it should be.
func invalid(format string, args ...any) error {
	return &apiError{status: http.StatusBadRequest, code: "validation_error", message: fmt.Sprintf(format, args...)}
}

func invalidURL() error {
	return &apiError{status: http.StatusBadRequest, code: "invalid_request_url", message: "Invalid request URL."}
}

func unauthorized() error {
	return &apiError{status: http.StatusUnauthorized, code: "unauthorized", message: "API token is invalid."}
}

func restricted() error {
	return &apiError{
		status: http.StatusForbidden, code: "restricted_resource", message: "Insufficient permissions for this endpoint.",
	}
}

// notFound is the one answer for what is gone and for what isn't shared.
func (w *Workspace) notFound(what, id string) error {
	return &apiError{
		status: http.StatusNotFound, code: "object_not_found",
		message: fmt.Sprintf(
			"Could not find %s with ID: %s. Make sure the relevant pages and databases are shared with your integration %q.",
			what, id, w.integration,
		),
		additional: Object{"integration_id": w.bot},
	}
}

// object is the error's body, without the request's id.
func (e *apiError) object() Object {
	if e.oauth {
		return Object{"error": e.code, "error_description": e.message}
	}
	o := Object{"object": "error", "status": e.status, "code": e.code, "message": e.message}
	if e.additional != nil {
		o["additional_data"] = e.additional
	}
	return o
}

// fail answers with an error.
func fail(w http.ResponseWriter, err error) {
	var known *apiError
	if !errors.As(err, &known) {
		known = &apiError{status: http.StatusInternalServerError, code: "internal_server_error", message: "Unexpected error occurred."}
	}
	write(w, known.status, known.object())
}

// write answers with an object, which gets the id of the request.
func write(w http.ResponseWriter, status int, o Object) {
	o["request_id"] = w.Header().Get(requestIDHeader)
	body, err := json.Marshal(o)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
