// Package notiontest is a stand-in for Notion: a workspace in memory and a server that answers for it as the real API does,
// so that tests and `dev --sandbox` run the real client against it.
//
// A Workspace holds users, pages, databases with their data sources, rows, blocks, comments and files, and what of them the
// integration may see. Its methods do what people do in Notion. A Server speaks the API on top of it, in the versions
// 2022-06-28, 2025-09-03 and 2026-03-11, and is as strict: headers, cursors, page sizes, filters and sorts are checked, times
// are cut down to the minute, and what isn't shared is not found. Faults, limits, gates and webhooks are set on the server.
//
// Shapes were compared with recorded answers of the real API. Where the real behaviour isn't known, the choice that is
// harder on clients was taken, and its comment says so.
//
// All ids are UUIDs made from Options.Seed: the same calls in the same order give the same workspace.
package notiontest

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
