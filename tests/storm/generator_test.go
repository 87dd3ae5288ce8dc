package storm

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/loresync/loresync/tests/storm/order"
)

// The folders of a storm: one id is the prefix of another.
var folders = []string{"f1", "f10", "f2"}

const (
	firstDocs = 16
	mostDocs  = 40
	// Half of the steps follow the one before at once, so that they meet; the others leave up to the longer pause.
	shortestPause = 20 * time.Millisecond
	longestPause  = 900 * time.Millisecond
)

// generator decides the steps of a storm by its seed and by what it decided before, and looks at nothing else: the same seed
// gives the same steps, however the storm goes.
type generator struct {
	random  *rand.Rand
	n       int
	version int
	shelves map[string]*shelf
	// hot is the page that was named or touched last in each folder: steps come back to it, so that they collide.
	hot map[string]string
	// deleted, paused and excluded are what the steps so far have asked for, whether or not it came about.
	deleted, paused map[string]bool
	excluded        map[string][]step
	// planned are the steps that a collision still has to come.
	planned []step
	// short makes the steps of a short storm: quicker, and with shorter failures.
	short bool
}

func newGenerator(seed uint64, short bool) *generator {
	g := &generator{
		random:  rand.New(rand.NewPCG(seed, 0x6c6f7265)),
		shelves: map[string]*shelf{}, hot: map[string]string{}, deleted: map[string]bool{}, paused: map[string]bool{},
		excluded: map[string][]step{}, short: short,
	}
	for _, folder := range folders {
		g.shelves[folder] = newShelf(folder)
	}
	return g
}

// furnish gives each folder its first files.
func (g *generator) furnish() []step {
	steps := make([]step, 0, firstDocs*len(folders))
	for _, folder := range folders {
		for range firstDocs {
			steps = append(steps, g.create(step{do: doCreate, folder: folder}))
		}
	}
	return steps
}

// next decides the next step.
func (g *generator) next() step {
	g.n++
	if len(g.planned) > 0 {
		s := g.planned[0]
		g.planned = g.planned[1:]
		s.n = g.n
		return g.complete(s)
	}
	s := step{
		n: g.n, do: g.choose(), folder: pickOne(g.random, folders), victim: g.random.IntN(2), pick: g.random.Float64(),
		server: pickOne(g.random, []string{postgresLine, temporalLine}), drop: g.random.IntN(2) == 0,
		inPlace: g.random.IntN(2) == 0, pause: g.pause(), lasts: g.duration(),
	}
	if s.do == doCollide {
		s = g.collide(s)
	}
	return g.complete(s)
}

// complete decides what a step of its kind needs.
func (g *generator) complete(s step) step {
	switch s.do {
	case doEdit, doCreate, doMove, doMoveEdit, doTrash, doLock, doLockDir, doUnlock, doRootAway:
		s = g.atSource(s)
	case order.SyncPage, order.DeletePage, order.RestorePage:
		s = g.named(s)
	case order.DeleteFolder, order.RestoreFolder, order.AddFolder, order.Pause, order.Resume:
		s = g.wholeFolder(s)
	case doKill, doStop, doCut, doPartition, doSlow:
		s.victim = g.random.IntN(len(processNames))
	}
	return s.onlyWhatCounts()
}

func (g *generator) pause() time.Duration {
	longest := longestPause
	if g.random.IntN(2) == 0 {
		longest = shortestPause
	} else if g.short {
		longest /= 2
	}
	return time.Duration(g.random.Int64N(int64(longest)))
}

// collisions are what a planned step may be; what is named twice is chosen twice as often.
var collisions = []string{
	doEdit, doMove, doTrash, order.SyncFull, order.SyncPage, order.SyncPage, order.DeletePage, order.DeletePage, order.RestorePage, order.RestorePage,
}

