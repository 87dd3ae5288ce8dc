package embed_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/content/embed"
	"github.com/loresync/loresync/internal/content/model"
)

const (
	secret = "sk-very-secret"
	page   = "text of a page"
)

type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Dimensions int      `json:"dimensions"`
}

// client returns a client of three dimensions whose endpoint answers with answer.
func client(t *testing.T, answer func(w http.ResponseWriter, req request)) *embed.OpenAI {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "/v1/embeddings", r.URL.Path)
		assert.Equal(t, "Bearer "+secret, r.Header.Get("Authorization"))
		var req request
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&req))
		answer(w, req)
	}))
	t.Cleanup(server.Close)
	return embed.NewOpenAI(embed.OpenAIConfig{
		BaseURL: server.URL + "/v1", APIKey: secret, Model: "m", Dimensions: 3, BatchItems: 2, BatchRunes: 40,
		Timeout: 5 * time.Second,
	})
}

func respond(w http.ResponseWriter, data string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"object":"list","model":"m","data":[`+data+`],"usage":{"prompt_tokens":1,"total_tokens":1}}`)
}

func item(index int, vector string) string {
	return fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":%s}`, index, vector)
}

func TestOpenAI_embeds_in_batches_and_keeps_the_order(t *testing.T) {
	t.Parallel()
	var batches atomic.Int32
	c := client(t, func(w http.ResponseWriter, req request) {
		batches.Add(1)
		assert.Equal(t, "m", req.Model)
		assert.Equal(t, 3, req.Dimensions)
		assert.LessOrEqual(t, len(req.Input), 2)
		var items []string
		for i, text := range slices.Backward(req.Input) { // the last one first
			items = append(items, item(i, fmt.Sprintf("[%d,0,1]", len(text))))
		}
		respond(w, strings.Join(items, ","))
	})
	texts := []string{"a", "bb", "ccc", strings.Repeat("d", 39), strings.Repeat("e", 60)}
	vectors, err := c.Embed(context.Background(), texts)
	require.NoError(t, err)
	require.Len(t, vectors, len(texts))
	for i, text := range texts {
		assert.Equal(t, []float32{float32(len(text)), 0, 1}, vectors[i])
	}
	assert.EqualValues(t, 4, batches.Load(), "a bb | ccc | d… | e…")
	assert.Equal(t, 3, c.Dimensions())
	assert.True(t, c.Remote())

	none, err := c.Embed(context.Background(), nil)
	require.NoError(t, err)
	assert.Empty(t, none)
	assert.EqualValues(t, 4, batches.Load(), "nothing is asked for nothing")
}

func TestOpenAI_refuses_answers_that_cannot_be_used(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		data      string
		retryable bool
	}{
		"too_few":           {item(0, "[1,2,3]"), true},
		"too_many":          {item(0, "[1,2,3]") + "," + item(1, "[1,2,3]") + "," + item(2, "[1,2,3]"), true},
		"wrong_dimensions":  {item(0, "[1,2]") + "," + item(1, "[1,2]"), false},
		"same_index":        {item(0, "[1,2,3]") + "," + item(0, "[1,2,3]"), true},
		"index_out_of_list": {item(0, "[1,2,3]") + "," + item(7, "[1,2,3]"), true},
		"zeros":             {item(0, "[1,2,3]") + "," + item(1, "[0,0,0]"), true},
		"null_number":       {item(0, "[1,2,3]") + "," + item(1, "[1,null,3]"), true},
		"NaN":               {item(0, "[1,2,3]") + "," + item(1, "[1,NaN,3]"), true},
		"quoted_NaN":        {item(0, "[1,2,3]") + "," + item(1, `[1,"NaN",3]`), true},
		"infinite":          {item(0, "[1,2,3]") + "," + item(1, "[1,1e999,3]"), true},
		"too_large":         {item(0, "[1,2,3]") + "," + item(1, "[1,1e300,3]"), true},
		"null_vector":       {item(0, "[1,2,3]") + "," + item(1, "null"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := client(t, func(w http.ResponseWriter, _ request) { respond(w, c.data) }).
				Embed(context.Background(), []string{page, "b"})
			e := typed(t, err)
			require.ErrorIs(t, err, model.ErrBadAnswer)
			assert.Equal(t, c.retryable, e.Retryable, "%+v", e)
		})
	}
}

