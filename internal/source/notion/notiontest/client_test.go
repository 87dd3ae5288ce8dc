package notiontest_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/jomei/notionapi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/source/notion/notiontest"
)

// redirected sends requests to another host than they ask for.
type redirected struct{ to *url.URL }

func (r redirected) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.URL.Scheme, request.URL.Host, request.Host = r.to.Scheme, r.to.Host, r.to.Host
	return http.DefaultTransport.RoundTrip(request)
}

// TestTheGoClient reads a workspace with the client that the project uses, in the version that it speaks.
func TestTheGoClient(t *testing.T) {
	t.Parallel()
	s := newStand(t, notiontest.ServerOptions{})
	page := s.page("Page", notiontest.Heading(2, notiontest.Text("Heading")), notiontest.Paragraph(notiontest.Bold("Text")))
	db := s.database(page, "Database", notiontest.Column{Name: "Number", Type: "number"})
	row := s.row(db.Source, "Row", map[string]notiontest.Value{"Number": notiontest.NumberValue(4)})
	to, err := url.Parse(s.URL())
	require.NoError(t, err)
	client := notionapi.NewClient(notionapi.Token(s.Token()), notionapi.WithHTTPClient(&http.Client{Transport: redirected{to}}))

	found, err := client.Search.Do(t.Context(), &notionapi.SearchRequest{PageSize: 2})
	require.NoError(t, err)
	require.Len(t, found.Results, 2)
	assert.True(t, found.HasMore)
	rest, err := client.Search.Do(t.Context(), &notionapi.SearchRequest{StartCursor: found.NextCursor})
	require.NoError(t, err)
	assert.Len(t, rest.Results, 1)

	got, err := client.Page.Get(t.Context(), notionapi.PageID(page))
	require.NoError(t, err)
	assert.Equal(t, page, got.ID.String())
	title, ok := got.Properties["title"].(*notionapi.TitleProperty)
	require.True(t, ok)
	assert.Equal(t, "Page", title.Title[0].PlainText)

	children, err := client.Block.GetChildren(t.Context(), notionapi.BlockID(page), nil)
	require.NoError(t, err)
	require.Len(t, children.Results, 3)
	assert.Equal(t, notionapi.BlockTypeHeading2, children.Results[0].GetType())
	assert.Equal(t, "Text", children.Results[1].GetRichTextString())
	assert.Equal(t, notionapi.BlockTypeChildDatabase, children.Results[2].GetType())

	database, err := client.Database.Get(t.Context(), notionapi.DatabaseID(db.ID))
	require.NoError(t, err)
	assert.Contains(t, database.Properties, "Number")
	rows, err := client.Database.Query(t.Context(), notionapi.DatabaseID(db.ID), &notionapi.DatabaseQueryRequest{})
	require.NoError(t, err)
	require.Len(t, rows.Results, 1)
	assert.Equal(t, row, rows.Results[0].ID.String())

	me, err := client.User.Me(t.Context())
	require.NoError(t, err)
	assert.Equal(t, s.Bot(), me.ID.String())
	_, err = client.Page.Get(t.Context(), notionapi.PageID(s.ID()))
	var refused *notionapi.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, notionapi.ErrorCode("object_not_found"), refused.Code)
}
