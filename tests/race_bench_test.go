package tests

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
)

// BenchmarkDeleteDuringSync deletes a page whose sync hangs: with nobody to cancel it, it would go on for a minute or for ever. What is
// measured lies between the request and the moment at which nothing of the page is in flight or staged. Run it with
//
//	go run ./internal/testenv/cmd/with-servers -- go test -run '^$' -bench DeleteDuringSync -benchtime 50x ./tests
func BenchmarkDeleteDuringSync(b *testing.B) {
	for _, c := range stuckSyncs {
		b.Run(c.name, func(b *testing.B) {
			s := c.start(b)
			var took []time.Duration
			for b.Loop() {
				b.StopTimer()
				page := s.hang(len(took))
				b.StartTimer()
				begun := time.Now()
				deleted, err := s.DeletePage(b.Context(), folderID, page, control.DeleteOptions{}, person)
				require.NoError(b, err)
				s.wait(deleted, nil)
				took = append(took, time.Since(begun))
			}
			s.free()
			slices.Sort(took)
			for _, share := range []int{50, 95, 100} {
				b.ReportMetric(took[(len(took)*share+99)/100-1].Seconds(), "s-p"+map[int]string{50: "50", 95: "95", 100: "100"}[share])
			}
		})
	}
}
