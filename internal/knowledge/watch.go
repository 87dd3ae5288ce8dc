package knowledge

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// WatchedFolder is an active folder whose checkpoint says which change logs it needs.
type WatchedFolder struct {
	FolderID, Source, Connection string
	Checkpoint                   string
}

// WatchClaim is the wish to open a channel on a change log of a connection.
type WatchClaim struct {
	Connection, Log string
	// ChannelID is new, a UUID; it names the claim too.
	ChannelID string
	// TokenHash is the SHA-256 of the channel's token.
	TokenHash []byte
	Address   string
	// Life is asked for; Lasting is how long the others leave the log alone meanwhile.
	Life, Lasting time.Duration
}

// WatchFailure is what went wrong with opening a channel.
type WatchFailure struct {
	ChannelID string
	// Sentence is for people. It holds nothing of what the source said.
	Sentence string
	// Refused says that the source surely opened nothing.
	Refused bool
	// RetryAfter is the source's own wish; zero without one.
	RetryAfter time.Duration
}

// IdleChannel is a channel that is to be stopped.
type IdleChannel struct {
	ChannelID, Connection, Source, ResourceID string
}

// WatchChannel is what is known of the channel that a call names.
type WatchChannel struct {
	ChannelID, Connection, Source, Log string
	// TokenHash is the SHA-256 of the token that proves a call.
	TokenHash []byte
	// ResourceID is empty until the source has told it.
	ResourceID string
	// Expired is set when the source should have closed it by itself.
	Expired bool
	// Now is the database's time.
	Now time.Time
}

// Watch is how far a change log of a connection is watched, for people.
type Watch struct {
	Log string `json:"log"`
	// State is opening, waiting (open, but no call has come yet), active, failed or expired.
	State string `json:"state"`
	// Address is where the source calls.
	Address string `json:"address"`
	// OpenedAt and ExpiresAt are the channel's; RenewAt is when the next one takes its place.
	OpenedAt  *time.Time `json:"opened_at"`
	RenewAt   *time.Time `json:"renew_at"`
	ExpiresAt *time.Time `json:"expires_at"`
	// ConfirmedAt is the source's first call of the channel, HeardAt the last call of any channel of the log.
	ConfirmedAt *time.Time `json:"confirmed_at"`
	HeardAt     *time.Time `json:"last_message_at"`
	// Failures counts since opening last worked.
	Failures  int        `json:"failures"`
	FailedAt  *time.Time `json:"failed_at"`
	Sentence  string     `json:"sentence"`
	NextTryAt *time.Time `json:"next_try_at"`
}

// LogTarget is a folder that may need the log of a notice.
type LogTarget struct {
	WatchedFolder
	// At is the database's time of the look.
	At time.Time
	// Listed is set when a listing of the folder began since the moment that was asked about, Listing while one is under way, and
	// Asked when one began that a call had asked for seconds ago.
	Listed, Listing, Asked bool
}

// LogWindow is how long calls of one log gather: they meet at one event, which is followed when its window is over.
const LogWindow = time.Second

// LogNotice is the notice of a call: something in a log has changed. All calls within one window are the same event. Whoever
// follows it looks at the log no sooner than a whole window after it began to follow, so after each of these calls.
func LogNotice(log string, now time.Time) Notice {
	return Notice{
		EventID: fmt.Sprintf("%s-%d", log, now.UnixNano()/int64(LogWindow)), Type: "log_changed", Kind: NoticeLogChanged, SourceID: log,
	}
}

// NoAddress is why a source can't call the gateway; the zero value means that it can.
type NoAddress string

// The reasons.
const (
	AddressUnset    NoAddress = "unset"
	AddressInsecure NoAddress = "insecure"
)

// WatchAddress is where a source is to call for a connection. Sources call only https addresses; on this machine, where stand-ins
// run, http will do.
func WatchAddress(public, connection string) (string, NoAddress) {
	if public == "" {
		return "", AddressUnset
	}
	u, err := url.Parse(public)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return "", AddressInsecure
	}
	return u.Scheme + "://" + u.Host + strings.TrimRight(u.EscapedPath(), "/") + "/webhooks/drive/" + connection, ""
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
