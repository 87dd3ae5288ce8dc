package testenv

import (
	"testing"
	"time"
)

// Eventually waits until the condition holds and fails the test when it doesn't within the time. The condition runs in the
// test's own goroutine, so it may fail the test itself; message says what was being waited for.
func Eventually(t testing.TB, timeout time.Duration, condition func() bool, message string) {
	t.Helper()
	const poll = 10 * time.Millisecond
	for deadline := time.Now().Add(timeout); ; {
		if condition() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", timeout, message)
		}
		time.Sleep(poll)
	}
}
