package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/converter"

	"github.com/loresync/loresync/internal/ids"
	"github.com/loresync/loresync/internal/knowledge"
	"github.com/loresync/loresync/internal/store"
	"github.com/loresync/loresync/workflows"
)

// The sources whose webhooks differ from those of others.
const (
	notionSource = "notion"
	driveSource  = "gdrive"
)

// WebhookInfo is how far a connection's webhooks are set up.
type WebhookInfo struct {
	Connection string `json:"connection"`
	Source     string `json:"source"`
	// State is none, waiting (a verification came, no signed event yet), confirmed, or setting (a setting holds the secret). Of a
	// source that is watched by channels it is off (nothing can be called), none, opening, waiting, active or failing; of one
	// that never calls it is unsupported.
	State string `json:"state"`
	// Advice says what it means and what to do; empty when there is nothing to do.
	Advice string `json:"advice,omitempty"`
	// Channels are the change logs that are watched, for sources that are watched by channels.
	Channels    []knowledge.Watch `json:"channels,omitempty"`
	ReceivedAt  *time.Time        `json:"received_at"`
	ShownAt     *time.Time        `json:"shown_at"`
	ConfirmedAt *time.Time        `json:"confirmed_at"`
	// Token is the verification token, to be pasted into the source's settings. It is given once.
	Token string `json:"verification_token,omitempty"`
}

// WebhookSecret gives the secret that signs a connection's webhooks, "" while there is none, and whether an event has come that
// bore it. A connection that isn't there, or is another source's, is not found.
func (c *Control) WebhookSecret(ctx context.Context, connection, source string) (secret string, confirmed bool, err error) {
	known, err := c.webhook(ctx, connection)
	if err != nil {
		return "", false, err
	}
	if known.Source != source {
		return "", false, unknownConnection(connection)
	}
	return known.Secret, known.ConfirmedAt != nil, nil
}

func (c *Control) webhook(ctx context.Context, connection string) (knowledge.WebhookSecret, error) {
	if !connectionName.MatchString(connection) {
		return knowledge.WebhookSecret{}, unknownConnection(connection)
	}
	known, err := c.store.WebhookSecret(ctx, connection)
	if errors.Is(err, store.ErrNotFound) {
		return known, unknownConnection(connection)
	}
	return known, err
}

// KeepWebhookSecret keeps the token of a verification. It is refused while the connection has another one, unless the request
// was signed with that.
func (c *Control) KeepWebhookSecret(ctx context.Context, connection, secret string, signed bool) error {
	kept, err := c.store.KeepWebhookSecret(ctx, connection, secret, signed)
	if err != nil || kept {
		return err
	}
	return refuse("webhook_secret_kept", "the webhooks of connection %q have a secret already: forget it first, then verify again", connection)
}

// ConfirmWebhook notes that an event came that was signed with the secret that is kept.
func (c *Control) ConfirmWebhook(ctx context.Context, connection, secret string) error {
	return c.store.ConfirmWebhook(ctx, connection, secret)
}

// Webhook tells how far a connection's webhooks are set up, and gives the verification token that waits to be shown, once.
func (c *Control) Webhook(ctx context.Context, connection string, actor Actor) (WebhookInfo, error) {
	known, err := c.webhook(ctx, connection)
	if err != nil {
		return WebhookInfo{}, err
	}
	switch known.Source {
	case notionSource:
		return c.notionWebhook(ctx, connection, actor)
	case driveSource:
		return c.watchInfo(ctx, connection)
	}
	return WebhookInfo{
		Connection: connection, Source: known.Source, State: "unsupported",
		Advice: fmt.Sprintf("the source %s has no webhooks: its folders are looked at in their interval, and by `starter sync folder FOLDER`", known.Source),
	}, nil
}

func (c *Control) notionWebhook(ctx context.Context, connection string, actor Actor) (WebhookInfo, error) {
	token, err := c.store.ShowWebhookSecret(ctx, connection, who(actor))
	if err != nil {
		return WebhookInfo{}, err
	}
	known, err := c.webhook(ctx, connection)
	if err != nil {
		return WebhookInfo{}, err
	}
	info := WebhookInfo{
		Connection: connection, Source: known.Source, State: "none", ReceivedAt: known.ReceivedAt, ShownAt: known.ShownAt,
		ConfirmedAt: known.ConfirmedAt, Token: token,
	}
	switch {
	case connection == notionSource && c.options.NotionSecretIsSet:
		info.State = "setting"
		info.Advice = "the secret is in the setting LORESYNC_NOTION_WEBHOOK_SECRET, which wins over the token of a verification"
	case known.ConfirmedAt != nil:
		info.State = "confirmed"
	case known.ReceivedAt != nil:
		info.State = "waiting"
	}
	return info, nil
}

