package gdrive_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/loresync/loresync/internal/source"
	"github.com/loresync/loresync/internal/source/gdrive"
	"github.com/loresync/loresync/internal/source/gdrive/drivetest"
)

func TestNew_refuses_settings_that_can_not_be_used(t *testing.T) {
	t.Parallel()
	for what, o := range map[string]gdrive.Options{
		"no credentials": {},
		"no address":     {Endpoint: "drive/v3", Credentials: gdrive.Credentials{Token: func(context.Context) (string, error) { return "", nil }}},
	} {
		_, err := gdrive.New(o)
		require.Error(t, err, what)
		assert.NotContains(t, err.Error(), "secret")
	}
}

func TestCredentials_that_are_no_key_pause_and_are_not_quoted(t *testing.T) {
	t.Parallel()
	for what, raw := range map[string]string{
		"nothing": "", "no JSON": "secret", "no consent": `{"type":"authorized_user","client_secret":"secret"}`,
		"no private key": `{"type":"service_account","private_key":"secret"}`, "another kind": `{"type":"external_account","token":"secret"}`,
	} {
		s := newOffice(t, drivetest.Options{}, func(o *gdrive.Options) { o.Credentials.Key = key([]byte(raw)) })
		failure := s.refused(docID)
		assert.Equal(t, source.ClassUnauthorized, failure.Class, what)
		assert.NotContains(t, failure.Error()+failure.Sentence, "secret", what)
	}
}

func TestCredentials_of_a_person_are_renewed_by_their_consent(t *testing.T) {
	t.Parallel()
	var person []byte
	s := newOffice(t, drivetest.Options{}, func(o *gdrive.Options) {
		o.Credentials.Key = func(context.Context) ([]byte, error) { return person, nil }
	})
	person = s.UserCredentialsJSON(s.Owner())
	id := s.doc(s.root.Ref, "Page", "x")
	assert.Equal(t, []string{id}, s.list(s.root).ids())
	s.ExpireTokens()
	assert.Equal(t, []string{id}, s.list(s.root).ids())
	for _, r := range s.Requests(drivetest.KindList) {
		assert.Equal(t, s.Owner(), r.User)
	}
}

func TestCredentials_that_were_replaced_are_used_without_a_restart(t *testing.T) {
	t.Parallel()
	var raw []byte
	s := newOffice(t, drivetest.Options{}, func(o *gdrive.Options) {
		o.Credentials.Key = func(context.Context) ([]byte, error) { return raw, nil }
	})
	id := s.doc(s.root.Ref, "Page", "x")
	assert.Equal(t, source.ClassUnauthorized, s.refused(id).Class)
	raw = s.CredentialsJSON()
	assert.Equal(t, []string{id}, s.list(s.root).ids())
}

func TestNew_mends_an_endpoint_without_a_slash(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{}, func(o *gdrive.Options) { o.Endpoint = strings.TrimRight(o.Endpoint, "/") })
	id := s.doc(s.root.Ref, "Page", "x")
	assert.Equal(t, []string{id}, s.list(s.root).ids())
}

func TestCredentials_of_a_service_account_act_as_its_subject(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{Private: true}, func(o *gdrive.Options) { o.Credentials.Subject = "mika@example.org" })
	s.AddUser("mika@example.org", "Mika")
	s.did(s.Share(s.root.Ref, "mika@example.org", drivetest.RoleReader))
	id := s.doc(s.root.Ref, "Page", "x")
	assert.Equal(t, []string{id}, s.list(s.root).ids())
	for _, r := range s.Requests(drivetest.KindList) {
		assert.Equal(t, "mika@example.org", r.User)
	}
}

