package notion

import (
	"context"
	"net/http"

	"github.com/loresync/loresync/internal/source/notion/document"
)

// readComments gives a page's unresolved comments. An integration that may not read comments has none.
func (s *Source) readComments(ctx context.Context, page string) ([]document.Comment, error) {
	var comments []document.Comment
	err := pages(ctx, func(cursor string) (list, error) {
		return s.client.comments(ctx, page, cursor)
	}, func(answer list) (bool, error) {
		for _, raw := range answer.Results {
			if comment, err := document.DecodeComment(raw); err == nil {
				comments = append(comments, comment)
			}
		}
		return true, nil
	})
	if statusOf(err) == http.StatusForbidden || notShared(err) {
		return nil, nil
	}
	return comments, err
}
