package config

import (
	"context"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// byOwnClock lets the budget of an activity run by this machine's clock. The SDK adds it to the time at which the server says that
// the activity was scheduled: on a machine whose clock is fast by more than the budget every attempt would be over before it begins,
// and take its time at the server all the same.
func byOwnClock(
	ctx context.Context, method string, request, answer any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	if err := invoke(ctx, method, request, answer, conn, options...); err != nil {
		return err
	}
	switch answer := answer.(type) {
	case *workflowservice.PollActivityTaskQueueResponse:
		cameNow(answer, time.Now())
	case *workflowservice.RespondWorkflowTaskCompletedResponse:
		for _, task := range answer.GetActivityTasks() {
			cameNow(task, time.Now())
		}
	}
	return nil
}

// cameNow moves the times of an attempt so that it was started now. The distances between them stay.
func cameNow(task *workflowservice.PollActivityTaskQueueResponse, now time.Time) {
	if task.GetStartedTime() == nil {
		return // nothing came in the time of a poll
	}
	off := now.Sub(task.GetStartedTime().AsTime())
	for _, at := range []**timestamppb.Timestamp{&task.ScheduledTime, &task.CurrentAttemptScheduledTime, &task.StartedTime} {
		if *at != nil {
			*at = timestamppb.New((*at).AsTime().Add(off))
		}
	}
}
