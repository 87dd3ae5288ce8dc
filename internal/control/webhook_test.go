package control_test

import (
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/control"
)

// set is the room's control with other settings.
func (r *room) set(options control.Options) *control.Control {
	return control.New(r.store, nil, nil, slog.New(slog.DiscardHandler), options)
}

func TestWebhooksOfEachSource(t *testing.T) {
	t.Parallel()
	r := newRoom(t, nil, "")

	t.Run("files have none, and nothing is said of Notion", func(t *testing.T) {
		info, err := r.Webhook(t.Context(), "files", mika)
		require.NoError(t, err)
		assert.Equal(t, "unsupported", info.State)
		assert.Contains(t, info.Advice, "files has no webhooks")
		assert.NotContains(t, info.Advice, "Notion")
		_, err = r.ForgetWebhook(t.Context(), "files", mika)
		requireKind(t, err, control.KindUsage, "no_webhook_token")
	})

	t.Run("the setting of Notion's secret is told", func(t *testing.T) {
		set := r.set(control.Options{NotionSecretIsSet: true})
		info, err := set.Webhook(t.Context(), "notion", mika)
		require.NoError(t, err)
		assert.Equal(t, "setting", info.State)
		assert.Contains(t, info.Advice, "LORESYNC_NOTION_WEBHOOK_SECRET")
		info, err = r.Webhook(t.Context(), "notion", mika)
		require.NoError(t, err)
		assert.Equal(t, "none", info.State)
		r.exec(`INSERT INTO connections (name, source) VALUES ('notion-hr', 'notion')`)
		info, err = set.Webhook(t.Context(), "notion-hr", mika)
		require.NoError(t, err)
		assert.Equal(t, "none", info.State, "the setting is the default connection's")
	})

	t.Run("Drive says what is missing, and shows its logs", func(t *testing.T) {
		info, err := r.Webhook(t.Context(), "gdrive", mika)
		require.NoError(t, err)
		assert.Equal(t, "off", info.State)
		assert.Contains(t, info.Advice, "LORESYNC_PUBLIC_URL")
		set := r.set(control.Options{PublicURL: "https://lore.test"})
		info, err = set.Webhook(t.Context(), "gdrive", mika)
		require.NoError(t, err)
		assert.Equal(t, "none", info.State)
		r.exec(`INSERT INTO watched_logs (connection, log, failures, failed_at, sentence) VALUES ('gdrive', 'user', 1, now(), 'it is refused')`)
		info, err = set.Webhook(t.Context(), "gdrive", mika)
		require.NoError(t, err)
		assert.Equal(t, "failing", info.State)
		require.Len(t, info.Channels, 1)
		assert.Equal(t, "it is refused", info.Channels[0].Sentence)
		_, err = r.ForgetWebhook(t.Context(), "gdrive", mika)
		requireKind(t, err, control.KindUsage, "no_webhook_token")
	})

	t.Run("an unknown channel is not found, whatever names it", func(t *testing.T) {
		for _, id := range []string{"", "no id", "' OR true --", uuid.NewString()} {
			_, err := r.WatchChannel(t.Context(), id)
			requireKind(t, err, control.KindNotFound, "channel_unknown")
		}
	})
}