// typed checks what holds for every error, and returns it.
func typed(t *testing.T, err error) *embed.Error {
	t.Helper()
	var e *embed.Error
	require.ErrorAs(t, err, &e)
	assert.NotEmpty(t, e.Sentence)
	for cause := err; cause != nil; cause = errors.Unwrap(cause) {
		for _, leak := range []string{secret, page, "127.0.0.1", "<html>"} {
			assert.NotContains(t, fmt.Sprintf("%v %+v %#v", cause, e, e.Sentence), leak)
		}
	}
	return e
}

func TestOpenAI_tells_by_the_status_whether_to_retry(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status    int
		header    string
		body      string
		retryable bool
		after     time.Duration
	}{
		"rate_limit":          {429, "7", `{"error":{"message":"slow ` + page + `","code":"rate_limit"}}`, true, 7 * time.Second},
		"fraction":            {429, "0.5", "", true, 500 * time.Millisecond},
		"no_delay":            {429, "", "", true, 0},
		"nonsense_delay":      {429, "soon", "", true, 0},
		"huge_delay":          {429, "1e300", "", true, 24 * time.Hour},
		"no_quota_left":       {429, "", `{"error":{"message":"x","code":"insufficient_quota","type":"t","param":null}}`, false, 0},
		"gateway_page":        {500, "", "<html>" + secret + "</html>", true, 0},
		"overloaded":          {529, "2", "<html>", true, 2 * time.Second},
		"edge_time_out":       {524, "", "<html>", true, 0},
		"key_refused":         {401, "", `{"error":{"message":"bad key ` + secret + `"}}`, false, 0},
		"bad_request":         {400, "", `{"error":{"message":"` + page + `"}}`, false, 0},
		"unknown_model":       {404, "", "", false, 0},
		"past_date_is_no_gap": {503, "Mon, 02 Jan 2006 15:04:05 GMT", "", true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			_, err := client(t, func(w http.ResponseWriter, _ request) {
				calls.Add(1)
				if strings.HasPrefix(c.body, "{") {
					w.Header().Set("Content-Type", "application/json")
				}
				w.Header().Set("Retry-After", c.header)
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}).Embed(context.Background(), []string{page})
			e := typed(t, err)
			require.ErrorIs(t, err, model.ErrRefused)
			assert.Equal(t, c.status, e.Status)
			assert.Equal(t, c.retryable, e.Retryable)
			assert.Equal(t, c.after, e.RetryAfter)
			assert.EqualValues(t, 1, calls.Load(), "the library doesn't retry")
		})
	}
}

func TestOpenAI_takes_a_page_with_status_200_for_no_answer(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"text/html", "application/json"} {
		_, err := client(t, func(w http.ResponseWriter, _ request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, "<html>"+secret+"</html>")
		}).Embed(context.Background(), []string{page})
		assert.True(t, typed(t, err).Retryable)
		require.ErrorIs(t, err, model.ErrBadAnswer)
	}
}

func TestOpenAI_refuses_a_blank_text_before_sending(t *testing.T) {
	t.Parallel()
	_, err := client(t, func(http.ResponseWriter, request) { t.Error("sent") }).
		Embed(context.Background(), []string{"a", " \n"})
	require.ErrorIs(t, err, model.ErrBadRequest)
	assert.False(t, typed(t, err).Retryable)
}

func TestOpenAI_says_so_when_nobody_answers(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, err := embed.NewOpenAI(embed.OpenAIConfig{BaseURL: server.URL}).Embed(context.Background(), []string{page})
	require.ErrorIs(t, err, model.ErrUnreachable)
	e := typed(t, err)
	assert.True(t, e.Retryable)
	assert.Zero(t, e.Status)
}

func TestOpenAI_stops_at_its_timeout_and_at_the_context(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })

	slow := embed.NewOpenAI(embed.OpenAIConfig{BaseURL: server.URL, Timeout: 50 * time.Millisecond})
	_, err := slow.Embed(context.Background(), []string{page})
	require.ErrorIs(t, err, model.ErrUnreachable)
	assert.True(t, typed(t, err).Retryable)

	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	_, err = embed.NewOpenAI(embed.OpenAIConfig{BaseURL: server.URL}).Embed(ctx, []string{page})
	require.ErrorIs(t, err, context.Canceled)
}
