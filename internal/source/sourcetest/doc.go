// Package sourcetest holds what every source must pass, and two wrappers for tests of what is built on sources: Gate, which
// holds reads open until a test lets them go, and Faulty, which makes calls fail.
//
// The suite speaks of pages and containers by slash-separated paths of titles, such as "guides/first steps". How those
// become files, Notion pages or Drive documents is the fixture's matter.
package sourcetest

import (
	"testing"

	"github.com/loresync/loresync/internal/source"
)

// Fixture is one empty root of its own, with the means to change what is below it. Its methods end the test themselves when
// they can't do their work.
//
// Its listings must come in batches of at most 10 entries, or resuming could not be tested with few pages.
type Fixture interface {
	// Source is the source under test, and Root the root that this fixture fills.
	Source() source.Source
	Root() source.Root
	// Put creates a page, or replaces its text, along with the containers above it, and gives its source id.
	Put(path, text string) (sourceID string)
	// Remove takes a page away for good.
	Remove(path string)
	// Rename moves a page to another path and gives its source id there.
	Rename(from, to string) (sourceID string)
}

// Breaker is a fixture that can make a container unreadable and readable again.
type Breaker interface {
	Break(path string)
	Heal(path string)
}

// RootMover is a fixture that can take the whole root away and bring it back as it was.
type RootMover interface {
	MoveRootAway()
	MoveRootBack()
}

// TimePasser is a fixture that can let more than the source's edit granularity go by. Without it, two edits of different
// length must give different versions at once.
type TimePasser interface {
	PassTime()
}

// ContainerPager is a fixture whose containers are documents of their own; it tells them from the pages that a test put.
type ContainerPager interface {
	IsContainer(sourceID string) bool
}

// Namer is a fixture whose source can't hold every title; it says which ones it can.
type Namer interface {
	Allows(path string) bool
}

// Run puts a source through the suite. Each test has a fixture of its own and runs in parallel with the others; those that
// need an optional ability of the fixture are left out where it has none.
func Run(t *testing.T, newFixture func(t *testing.T) Fixture) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, newFixture(t))
		})
	}
	probe := newFixture(t)
	if hasAbility[RootMover](probe) {
		runWith(t, newFixture, "a_missing_root_is_a_verdict_and_no_page_is_gone", testMissingRoot)
	}
	if hasAbility[Breaker](probe) {
		runWith(t, newFixture, "an_unreadable_part_spoils_the_verdict_and_nothing_else", testUnreadablePart)
	}
}

func hasAbility[A any](f Fixture) bool {
	_, ok := f.(A)
	return ok
}

func runWith(t *testing.T, newFixture func(t *testing.T) Fixture, name string, test func(*testing.T, Fixture)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		test(t, newFixture(t))
	})
}

var cases = []struct {
	name string
	test func(*testing.T, Fixture)
}{
	{"its_traits_and_abilities_agree", testTraits},
	{"an_empty_root_is_complete", testEmptyRoot},
	{"a_listing_holds_each_page_once_and_counts_what_it_returned", testWholeListing},
	{"containers_come_before_what_they_hold", testParentsFirst},
	{"a_listing_resumes_after_every_batch", testResume},
	{"a_batch_that_is_refused_ends_the_listing_with_that_error", testRefusedBatch},
	{"cancelling_ends_a_listing", testCancelledList},
	{"versions_change_with_an_edit_only", testVersions},
	{"a_fetch_gives_what_was_put", testFetch},
	{"an_empty_page_is_a_page_without_a_fingerprint", testEmptyPage},
	{"a_vanished_page_is_not_found", testVanished},
	{"cancelling_ends_a_fetch", testCancelledFetch},
	{"pages_can_be_read_and_listed_concurrently", testConcurrency},
	{"a_note_of_the_listing_says_what_a_read_finds", testNotes},
	{"lost_notes_cost_nothing_but_requests", testLostNotes},
	{"presence_tells_alive_from_gone", testPresence},
	{"a_page_may_go_and_come_back", testRevival},
	{"a_rename_keeps_the_id_or_the_fingerprint", testRename},
	{"hostile_titles_survive", testHostileTitles},
	{"what_a_listing_gives_out_can_be_pasted", testResolve},
	{"the_check_of_a_readable_root_says_nothing", testCheck},
}
