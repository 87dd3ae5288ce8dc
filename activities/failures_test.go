package activities

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/sdk/interceptor"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/loresync/loresync/internal/content/model"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/source"
)

var errQuoting = errors.New("open /srv/secretplace/plan.md: xylophone")

func TestTranslate(t *testing.T) {
	t.Parallel()
	failure := func(class source.Class) *source.Failure {
		return &source.Failure{Class: class, Doing: "read /srv/secretplace/plan.md", Sentence: "xylophone", RetryAfter: 7 * time.Second, Err: errQuoting}
	}
	cases := map[string]struct {
		err    error
		kind   string
		final  bool
		delay  time.Duration
		benign bool
	}{
		"a rate limit waits as the vendor wants, without noise": {
			err: failure(source.ClassRateLimited), kind: "RateLimited", delay: 7 * time.Second, benign: true,
		},
		"a source that is down":              {err: failure(source.ClassUnavailable), kind: "Unavailable"},
		"a refused token is final":           {err: failure(source.ClassUnauthorized), kind: "Unauthorized", final: true},
		"a page that vanished is final":      {err: failure(source.ClassNotFound), kind: "NotFound", final: true},
		"an expired checkpoint is final":     {err: failure(source.ClassCheckpointExpired), kind: "CheckpointExpired", final: true},
		"unusable content is final":          {err: failure(source.ClassInvalid), kind: "Invalid", final: true},
		"a sync that was overtaken is final": {err: ErrFenced, kind: "Fenced", final: true},
		"a database that is away":            {err: knowledge.ErrUnreachable, kind: "Unavailable"},
		"a full disk":                        {err: knowledge.ErrDiskFull, kind: "Unavailable"},
		"a model that is down waits at most a minute": {
			err:  &model.Error{Status: 503, Retryable: true, RetryAfter: time.Hour, Sentence: "xylophone", Err: model.ErrRefused},
			kind: "Unavailable", delay: time.Minute,
		},
		"a model that refuses is final": {err: &model.Error{Status: 400, Sentence: "xylophone", Err: model.ErrRefused}, kind: "Invalid", final: true},
		"a bug":                         {err: errors.New("do arithmetic: /srv/secretplace/plan.md: xylophone"), kind: "Internal"},
		"a failure that has its kind already": {
			err: temporal.NewNonRetryableApplicationError("read the page", "Invalid", nil), kind: "Invalid", final: true,
		},
	}
	for name, c := range cases {
		for how, err := range map[string]error{"": c.err, ", wrapped": fmt.Errorf("list the folder: %w", fmt.Errorf("read a batch: %w", c.err))} {
			t.Run(name+how, func(t *testing.T) {
				t.Parallel()
				translated := Translate(err)
				got, outermost := translated.(*temporal.ApplicationError) //nolint:errorlint // only the outermost error counts on the wire
				require.True(t, outermost, "%T", translated)
				assert.Equal(t, c.kind, got.Type())
				assert.Equal(t, c.final, got.NonRetryable())
				assert.Equal(t, c.delay, got.NextRetryDelay())
				assert.Equal(t, c.benign, got.Category() == temporal.ApplicationErrorCategoryBenign)
				assert.NotEmpty(t, got.Message())
				for _, secret := range []string{"xylophone", "secretplace", "plan.md"} {
					assert.NotContains(t, fmt.Sprintf("%v %+v", got, errors.Unwrap(got)), secret)
				}
			})
		}
	}
}

func TestTranslateLeavesTheRest(t *testing.T) {
	t.Parallel()
	require.NoError(t, Translate(nil))
	for _, err := range []error{
		context.Canceled, fmt.Errorf("read: %w", context.Canceled), temporal.NewCanceledError(), fmt.Errorf("read: %w", temporal.NewCanceledError()),
		errors.Join(errQuoting, context.Canceled),
	} {
		translated := Translate(err)
		_, outermost := translated.(*temporal.CanceledError) //nolint:errorlint // only the outermost error counts on the wire
		assert.True(t, outermost, "%v became %T", err, translated)
	}
	path := &fs.PathError{Op: "open", Path: "/srv/secretplace", Err: fs.ErrPermission}
	assert.Equal(t, "read the directory", firstClause(fmt.Errorf("read the directory: %w", path)))
}

// TestInterceptor shows that the translation is in the way of every activity's error.
func TestInterceptor(t *testing.T) {
	t.Parallel()
	suite := testsuite.WorkflowTestSuite{}
	suite.SetLogger(sdklog.NewStructuredLogger(slog.New(slog.DiscardHandler)))
	env := suite.NewTestActivityEnvironment()
	env.SetWorkerOptions(worker.Options{Interceptors: []interceptor.WorkerInterceptor{&Interceptor{}}})
	act := func(_ context.Context, fail bool) (string, error) {
		if fail {
			return "", fmt.Errorf("list: %w", &source.Failure{Class: source.ClassUnauthorized})
		}
		return "done", nil
	}
	env.RegisterActivity(act)
	value, err := env.ExecuteActivity(act, false)
	require.NoError(t, err)
	var text string
	require.NoError(t, value.Get(&text))
	assert.Equal(t, "done", text)
	_, err = env.ExecuteActivity(act, true)
	var failure *temporal.ApplicationError
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, FailureUnauthorized, failure.Type())
	assert.True(t, failure.NonRetryable())
}
