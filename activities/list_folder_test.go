package activities

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestWindowOfARemoteSourceFollowsItsBudget(t *testing.T) {
	t.Parallel()
	for perSecond, want := range map[float64]int{0.1: 4, 1: 5, 2.85: 14, 4: 20, 30: 20, 1000: 20} {
		t.Run(fmt.Sprint(perSecond), func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, want, remoteWindow(perSecond))
		})
	}
}
