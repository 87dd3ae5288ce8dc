package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/loresync/loresync/internal/knowledge"
)

const (
	pageUUID     = "153104cd-477e-809d-8dc4-ff2d96ae3090"
	databaseUUID = "15b104cd-477e-80c2-84a9-d9e2dd1ee1a5"
	eventUUID    = "367cba44-b6f3-4c92-81e7-6a2e9659efd4"
)

func signature(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func TestNotionSigned(t *testing.T) {
	t.Parallel()
	body := []byte(`{"id":"e"}`)
	right := signature("secret_a", body)
	for name, c := range map[string]struct {
		header, body, secret string
		want                 bool
	}{
		"the right secret over the raw body":           {right, string(body), "secret_a", true},
		"the digits may be capitals":                   {"sha256=" + strings.ToUpper(right[7:]), string(body), "secret_a", true},
		"another secret":                               {right, string(body), "secret_b", false},
		"a body with one more blank":                   {right, `{"id": "e"}`, "secret_a", false},
		"an empty header":                              {"", string(body), "secret_a", false},
		"no algorithm":                                 {right[7:], string(body), "secret_a", false},
		"another algorithm":                            {"sha1=" + right[7:], string(body), "secret_a", false},
		"half a signature":                             {right[:30], string(body), "secret_a", false},
		"a signature with something behind it":         {right + "00", string(body), "secret_a", false},
		"no hexadecimal":                               {"sha256=" + strings.Repeat("z", 64), string(body), "secret_a", false},
		"an empty signature":                           {"sha256=", string(body), "secret_a", false},
		"no secret, though the signature is made so":   {signature("", body), string(body), "", false},
		"the header twice, as a proxy may join it":     {right + ", " + right, string(body), "secret_a", false},
		"an empty body that was signed":                {signature("secret_a", nil), "", "secret_a", true},
		"a secret with another one behind a zero byte": {signature("secret_a\x00", body), string(body), "secret_a\x01", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, c.want, notionSigned(c.header, []byte(c.body), c.secret))
		})
	}
}

func TestNotionVerification(t *testing.T) {
	t.Parallel()
	token, ok := notionVerification([]byte(`{"verification_token":"secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl"}`))
	require.True(t, ok)
	assert.Equal(t, "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl", token)
	for _, body := range []string{
		"", "null", "[]", `"secret_a"`, "{}", `{"verification_token":null}`, `{"verification_token":""}`, `{"verification_token":"short"}`,
		`{"verification_token":12345678}`, `{"verification_token":"secret with blanks"}`, `{"verification_token":"secret_\u0000zero"}`,
		`{"verification_token":"secret_\n[ERROR] forged line"}`, `{"verification_token":"secret_日本語"}`,
		`{"verification_token":"` + strings.Repeat("s", 513) + `"}`, `{"verification_token":"secret_abcdef"`,
	} {
		_, ok := notionVerification([]byte(body))
		assert.False(t, ok, body)
	}
}