// collide plans steps about one page that follow one another within moments, and gives the first: syncs in flight are met by
// deletes, deletes by restores, all of them by edits.
func (g *generator) collide(s step) step {
	paths := g.shelves[s.folder].paths()
	if len(paths) == 0 {
		s.do = doCreate
		return s
	}
	g.hot[s.folder] = pickOne(g.random, paths)
	for range 3 + g.random.IntN(4) {
		next := s
		next.do, next.keep, next.victim = pickOne(g.random, collisions), true, g.random.IntN(2)
		next.pause = time.Duration(g.random.Int64N(int64(4 * shortestPause)))
		g.planned = append(g.planned, next)
	}
	s.do, s.keep, s.pause = doEdit, true, 0
	sync := s
	sync.do, sync.pause = order.SyncPage, time.Duration(g.random.Int64N(int64(40*shortestPause)))
	g.planned = append([]step{sync}, g.planned...)
	if g.random.IntN(4) > 0 {
		g.planned[1].do = order.DeletePage // most of all, while the sync is in flight
	}
	return s
}

// duration is how long a failure lasts: longer than every timeout of a storm's processes, most of the time.
func (g *generator) duration() time.Duration {
	longest := 12 * time.Second
	if g.short {
		longest = 6 * time.Second
	}
	return time.Second + time.Duration(g.random.Int64N(int64(longest))).Round(time.Millisecond)
}

func (g *generator) choose() string {
	sum := 0
	for _, w := range weights {
		sum += w.weight
	}
	left := g.random.IntN(sum)
	for _, w := range weights {
		if left -= w.weight; left < 0 {
			return w.do
		}
	}
	return doEdit
}

// named chooses the page of an order: often the one that the step before was about, nearly always one that there is or was.
func (g *generator) named(s step) step {
	shelf := g.shelves[s.folder]
	if s.do == order.RestorePage && !s.keep && g.random.IntN(5) > 0 {
		return g.restoring(s)
	}
	known := append(shelf.paths(), shelf.empty()...)
	if len(known) == 0 {
		return s
	}
	s.page = pickOne(g.random, known)
	if hot := g.hot[s.folder]; hot != "" && (s.keep || g.random.IntN(2) == 0) {
		s.page = hot
	}
	g.hot[s.folder] = s.page
	if s.do != order.SyncPage && !s.keep && g.random.IntN(6) == 0 {
		s.page, s.subtree = pickOne(g.random, directories[1:]), true
	}
	if s.do == order.DeletePage {
		s.now = g.random.IntN(4) == 0
		g.excluded[s.folder] = append(g.excluded[s.folder], s)
	}
	return s
}

// restoring chooses a page that was deleted before, the latest more often.
func (g *generator) restoring(s step) step {
	deleted := g.excluded[s.folder]
	if len(deleted) == 0 {
		s.do = order.SyncFull
		return s
	}
	n := g.random.IntN(len(deleted))
	if g.random.IntN(2) == 0 {
		n = len(deleted) - 1
	}
	s.page, s.subtree = deleted[n].page, deleted[n].subtree
	g.excluded[s.folder] = slices.Delete(deleted, n, n+1)
	return s
}

// wholeFolder chooses the folder for what only makes sense in one state; what undoes something follows soon, so that folders
// are active most of the time.
func (g *generator) wholeFolder(s step) step {
	of := func(state map[string]bool, want bool) []string {
		return slices.DeleteFunc(slices.Clone(folders), func(f string) bool { return state[f] != want })
	}
	state, undo := g.deleted, s.do == order.RestoreFolder || s.do == order.AddFolder
	if s.do == order.Pause || s.do == order.Resume {
		state, undo = g.paused, s.do == order.Resume
	}
	if fitting := of(state, undo); len(fitting) > 0 && g.random.IntN(10) > 0 {
		s.folder = pickOne(g.random, fitting)
	} else if g.random.IntN(3) > 0 {
		s.do = order.SyncFull
		return s
	}
	switch s.do {
	case order.DeleteFolder:
		s.now = g.random.IntN(3) == 0
		state[s.folder] = true
	case order.RestoreFolder:
		// One that was purged is added instead, in a later step.
		state[s.folder] = g.random.IntN(3) == 0
	default:
		state[s.folder] = !undo
	}
	return s
}

