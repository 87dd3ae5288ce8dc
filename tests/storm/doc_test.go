// Package storm lets everything happen at once: syncs, deletes, restores and edits from two entry points, on two workers,
// while processes, servers and connections die. The clocks of one worker and one entry point are an hour off. A
// seed decides what is done; a checker that runs beside looks for what the rules of the design forbid, and at the end, when all
// is quiet, the store must equal the source.
//
//	storm_test.go      a storm from its beginning to its end, and its flags
//	step_test.go       what can be done, and how often
//	generator_test.go  a seed's sequence of steps, decided without looking at anything
//	shelf_test.go      the files that the generator knows of
//	disk_test.go       the same files on disk, and when each was there
//	world_test.go      the servers and processes of a storm
//	child_test.go      one process, which can be killed and stopped
//	proxy_test.go      connections that can be cut and held
//	smalldisk_test.go  a disk that can be filled
//	filelimit_test.go  the same where none can be mounted
//	carry_test.go      carrying out a step at the entry points and the source
//	failures_test.go   carrying out a step that breaks something
//	ledger_test.go     what was asked and answered, and what follows for readers
//	checker_test.go    the look at Postgres, again and again
//	rules_test.go      what each look must not find
//	removals_test.go   what a removal for absence must rest on
//	rest_test.go       bringing everything to rest
//	equal_test.go      the store against the source, at rest
//	clean_test.go      what must not be left, at rest
//	violation_test.go  what was found, with all that is known of the page
package storm