// ForgetWebhook drops a connection's secret, so that the next verification is accepted. Events signed with it are refused then.
func (c *Control) ForgetWebhook(ctx context.Context, connection string, actor Actor) (WebhookInfo, error) {
	known, err := c.webhook(ctx, connection)
	if err != nil {
		return WebhookInfo{}, err
	}
	if known.Source != notionSource {
		return WebhookInfo{}, usage("no_webhook_token", "connection %q has no token to forget: only those of notion have", connection)
	}
	if _, err := c.store.ForgetWebhookSecret(ctx, connection, who(actor)); err != nil {
		return WebhookInfo{}, err
	}
	return WebhookInfo{Connection: connection, Source: known.Source, State: "none"}, nil
}

// TakeNotice starts the workflow that follows a webhook event, once for an event however often it is delivered, as long as
// Temporal remembers it. Joined says that there was one already, running or ended. It answers within TemporalTimeout.
func (c *Control) TakeNotice(ctx context.Context, connection string, n knowledge.Notice) (Answer, error) {
	workflowID, err := ids.Webhook(connection, n.EventID)
	if err != nil {
		return Answer{}, usage("bad_event", "the event can't be followed: %s", err)
	}
	if c.temporal == nil {
		return Answer{}, unreachable(errors.New("no client"))
	}
	input, err := converter.GetDefaultDataConverter().ToPayloads(workflows.FollowWebhookInput{
		Connection: connection, EventID: n.EventID, Type: n.Type, Kind: n.Kind, SourceID: n.SourceID, ParentSourceID: n.ParentSourceID,
	})
	if err != nil {
		return Answer{}, fmt.Errorf("encode the input of a webhook event: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.TemporalTimeout)
	defer cancel()
	runID, started, err := c.startOnce(ctx, start{
		workflowID: workflowID, workflowType: "FollowWebhookWorkflow", requestID: uuid.NewString(),
	}, input)
	if err != nil {
		return Answer{}, unreachable(err)
	}
	return Answer{WorkflowID: workflowID, RunID: runID, Joined: !started, Status: string(knowledge.RunRunning)}, nil
}

// startOnce starts a workflow whose ID never runs a second time.
func (c *Control) startOnce(ctx context.Context, s start, input *commonpb.Payloads) (runID string, started bool, err error) {
	err = patiently(ctx, func() error {
		answer, failed := c.temporal.WorkflowService().StartWorkflowExecution(ctx, &workflowservice.StartWorkflowExecutionRequest{
			Namespace: c.options.Namespace, WorkflowId: s.workflowID, WorkflowType: &commonpb.WorkflowType{Name: s.workflowType},
			TaskQueue: taskQueue(), Input: input, Identity: identity(), RequestId: s.requestID,
			WorkflowIdReusePolicy:    enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
			WorkflowIdConflictPolicy: enumspb.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
		})
		runID, started = answer.GetRunId(), answer.GetStarted()
		return failed
	})
	if ended, ok := errors.AsType[*serviceerror.WorkflowExecutionAlreadyStarted](err); ok {
		return ended.RunId, false, nil
	}
	return runID, started, err
}

// TellGone follows the source's word that a page is gone as if it had come by webhook.
func (c *Control) TellGone(ctx context.Context, connection, sourceID, event string) error {
	_, err := c.TakeNotice(ctx, connection, knowledge.Notice{EventID: event, Type: "read", Kind: knowledge.NoticeGone, SourceID: sourceID})
	return err
}

// ReadPageAgain asks for a page on behalf of a notice: a running sync of it reads once more if it has begun to read.
func (c *Control) ReadPageAgain(ctx context.Context, folder, page string, lane knowledge.Lane) error {
	_, err := c.requestPageSync(ctx, folder, page, lane, true)
	return err
}
