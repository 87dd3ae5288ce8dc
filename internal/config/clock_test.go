package config

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"
)

func TestTheBudgetOfAnActivityRunsByThisMachinesClock(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"a slow clock": time.Hour, "a fast clock": -time.Hour, "the same clock": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := time.Now().Add(ahead)
			task := func() *workflowservice.PollActivityTaskQueueResponse {
				return &workflowservice.PollActivityTaskQueueResponse{
					ScheduledTime: timestamppb.New(server.Add(-time.Minute)), StartedTime: timestamppb.New(server),
				}
			}
			polled, eager := task(), &workflowservice.RespondWorkflowTaskCompletedResponse{
				ActivityTasks: []*workflowservice.PollActivityTaskQueueResponse{task()},
			}
			for _, answer := range []any{polled, eager, &workflowservice.PollActivityTaskQueueResponse{}} {
				require.NoError(t, byOwnClock(t.Context(), "", nil, answer, nil, answered))
			}
			for _, task := range append(eager.GetActivityTasks(), polled) {
				assert.WithinDuration(t, time.Now(), task.GetStartedTime().AsTime(), time.Minute/2)
				assert.Equal(t, time.Minute, task.GetStartedTime().AsTime().Sub(task.GetScheduledTime().AsTime()), "the server's own distances stay")
			}
		})
	}
}

func answered(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
	return nil
}