func TestNotionNotice(t *testing.T) {
	t.Parallel()
	event := func(typ, entity, entityType, data string) string {
		return `{"id":"` + eventUUID + `","timestamp":"2026-11-30T12:00:00.000Z","workspace_name":"Secret Ltd","type":"` + typ +
			`","authors":[{"id":"x","type":"person"}],"attempt_number":1,"entity":{"id":"` + entity + `","type":"` + entityType + `"},"data":` + data + `}`
	}
	inPage := `{"parent":{"id":"` + databaseUUID + `","type":"page"},"updated_blocks":[{"id":"b","type":"block"}]}`
	inDatabase := `{"parent":{"id":"` + databaseUUID + `","type":"database","data_source_id":"d"}}`
	inSpace := `{"parent":{"id":"` + databaseUUID + `","type":"space"}}`
	inBlock := `{"parent":{"id":"` + databaseUUID + `","type":"block"}}`
	for name, c := range map[string]struct {
		body         string
		kind         knowledge.NoticeKind
		page, parent string
	}{
		"an edited page in a page": {
			event("page.content_updated", pageUUID, "page", inPage), "changed", pageUUID, databaseUUID,
		},
		"a row that was made": {
			event("page.created", pageUUID, "page", inDatabase), "changed", pageUUID, databaseUUID,
		},
		"a page at the top": {
			event("page.moved", pageUUID, "page", inSpace), "changed", pageUUID, "",
		},
		"a page inside a block": {
			event("page.created", pageUUID, "page", inBlock), "changed", pageUUID, "",
		},
		"properties": {
			event("page.properties_updated", pageUUID, "page", inPage), "changed", pageUUID, databaseUUID,
		},
		"a page that came back": {
			event("page.undeleted", pageUUID, "page", inPage), "changed", pageUUID, databaseUUID,
		},
		"a lock": {
			event("page.locked", pageUUID, "page", inPage), "changed", pageUUID, databaseUUID,
		},
		"the end of a lock": {
			event("page.unlocked", pageUUID, "page", inPage), "changed", pageUUID, databaseUUID,
		},
		"a transcript": {
			event("page.transcription_block.transcript_deleted", pageUUID, "page", inPage), "changed", pageUUID, databaseUUID,
		},
		"a transcript that is named as a block": {
			event("page.transcription_block.transcript_deleted", pageUUID, "block", inPage), "changed", databaseUUID, "",
		},
		"a deleted page": {
			event("page.deleted", pageUUID, "page", inPage), "gone", pageUUID, databaseUUID,
		},
		"a deleted database": {
			event("database.deleted", databaseUUID, "database", inSpace), "gone", databaseUUID, "",
		},
		"a changed schema of old": {
			event("database.schema_updated", databaseUUID, "database", inSpace), "changed", databaseUUID, "",
		},
		"a data source in its database": {
			event("data_source.content_updated", pageUUID, "data_source", inDatabase), "changed", databaseUUID, "",
		},
		"a deleted data source leaves its database": {
			event("data_source.deleted", pageUUID, "data_source", inDatabase), "changed", databaseUUID, "",
		},
		"a data source without a database": {
			event("data_source.moved", pageUUID, "data_source", "{}"), "changed", pageUUID, "",
		},
		"a comment with its page": {
			event("comment.created", eventUUID, "comment", `{"page_id":"`+pageUUID+`","parent":{"id":"`+databaseUUID+`","type":"block"}}`), "commented", pageUUID, "",
		},
		"a comment on a page": {
			event("comment.deleted", eventUUID, "comment", inPage), "commented", databaseUUID, "",
		},
		"an id without dashes and with capitals": {
			event("page.created", strings.ToUpper(strings.ReplaceAll(pageUUID, "-", "")), "page", inSpace), "changed", pageUUID, "",
		},
		"no data at all": {
			event("page.content_updated", pageUUID, "page", "null"), "changed", pageUUID, "",
		},
		"data of another form": {
			event("page.content_updated", pageUUID, "page", `{"parent":"elsewhere"}`), "changed", pageUUID, "",
		},
		"a parent that is no id": {
			event("page.created", pageUUID, "page", `{"parent":{"id":"' OR 1=1","type":"page"}}`), "changed", pageUUID, "",
		},
		"a file upload": {
			event("file_upload.completed", pageUUID, "file_upload", "{}"), "", "", "",
		},
		"a view": {
			event("view.created", pageUUID, "view", "{}"), "", "", "",
		},
		"a type of the future": {
			event("page.dreamt_of", pageUUID, "page", "{}"), "", "", "",
		},
		"a type without a dot": {
			event("page", pageUUID, "page", "{}"), "", "", "",
		},
		"a comment of another kind": {
			event("comment.liked", pageUUID, "comment", "{}"), "", "", "",
		},
		"an event id of another form is still an id": {
			strings.Replace(event("page.created", pageUUID, "page", inSpace), eventUUID, "evt/1 ü", 1), "changed", pageUUID, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			notice, err := notionNotice([]byte(c.body))
			require.NoError(t, err)
			assert.Equal(t, c.kind, notice.Kind)
			assert.Equal(t, [2]string{c.page, c.parent}, [2]string{notice.SourceID, notice.ParentSourceID})
			assert.NotEmpty(t, notice.EventID)
			assert.NotContains(t, fmt.Sprint(notice), "Secret Ltd")
		})
	}
	for name, body := range map[string]string{
		"nothing":                    "",
		"no JSON":                    "id=1&type=page.created",
		"half a JSON":                `{"id":"e","type":"page.created"`,
		"a list":                     `[{"id":"e"}]`,
		"null":                       "null",
		"no id":                      `{"type":"page.created","entity":{"id":"` + pageUUID + `"}}`,
		"no type":                    `{"id":"e"}`,
		"an id that is a number":     `{"id":7,"type":"page.created","entity":{"id":"` + pageUUID + `"}}`,
		"no entity":                  `{"id":"e","type":"page.created"}`,
		"an entity that is no id":    `{"id":"e","type":"page.created","entity":{"id":"../../etc/passwd","type":"page"}}`,
		"a comment without its page": `{"id":"e","type":"comment.created","entity":{"id":"` + pageUUID + `","type":"comment"},"data":{}}`,
		"an id without end":          `{"id":"` + strings.Repeat("e", 5000) + `","type":"page.created","entity":{"id":"` + pageUUID + `"}}`,
		"a type without end":         `{"id":"e","type":"page.` + strings.Repeat("e", 5000) + `","entity":{"id":"` + pageUUID + `"}}`,
		"a well of brackets":         strings.Repeat("[", 100_000),
		"invalid UTF-8":              "\xff\xfe\x00",
	} {
		t.Run("unreadable: "+name, func(t *testing.T) {
			t.Parallel()
			notice, err := notionNotice([]byte(body))
			require.Error(t, err)
			assert.LessOrEqual(t, len(notice.EventID)+len(notice.Type), 2*maxNotionType, "a log stays a log")
			assert.NotContains(t, err.Error(), "passwd")
		})
	}
}

func FuzzNotionNoticeGivesOnlyIDs(f *testing.F) {
	f.Add([]byte(`{"id":"e","type":"page.created","entity":{"id":"` + pageUUID + `"},"data":{"parent":{"id":"` + databaseUUID + `","type":"page"}}}`))
	f.Add([]byte(`{"id":"e","type":"comment.created","data":{"page_id":"` + pageUUID + `"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		notice, err := notionNotice(body)
		if err != nil || notice.Kind == "" {
			return
		}
		for _, id := range []string{notice.SourceID, notice.ParentSourceID} {
			if id != "" && notionID(id) != id || notice.SourceID == "" {
				t.Fatalf("%q became %+v", body, notice)
			}
		}
	})
}
