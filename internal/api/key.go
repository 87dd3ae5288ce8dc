package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/loresync/loresync/internal/knowledge"
)

const (
	keyHeader = "Idempotency-Key"
	maxKey    = 255
	// keyPatience bounds what is written after a request was carried out, whatever became of its caller.
	keyPatience = 5 * time.Second
)

// once carries a request out once, however often it comes under one Idempotency-Key, and at whichever gateway. Its answer is kept
// for a day. One that changed nothing (an error) isn't kept, and its repetition is tried again.
func (a *API) once(do handlerFunc) handlerFunc {
	return func(c *call) (reply, error) {
		key, given, err := keyOf(c)
		if err != nil || !given {
			return first(err, do, c)
		}
		kept, claimed, err := a.options.Control.ClaimKey(c.r.Context(), key)
		switch {
		case err != nil:
			return reply{}, err
		case !claimed:
			return repeat(kept, key)
		}
		return a.carryOut(c, key, do)
	}
}

func first(err error, do handlerFunc, c *call) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	return do(c)
}

// carryOut keeps the answer before it is sent. The caller may have gone away meanwhile: it is the one who will repeat.
func (a *API) carryOut(c *call, key knowledge.IdempotencyKey, do handlerFunc) (reply, error) {
	answer, err := do(c)
	if err == nil {
		err = answer.fill()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.r.Context()), keyPatience)
	defer cancel()
	if err != nil {
		if release := a.options.Control.ReleaseKey(ctx, key); release != nil {
			a.options.Log.WarnContext(ctx, "an idempotency key could not be given back; it is free by itself later", "error", release)
		}
		return reply{}, err
	}
	kept := knowledge.KeptAnswer{Status: answer.status, Body: string(answer.raw), Location: answer.location}
	if err := a.options.Control.KeepAnswer(ctx, key, kept); err != nil {
		a.options.Log.WarnContext(ctx, "the answer to an idempotency key could not be kept", "error", err)
	}
	return answer, nil
}

func repeat(kept knowledge.KeptAnswer, key knowledge.IdempotencyKey) (reply, error) {
	switch {
	case kept.Fingerprint != key.Fingerprint:
		return reply{}, &Problem{
			Status: http.StatusUnprocessableEntity, Code: "idempotency_key_reused",
			Detail: "This " + keyHeader + " came with another request before: use a new one for each.",
		}
	case kept.Status == 0:
		return reply{}, &Problem{
			Status: http.StatusConflict, Code: "idempotency_key_in_use", Wait: time.Second,
			Detail: "The same request is being carried out: ask again for its answer.",
		}
	}
	return reply{status: kept.Status, raw: []byte(kept.Body), mediaType: jsonType, location: kept.Location, replayed: true}, nil
}

// keyOf reads the key of a request; false when it has none. Keys belong to who sends them.
func keyOf(c *call) (knowledge.IdempotencyKey, bool, error) {
	given := c.r.Header.Values(keyHeader)
	if len(given) == 0 {
		return knowledge.IdempotencyKey{}, false, nil
	}
	unprintable := func(r rune) bool { return r <= ' ' || r > '~' }
	if len(given) > 1 || given[0] == "" || len(given[0]) > maxKey || strings.ContainsFunc(given[0], unprintable) {
		return knowledge.IdempotencyKey{}, false, badInput("idempotency_key",
			fmt.Sprintf("The %s has to be one word of 1 to %d printable ASCII characters, such as a UUID.", keyHeader, maxKey))
	}
	scope := "api:" + c.who.TokenID
	return knowledge.IdempotencyKey{Scope: scope, Key: given[0], Claim: uuid.NewString(), Fingerprint: fingerprint(c)}, true, nil
}

func fingerprint(c *call) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%s %s?%s\n", c.r.Method, c.r.URL.EscapedPath(), c.query.Encode())
	hash.Write(c.body)
	return hex.EncodeToString(hash.Sum(nil))
}