// atSource decides what happens to the files, and remembers it.
func (g *generator) atSource(s step) step {
	shelf := g.shelves[s.folder]
	paths := shelf.paths()
	switch {
	case s.do == doRootAway:
		return s
	case s.do == doUnlock:
		clear(shelf.locked)
		return s
	case s.do == doLockDir:
		s.page = pickOne(g.random, directories[1:])
		if len(shelf.locked) > 0 {
			s.page = "" // one at a time
			return s
		}
		shelf.locked[s.page] = true
		return s
	case s.do == doCreate || len(paths) == 0:
		return g.create(s)
	}
	s.page = pickOne(g.random, paths)
	if hot := g.hot[s.folder]; slices.Contains(paths, hot) && (s.keep || g.random.IntN(3) == 0) {
		s.page = hot
	}
	old := shelf.docs[s.page]
	g.hot[s.folder] = s.page
	switch s.do {
	case doEdit:
		fresh := g.newer(old)
		shelf.put(s.page, fresh)
		s.text = textOf(fresh)
	case doMove, doMoveEdit:
		return g.move(s, old)
	case doTrash:
		shelf.drop(s.page)
	case doLock:
		shelf.locked[s.page] = true
	}
	return s
}

func (g *generator) newer(d doc) doc {
	g.version++
	return doc{number: d.number, version: g.version}
}

// create makes a file: at a path of its own, or where one was before. A full folder gets an edit instead.
func (g *generator) create(s step) step {
	shelf := g.shelves[s.folder]
	paths := shelf.paths()
	fresh := g.newer(doc{number: g.version + 1})
	s.do = doCreate
	switch empty := shelf.empty(); {
	case len(shelf.docs) >= mostDocs && len(paths) > 0:
		s.do, s.page = doEdit, pickOne(g.random, paths)
		fresh.number = shelf.docs[s.page].number
	case len(empty) > 0 && g.random.IntN(2) == 0:
		s.page = pickOne(g.random, empty)
	default:
		s.page = shelf.fresh(g.readableDirectory(shelf), fresh.number)
	}
	shelf.put(s.page, fresh)
	s.text = textOf(fresh)
	return s
}

// move takes a file to a path that was never used, or, with a new text, to any that is free.
func (g *generator) move(s step, old doc) step {
	shelf := g.shelves[s.folder]
	s.to = shelf.fresh(g.readableDirectory(shelf), old.number)
	moved := old
	if s.do == doMoveEdit {
		moved = g.newer(old)
		s.text = textOf(moved)
		if empty := shelf.empty(); len(empty) > 0 {
			s.to = pickOne(g.random, empty)
		}
	}
	shelf.move(s.page, s.to, moved)
	g.hot[s.folder] = s.to
	return s
}

func (g *generator) readableDirectory(s *shelf) string {
	open := slices.DeleteFunc(slices.Clone(directories), func(dir string) bool { return s.locked[dir] || s.hidden(dir) })
	return pickOne(g.random, open)
}

// onlyWhatCounts leaves out what a step of its kind doesn't use, so that the log shows no more than was decided.
func (s step) onlyWhatCounts() step {
	switch s.do {
	case doStop, doFillDisk, doRootAway, doPartition, doSlow:
	default:
		s.lasts = 0
	}
	switch s.do {
	case doCut, doPartition, doSlow:
		s.folder = ""
	case doKill, doStop, doRestartPG, doKillPG, doRestartTmp, doKillTmp, doFillDisk, doSchedule, order.SyncAll, order.Janitor, order.Repair, order.Trigger:
		s.folder, s.server = "", ""
	default:
		s.server = ""
	}
	return s
}

func pickOne[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

func TestASeedDecidesTheSameStepsEachTime(t *testing.T) {
	t.Parallel()
	decide := func(seed uint64) []step {
		g := newGenerator(seed, false)
		steps := g.furnish()
		for range 2000 {
			steps = append(steps, g.next())
		}
		return steps
	}
	first := decide(7)
	assert.Equal(t, first, decide(7))
	assert.NotEqual(t, first, decide(8))
	done := map[string]bool{}
	for _, s := range first {
		done[s.do] = true
	}
	for _, w := range weights {
		assert.True(t, done[w.do] || w.do == doCollide, "%s never happens", w.do)
	}
}

func TestNoPathGoesBackToAnOlderVersion(t *testing.T) {
	t.Parallel()
	g := newGenerator(3, false)
	newest := map[string]int{}
	look := func() {
		for _, folder := range folders {
			for p, d := range g.shelves[folder].docs {
				assert.GreaterOrEqual(t, d.version, newest[folder+"/"+p], "%s of %s", p, folder)
				newest[folder+"/"+p] = d.version
			}
		}
	}
	g.furnish()
	for range 2000 {
		g.next()
		look()
	}
}
