package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"

	"github.com/loresync/loresync/internal/knowledge"
)

// signatureHeader bears sha256=<hex HMAC-SHA256 of the raw body, keyed with the verification token>.
const signatureHeader = "X-Notion-Signature"

// notionSigned tells whether a body was signed with a secret. The comparison takes as long for every wrong signature. Without a
// secret nothing is signed.
func notionSigned(header string, body []byte, secret string) bool {
	given, found := strings.CutPrefix(header, "sha256=")
	signature, err := hex.DecodeString(given)
	if !found || err != nil || secret == "" {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return hmac.Equal(signature, mac.Sum(nil))
}

// sameSecret compares hashes, in a time that tells nothing about either secret or its length.
func sameSecret(a, b string) bool {
	left, right := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(left[:], right[:]) == 1
}

// The bounds of what is taken from a body.
const (
	minVerification = 8
	maxVerification = 512
	maxNotionID     = 200
	maxNotionType   = 100
)

// notionVerification reads the handshake of a new subscription: a token, which signs all that follows. False for any other body.
func notionVerification(body []byte) (token string, ok bool) {
	var handshake struct {
		Token *string `json:"verification_token"`
	}
	if json.Unmarshal(body, &handshake) != nil || handshake.Token == nil {
		return "", false
	}
	token = *handshake.Token
	if len(token) < minVerification || len(token) > maxVerification {
		return "", false
	}
	for _, r := range token {
		if r <= ' ' || r > '~' {
			return "", false
		}
	}
	return token, true
}

// notionEvent is what is read of an event. Whatever else it says is not believed, and not looked at.
type notionEvent struct {
	ID     string    `json:"id"`
	Type   string    `json:"type"`
	Entity notionRef `json:"entity"`
	Data   struct {
		Parent notionRef `json:"parent"`
		PageID string    `json:"page_id"`
	} `json:"data"`
}

type notionRef struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

var (
	errNoEvent  = errors.New("it is no event")
	errNoObject = errors.New("it names no object")
)

// notionNotice reads an event. Its kind is empty when nothing follows from events of its type; an error, with as much of the
// notice as could be read, says that the event makes no sense.
func notionNotice(body []byte) (knowledge.Notice, error) {
	var event notionEvent
	var strange *json.UnmarshalTypeError
	// A part that has another form than expected is left out, and the rest still says where to look.
	if err := json.Unmarshal(body, &event); err != nil && !errors.As(err, &strange) {
		return knowledge.Notice{EventID: cut(event.ID)}, errNoEvent
	}
	notice := knowledge.Notice{EventID: cut(event.ID), Type: cut(event.Type)}
	if event.ID == "" || len(event.ID) > maxNotionID || event.Type == "" || len(event.Type) > maxNotionType {
		return notice, errNoEvent
	}
	notice.Kind = notionKind(event.Type)
	if notice.Kind == "" {
		return notice, nil
	}
	notice.SourceID, notice.ParentSourceID = event.object()
	if notice.SourceID == "" {
		return notice, errNoObject
	}
	return notice, nil
}

// cut keeps what a log may hold of a word that somebody else chose.
func cut(word string) string {
	return strings.ToValidUTF8(word[:min(len(word), maxNotionType)], "")
}

// notionKind says what follows from a type of event. Types that Notion adds later, files and views lead to nothing.
func notionKind(event string) knowledge.NoticeKind {
	object, _, _ := strings.Cut(event, ".")
	what := event[strings.LastIndexByte(event, '.')+1:]
	switch object {
	case "comment":
		switch what {
		case "created", "updated", "deleted":
			return knowledge.NoticeCommented
		}
	case "page", "database", "data_source":
		switch what {
		case "created", "content_updated", "properties_updated", "schema_updated", "moved", "undeleted", "locked", "unlocked", "transcript_deleted":
			return knowledge.NoticeChanged
		case "deleted":
			if object == "data_source" {
				return knowledge.NoticeChanged // its database stays, and shows one less
			}
			return knowledge.NoticeGone
		}
	}
	return ""
}

// object is the page or database that an event is about, and where it hangs. A data source is shown by its database, a comment
// by its page, and a part of a page by the page.
func (e *notionEvent) object() (id, parent string) {
	above := ""
	if e.Data.Parent.Type == "page" || e.Data.Parent.Type == "database" {
		above = notionID(e.Data.Parent.ID)
	}
	switch {
	case strings.HasPrefix(e.Type, "comment."):
		if page := notionID(e.Data.PageID); page != "" {
			return page, ""
		}
		return above, ""
	case strings.HasPrefix(e.Type, "data_source."):
		if above != "" {
			return above, ""
		}
		return notionID(e.Entity.ID), ""
	case e.Entity.Type == "block" && above != "":
		return above, ""
	}
	return notionID(e.Entity.ID), above
}

// notionID gives an id the form in which pages are kept: dashed and in lower case; "" for what is no id.
func notionID(text string) string {
	id := strings.ToLower(strings.ReplaceAll(text, "-", ""))
	if _, err := hex.DecodeString(id); err != nil || len(id) != 32 {
		return ""
	}
	return id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:]
}
