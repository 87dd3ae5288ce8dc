package drivetest_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/api/drive/v3"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"

	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

// start is the time at which every Drive of these tests begins.
func start() time.Time { return time.Date(2026, 7, 4, 9, 8, 57, 778_000_000, time.UTC) }

// stand is a Drive with the client that the project uses.
type stand struct {
	*drivetest.Server
	t *testing.T
}

func newStand(t *testing.T, o drivetest.Options) stand {
	t.Helper()
	if o.Clock == nil {
		o.Clock = drivetest.NewClock(start())
	}
	return stand{Server: drivetest.Start(t, o), t: t}
}

// as gives the client of a user.
func (s stand) as(email string) *drive.Service {
	s.t.Helper()
	service, err := drive.NewService(s.t.Context(), option.WithHTTPClient(s.HTTPClient(email)), option.WithEndpoint(s.Endpoint()))
	require.NoError(s.t, err)
	return service
}

// owner gives the client of the one whose My Drive is filled, account that of the service account.
func (s stand) owner() *drive.Service   { return s.as(s.Owner()) }
func (s stand) account() *drive.Service { return s.as(s.ServiceAccount()) }

// names lists files and gives their names in the order of the answer.
func names(t *testing.T, call *drive.FilesListCall) []string {
	t.Helper()
	list, err := call.Do()
	require.NoError(t, err)
	found := make([]string, 0, len(list.Files))
	for _, file := range list.Files {
		found = append(found, file.Name)
	}
	return found
}

// everywhere makes a list look into shared drives too.
func everywhere(call *drive.FilesListCall) *drive.FilesListCall {
	return call.SupportsAllDrives(true).IncludeItemsFromAllDrives(true)
}

// refused gives the status, the first reason and the message of an error of Drive.
func refused(t *testing.T, err error) (status int, reason, message string) {
	t.Helper()
	var e *googleapi.Error
	require.ErrorAs(t, err, &e)
	if len(e.Errors) > 0 {
		reason = e.Errors[0].Reason
	}
	return e.Code, reason, e.Message
}

// requireStatus wants an error of Drive with a status and a reason.
func requireStatus(t *testing.T, err error, status int, reason drivetest.Reason) {
	t.Helper()
	gotStatus, gotReason, _ := refused(t, err)
	require.Equal(t, status, gotStatus)
	require.Equal(t, string(reason), gotReason)
}

// notFound wants a 404.
func notFound(t *testing.T, err error) {
	t.Helper()
	requireStatus(t, err, http.StatusNotFound, drivetest.NotFound)
}
