// Package drivetest is a stand-in for Google Drive: users, My Drives and shared drives in memory behind a server that answers
// for them as the real API does, so that tests and `dev --sandbox` run the real client against it.
//
// New gives a Server that listens already. Its methods do what people do in Drive, and set what goes wrong: faults, limits,
// gates, lost access and forgotten change tokens. It is as strict as Drive: queries, field masks, page tokens and parameters are
// checked, and what a user may not see is not found. Where the real behaviour isn't known, the choice that is harder on clients
// was taken, and its comment says so.
//
// Errors and fields were compared with payloads of Drive's and with its discovery document. All ids are made from Options.Seed:
// the same calls in the same order give the same Drive.
//
// The parts, by file:
//
//   - server, route, serve, answer, errors, clock, ids: the server, its endpoints and how they answer
//   - users, key, oauth, assertion: people, credentials and access tokens
//   - item, tree, change, trash, share, drives, access, permissions, look, load: what Drive holds, how people change it, who
//     may see it, and folders of files that become part of it
//   - content, document, reader, markdown, html, office, docx, sheet, slides: contents and what they are exported as
//   - list, scope, query, lexer, match, order, pagetoken: files.list
//   - get, export, resource, mask, schema, about: single files, and what is shown of them
//   - changelog, changes, watch, channels, push: the logs of changes, and notifications about them
//   - fault, effects, effects_json, gate, limit, log: what tests do to requests and learn of them
package drivetest

// Object is a JSON object.
type Object = map[string]any

// Must gives a value whose making can't fail in the place where it is used, such as the setting up of a test. It panics with
// the error otherwise.
func Must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
