package activities

import (
	"context"

	"go.temporal.io/sdk/activity"

	"github.com/loresync/loresync/internal/knowledge"
)

// ProgressStore keeps what was read so far of large pages.
type ProgressStore interface {
	LoadProgress(ctx context.Context, folder, page, key string) ([]byte, bool, error)
	SaveProgress(ctx context.Context, h knowledge.Holder, key string, part []byte) (string, error)
}

// memo is a holder's source.Memo: what it saves carries its token, so that a late worker writes nothing for its successor; what
// it loads may come from any holder before. Trouble is logged, since the read goes on without.
type memo struct {
	store  ProgressStore
	holder knowledge.Holder
}

// Load gives what was saved under a key.
func (m memo) Load(ctx context.Context, key string) ([]byte, bool, error) {
	value, found, err := m.store.LoadProgress(ctx, m.holder.Folder, m.holder.Page, key)
	m.complain(ctx, err)
	return value, found, err
}

// Save keeps a value, unless the page has enough already or the holder was overtaken, which its next request notices.
func (m memo) Save(ctx context.Context, key string, value []byte) error {
	_, err := m.store.SaveProgress(ctx, m.holder, key, value)
	m.complain(ctx, err)
	return err
}

func (m memo) complain(ctx context.Context, err error) {
	if err == nil || ctx.Err() != nil {
		return
	}
	activity.GetLogger(ctx).Warn("the progress of a read can't be kept or found; it goes on without",
		"folder_id", m.holder.Folder, "page_id", m.holder.Page, "error", err)
}
