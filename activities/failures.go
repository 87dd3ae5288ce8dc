package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/loresync/loresync/internal/knowledge"

	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"github.com/loresync/loresync/internal/content/model"
	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/transport"
)

// The failure types that workflows and people see. They are wire names.
const (
	FailureRateLimited       = "RateLimited"
	FailureUnavailable       = "Unavailable"
	FailureUnauthorized      = "Unauthorized"
	FailureCheckpointExpired = "CheckpointExpired"
	FailureInvalid           = "Invalid"
	FailureFenced            = "Fenced"
	FailureInternal          = "Internal"
)

// ErrFenced says that the sync was overtaken or its page deleted while it worked.
var ErrFenced = errors.New("overtaken or deleted while it was being read")

// Translate turns an error into the Temporal failure that the workflow acts on. The ApplicationError is outermost: wrapped,
// a non-retryable one would be retried and lose its type. Its message carries the class and what was being done, never page
// text, paths or tokens, since it ends up in a history.
func Translate(err error) error {
	var done *temporal.ApplicationError
	var failed *source.Failure
	var refused *model.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &done):
		return done
	case temporal.IsCanceledError(err), errors.Is(err, context.Canceled):
		return temporal.NewCanceledError()
	case errors.Is(err, ErrFenced), errors.Is(err, transport.ErrStopped), errors.Is(err, transport.ErrPaused):
		return temporal.NewNonRetryableApplicationError(ErrFenced.Error(), FailureFenced, nil)
	case errors.As(err, &failed):
		return translateSource(failed)
	case errors.As(err, &refused):
		return translateModel(refused)
	case errors.Is(err, knowledge.ErrUnreachable), errors.Is(err, knowledge.ErrDiskFull):
		return temporal.NewApplicationError(firstClause(err), FailureUnavailable)
	}
	return temporal.NewApplicationError(firstClause(err), FailureInternal)
}

func translateSource(failed *source.Failure) error {
	options := temporal.ApplicationErrorOptions{NonRetryable: true}
	switch failed.Class {
	case source.ClassRateLimited:
		options = temporal.ApplicationErrorOptions{NextRetryDelay: failed.RetryAfter, Category: temporal.ApplicationErrorCategoryBenign}
	case source.ClassUnavailable:
		options = temporal.ApplicationErrorOptions{}
	case source.ClassUnauthorized, source.ClassNotFound, source.ClassCheckpointExpired, source.ClassInvalid:
	}
	return temporal.NewApplicationErrorWithOptions("source: "+string(failed.Class), string(failed.Class), options)
}

func translateModel(refused *model.Error) error {
	class := FailureInvalid
	if refused.Retryable {
		class = FailureUnavailable
	}
	return temporal.NewApplicationErrorWithOptions(fmt.Sprintf("model: status %d", refused.Status), class,
		temporal.ApplicationErrorOptions{NonRetryable: !refused.Retryable, NextRetryDelay: min(refused.RetryAfter, time.Minute)})
}

// firstClause keeps what was being done and drops the cause, which may quote what was read.
func firstClause(err error) string {
	clause, _, _ := strings.Cut(err.Error(), ": ")
	return clause
}

// Interceptor translates the errors of all activities of a worker.
type Interceptor struct {
	interceptor.WorkerInterceptorBase
}

// InterceptActivity puts the translation around an activity.
func (*Interceptor) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	i := &translating{}
	i.Next = next
	return i
}

type translating struct {
	interceptor.ActivityInboundInterceptorBase
}

// ExecuteActivity runs the activity and translates its error.
func (t *translating) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	result, err := t.Next.ExecuteActivity(ctx, in)
	return result, Translate(err)
}
