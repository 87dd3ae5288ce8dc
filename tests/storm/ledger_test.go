package storm

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/loresync/loresync/internal/control"
	"github.com/loresync/loresync/tests/storm/order"
)

// ledger is what was asked of the entry points and what they answered: all that a person outside could know. What follows
// from it for readers is asked by the checker.
type ledger struct {
	mu      sync.Mutex
	entries map[int]*entry
	order   []*entry
	// learn looks up what an accepted delete stands for, by page id, once it is answered.
	learn func(folder, pageID string) (target, bool)
}

// entry is one order and its reply.
type entry struct {
	order order.Order
	sent  time.Time
	// answered is zero while nothing came back, and stays so when the entry point died: the order may have had its effect.
	answered time.Time
	reply    order.Reply
	lost     bool
	// target is what an accepted delete of a page stands for.
	target target
}

// target is a page: its row, and the source id that it had when its delete was accepted.
type target struct {
	pageNo   int64
	sourceID string
	subtree  bool
}

func newLedger() *ledger { return &ledger{entries: map[int]*entry{}} }

// send notes an order before it leaves.
func (l *ledger) send(o order.Order) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := &entry{order: o, sent: time.Now()}
	l.entries[o.N] = e
	l.order = append(l.order, e)
}

// withdraw takes back an order that did not leave.
func (l *ledger) withdraw(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.entries[n]; e != nil {
		e.answered, e.reply.Kind, e.reply.Sentence = time.Now(), control.KindUnreachable, "never sent"
		e.reply.Code = notSent
	}
}

const notSent = "not_sent"

// heard notes a reply. What a delete stands for is looked up first: nobody may rely on it before.
func (l *ledger) heard(r order.Reply) {
	l.mu.Lock()
	e := l.entries[r.N]
	l.mu.Unlock()
	if e == nil {
		return
	}
	var found target
	known := false
	if e.order.Do == order.DeletePage && r.Kind == "" {
		found, known = l.learn(e.order.Folder, r.Answer.PageID)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e.answered, e.reply = time.Now(), r
	if known {
		e.target = found
		e.target.subtree = e.order.Subtree
	}
}

func (l *ledger) lost(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.entries[n]; e != nil {
		e.lost = true
	}
}

// refused tells whether an order certainly had no effect.
func (e *entry) refused() bool {
	switch e.reply.Kind {
	case control.KindRefused, control.KindNotFound, control.KindUsage:
		return true
	}
	return e.reply.Code == notSent
}

func (e *entry) accepted() bool { return !e.answered.IsZero() && e.reply.Kind == "" }

// surelyHidden names the order that keeps a page from readers in all of a look's time: it was accepted before the look began,
// and nothing that might have taken it back was sent before the look ended.
func (l *ledger) surelyHidden(folder string, pageNo int64, sourceID string, began, ended time.Time) (*entry, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.order {
		if e.order.Folder == folder && e.accepted() && e.answered.Before(began) && e.hides(pageNo, sourceID) && !l.takenBack(e, sourceID, ended) {
			return e, true
		}
	}
	return nil, false
}

// hides tells whether an order, once accepted, hides a page.
func (e *entry) hides(pageNo int64, sourceID string) bool {
	switch e.order.Do {
	case order.DeleteFolder:
		return true
	case order.DeletePage:
		return e.target.sourceID != "" && (pageNo != 0 && pageNo == e.target.pageNo || sourceID == e.target.sourceID ||
			e.target.subtree && strings.HasPrefix(sourceID, e.target.sourceID+"/"))
	}
	return false
}

// takenBack tells whether anything sent before a moment may have undone a delete of the page.
func (l *ledger) takenBack(hide *entry, sourceID string, until time.Time) bool {
	for _, e := range l.order {
		if e.order.Folder != hide.order.Folder || e.refused() || e.sent.After(until) || !e.answered.IsZero() && e.answered.Before(hide.sent) {
			continue
		}
		switch e.order.Do {
		case order.AddFolder:
			return true
		case order.RestoreFolder:
			if hide.order.Do == order.DeleteFolder {
				return true
			}
		case order.RestorePage:
			if hide.order.Do == order.DeletePage && e.restores(hide, sourceID) {
				return true
			}
		}
	}
	return false
}

// restores tells whether a restore may have brought back what a delete hid: it names the same page, by the path that either
// knew it by, or the page below a deleted subtree that is looked at.
func (e *entry) restores(hide *entry, sourceID string) bool {
	same := e.order.Page == hide.order.Page || e.order.Page == hide.target.sourceID || e.order.Page == sourceID
	return same || e.reply.Answer.PageID != "" && e.reply.Answer.PageID == hide.reply.Answer.PageID
}

// mayBeExcluded tells whether any delete may have excluded a path or page, whatever came afterwards.
func (l *ledger) mayBeExcluded(folder, sourceID, pageID string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.order {
		if e.order.Folder != folder || e.order.Do != order.DeletePage || e.refused() {
			continue
		}
		above := strings.HasPrefix(sourceID, e.order.Page+"/") || e.target.sourceID != "" && strings.HasPrefix(sourceID, e.target.sourceID+"/")
		if above || e.order.Page == sourceID || e.reply.Answer.PageID == pageID || e.answered.IsZero() {
			return true
		}
	}
	return false
}

// about gives the orders that name a folder's page, for people.
func (l *ledger) about(folder, sourceID, pageID string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	for _, e := range l.order {
		o := e.order
		near := o.Page != "" && (o.Page == sourceID || strings.HasPrefix(sourceID, o.Page+"/") || e.reply.Answer.PageID == pageID)
		if o.Folder == folder && (near || o.Page == "") {
			lines = append(lines, e.String())
		}
	}
	return lines
}

// String is an order with its times and its reply.
func (e *entry) String() string {
	o, how := e.order, "no reply yet"
	switch {
	case e.lost:
		how = "the entry point died"
	case e.reply.Kind != "":
		how = string(e.reply.Kind) + ": " + e.reply.Sentence
	case !e.answered.IsZero():
		how = strings.TrimSpace(e.reply.Answer.Status + " " + e.reply.Answer.PageID + " " + strings.Join(e.reply.Answer.Warnings, "; "))
	}
	took := ""
	if !e.answered.IsZero() {
		took = e.answered.Format(" to 15:04:05.000")
	}
	return fmt.Sprintf("%4d %s%s %s %s %s subtree=%t now=%t: %s", o.N, e.sent.Format("15:04:05.000"), took, o.Do, o.Folder, o.Page, o.Subtree, o.Now, how)
}

// waiting counts the orders that may still be answered.
func (l *ledger) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, e := range l.order {
		if e.answered.IsZero() && !e.lost {
			n++
		}
	}
	return n
}

// summary counts the orders by how they ended.
func (l *ledger) summary() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	ended := map[string]int{}
	for _, e := range l.order {
		switch {
		case e.answered.IsZero():
			ended["none"]++
		case e.reply.Kind == "":
			ended["done"]++
		default:
			ended[string(e.reply.Kind)+" ("+e.reply.Code+")"]++
		}
	}
	words := make([]string, 0, len(ended))
	for _, how := range slices.Sorted(maps.Keys(ended)) {
		words = append(words, fmt.Sprintf("%s %d", how, ended[how]))
	}
	return strings.Join(words, ", ")
}