func TestCredentials_that_are_refused_are_unauthorized(t *testing.T) {
	t.Parallel()
	for what, spoil := range map[string]func(s *office){
		"the grant is refused":  func(s *office) { s.Revoke(s.ServiceAccount()) },
		"Drive refuses for all": func(s *office) { s.Fail(drivetest.OfKind(drivetest.KindGet), 0, drivetest.Refuse(drivetest.AuthError)) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newOffice(t, drivetest.Options{})
			id := s.doc(s.root.Ref, "Page", "x")
			spoil(s)
			failure := s.refused(id)
			assert.Equal(t, source.ClassUnauthorized, failure.Class)
			assertDiscreet(t, s, failure, id)
			_, err := s.src.List(t.Context(), s.root, "", func(source.Batch) error { return nil })
			assert.Equal(t, source.ClassUnauthorized, failureOf(t, err).Class)
		})
	}
	s := newOffice(t, drivetest.Options{NoDelegation: true}, func(o *gdrive.Options) { o.Credentials.Subject = "mika@example.org" })
	failure := s.refused(docID)
	assert.Equal(t, source.ClassUnauthorized, failure.Class)
	assert.Contains(t, failure.Sentence, "delegation")
}

func TestFaultR113_One_exchange_serves_all_who_wait_for_a_token(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	ids := s.docs(s.root.Ref, 8)
	for range 2 {
		s.ResetLog()
		var group errgroup.Group
		for _, id := range ids {
			group.Go(func() error {
				_, err := s.src.Fetch(t.Context(), s.root, id)
				return err
			})
		}
		require.NoError(t, group.Wait())
		assert.LessOrEqual(t, s.Count(drivetest.KindToken), 1)
		// A token that ends before its time is renewed, and the requests are sent again.
		s.ExpireTokens()
	}
}

func TestCredentials_trouble_of_the_token_endpoint_passes(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	id := s.doc(s.root.Ref, "Page", "x")
	s.Fail(drivetest.OfKind(drivetest.KindToken), 2, drivetest.Unavailable())
	assert.Equal(t, "x\n", s.fetch(id).Markdown)
	other := s.source()
	s.Fail(drivetest.OfKind(drivetest.KindToken), 0, drivetest.BadGateway())
	_, err := other.Fetch(t.Context(), s.root, id)
	assert.Equal(t, source.ClassUnavailable, failureOf(t, err).Class)
}

func TestCredentials_waiting_for_a_token_ends_with_the_context(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	held := s.Hold(drivetest.OfKind(drivetest.KindToken))
	defer held.Release()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	for range cap(ended) {
		go func() {
			_, err := s.src.Fetch(ctx, s.root, docID)
			ended <- err
		}()
	}
	require.NoError(t, held.Await(t.Context(), 1))
	cancel()
	for range cap(ended) {
		require.ErrorIs(t, <-ended, context.Canceled)
	}
}

func TestCredentials_of_a_person_are_asked_for_each_request(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var token string
	var refusal error
	s := newOffice(t, drivetest.Options{}, func(o *gdrive.Options) {
		o.Credentials = gdrive.Credentials{Token: func(context.Context) (string, error) {
			mu.Lock()
			defer mu.Unlock()
			return token, refusal
		}}
	})
	set := func(to string, err error) {
		mu.Lock()
		defer mu.Unlock()
		token, refusal = to, err
	}
	id := s.doc(s.root.Ref, "Page", "x")
	set(s.AccessToken(s.Owner()), nil)
	assert.Equal(t, "x\n", s.fetch(id).Markdown)
	set("expired", nil)
	assert.Equal(t, source.ClassUnauthorized, s.refused(id).Class)
	set("", &source.Failure{Class: source.ClassUnauthorized, Doing: "renew the tokens", Sentence: "Authorize again."})
	assert.Equal(t, "Authorize again.", s.refused(id).Sentence)
	lost := errors.New("the store is away")
	set("", lost)
	_, err := s.src.Fetch(t.Context(), s.root, id)
	require.ErrorIs(t, err, lost)
}

func TestToken_goes_to_no_other_host(t *testing.T) {
	t.Parallel()
	s := newOffice(t, drivetest.Options{})
	id := s.doc(s.root.Ref, "Page", "x")
	s.Fail(drivetest.OfKind(drivetest.KindGet), 0, func(w http.ResponseWriter, r *http.Request, _ http.HandlerFunc) {
		http.Redirect(w, r, "http://127.0.0.2:9/steal", http.StatusFound)
	})
	failure := s.refused(id)
	assert.Equal(t, source.ClassInvalid, failure.Class)
	assert.Contains(t, failure.Sentence, "host")
	assert.NotContains(t, failure.Error(), "steal")
}
