package notiontest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// signer makes the signed URLs of one answer. They lead to the host that was asked, and differ at every read.
func (s *Server) signer(r *http.Request) func(upload) (address, expiry string) {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return func(u upload) (string, string) {
		until := s.w.clock.Now().Add(s.options.FileLife)
		expires, nonce := strconv.FormatInt(until.Unix(), 10), strconv.FormatUint(s.signed.Add(1), 10)
		query := url.Values{
			"X-Amz-Expires": {expires}, "X-Amz-Credential": {nonce}, "X-Amz-Signature": {s.signature(u.id, expires, nonce)},
		}
		address := fmt.Sprintf("%s://%s/files/%s/%s?%s", scheme, r.Host, u.id, url.PathEscape(u.name), query.Encode())
		return address, until.Format("2006-01-02T15:04:05.000Z")
	}
}

func (s *Server) signature(file, expires, nonce string) string {
	mac := hmac.New(sha256.New, s.secret)
	_, _ = fmt.Fprintf(mac, "%s\n%s\n%s", file, expires, nonce)
	return hex.EncodeToString(mac.Sum(nil))
}

// serveFile gives a file to whoever has a URL that was signed and hasn't expired, as the storage behind Notion does: without a
// token, and with its refusals in XML.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request, segments segments) {
	s.w.mu.RLock()
	u, known := s.w.files[segments.id()]
	s.w.mu.RUnlock()
	query := r.URL.Query()
	want := s.signature(segments.id(), query.Get("X-Amz-Expires"), query.Get("X-Amz-Credential"))
	seconds, err := strconv.ParseInt(query.Get("X-Amz-Expires"), 10, 64)
	switch {
	case !hmac.Equal([]byte(want), []byte(query.Get("X-Amz-Signature"))):
		refuseFile(w, http.StatusForbidden, "SignatureDoesNotMatch")
	case err != nil || !s.w.clock.Now().Before(time.Unix(seconds, 0)):
		refuseFile(w, http.StatusForbidden, "AccessDenied")
	case !known:
		refuseFile(w, http.StatusNotFound, "NoSuchKey")
	default:
		w.Header().Set("Content-Type", u.contentType)
		w.Header().Set("Content-Length", strconv.Itoa(len(u.data)))
		_, _ = w.Write(u.data)
	}
}

func refuseFile(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>%s</Code></Error>\n", code)
}
