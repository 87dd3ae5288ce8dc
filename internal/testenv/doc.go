// Package testenv gives tests the real servers they run against: one Postgres and one Temporal for all tests of a
// package, started when the first test asks, and in each a database or namespace of its own for every test.
//
// A package that uses it says so once:
//
//	func TestMain(m *testing.M) { testenv.Main(m) }
//
// Starting servers takes seconds, so `make test` starts one pair for all packages (cmd/with-servers) and passes it on in
// LORESYNC_TEST_DATABASE_URL and LORESYNC_TEST_TEMPORAL_ADDRESS; with these set nothing is started here. A server program
// that is missing is installed or built, never a reason to skip.
package testenv
