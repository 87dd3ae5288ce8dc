package drivetest

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// apiError is an error in the form that Drive's errors have.
type apiError struct {
	status                  int
	domain, reason, message string
	header                  http.Header
}

// Error is the reason and the message.
func (e *apiError) Error() string { return e.reason + ": " + e.message }

// object is the error's body.
func (e *apiError) object() Object {
	domain := e.domain
	if domain == "" {
		domain = "global"
	}
	return Object{"error": Object{
		"code": e.status, "message": e.message,
		"errors": []any{Object{"domain": domain, "reason": e.reason, "message": e.message}},
	}}
}

// Reason is Drive's word for why a request was refused.
type Reason string

// The reasons that can be had on demand. Of those with 403 some pass, some are for one file, and some for all.
const (
	UserRateLimit       Reason = "userRateLimitExceeded"
	RateLimitExceeded   Reason = "rateLimitExceeded"
	SharingRateLimit    Reason = "sharingRateLimitExceeded"
	DailyLimit          Reason = "dailyLimitExceeded"
	DownloadQuota       Reason = "downloadQuotaExceeded"
	InsufficientFile    Reason = "insufficientFilePermissions"
	AppNotAuthorized    Reason = "appNotAuthorizedToFile"
	DomainPolicy        Reason = "domainPolicy"
	CannotExport        Reason = "cannotExportFile"
	CannotDownload      Reason = "cannotDownloadFile"
	Abusive             Reason = "cannotDownloadAbusiveFile"
	NotDownloadable     Reason = "fileNotDownloadable"
	NotExportable       Reason = "fileNotExportable"
	ExportTooLarge      Reason = "exportSizeLimitExceeded"
	BackendError        Reason = "backendError"
	AuthError           Reason = "authError"
	NotFound            Reason = "notFound"
	Invalid             Reason = "invalid"
	InsufficientScope   Reason = "insufficientPermissions"
	ChannelIDNotUnique  Reason = "channelIdNotUnique"
	TeamDriveMembership Reason = "teamDriveMembershipRequired"
)

// messages are what Drive says with each reason. A %s is the file's id.
var messages = map[Reason]struct {
	status  int
	message string
}{
	UserRateLimit:     {http.StatusForbidden, "User Rate Limit Exceeded"},
	RateLimitExceeded: {http.StatusForbidden, "Rate Limit Exceeded"},
	SharingRateLimit: {
		http.StatusForbidden, `Rate limit exceeded. User message: "Sorry, you have exceeded your sharing quota."`,
	},
	DailyLimit:       {http.StatusForbidden, "Daily Limit Exceeded"},
	DownloadQuota:    {http.StatusForbidden, "The download quota for this file has been exceeded."},
	InsufficientFile: {http.StatusForbidden, "The user does not have sufficient permissions for file %s."},
	AppNotAuthorized: {http.StatusForbidden, "The user has not granted the app 123 read access to the file %s."},
	DomainPolicy:     {http.StatusForbidden, "The domain administrators have disabled Drive apps."},
	CannotExport:     {http.StatusForbidden, "This file cannot be exported by the user."},
	CannotDownload:   {http.StatusForbidden, "This file cannot be downloaded by the user."},
	Abusive: {
		http.StatusForbidden, "This file has been identified as malware or spam and cannot be downloaded.",
	},
	NotDownloadable: {
		http.StatusForbidden, "Only files with binary content can be downloaded. Use Export with Docs Editors files.",
	},
	NotExportable:       {http.StatusForbidden, "Export only supports Docs Editors files."},
	ExportTooLarge:      {http.StatusForbidden, "This file is too large to be exported."},
	BackendError:        {http.StatusInternalServerError, "Backend Error"},
	AuthError:           {http.StatusUnauthorized, "Invalid Credentials"},
	NotFound:            {http.StatusNotFound, "File not found: %s."},
	Invalid:             {http.StatusBadRequest, "Invalid Value"},
	InsufficientScope:   {http.StatusForbidden, "Request had insufficient authentication scopes."},
	TeamDriveMembership: {http.StatusForbidden, "The attempted action requires shared drive membership."},
}

// refusal is the error of a reason, about a file.
func refusal(reason Reason, id string) *apiError {
	known, ok := messages[reason]
	if !ok {
		known.status, known.message = http.StatusForbidden, string(reason)
	}
	e := &apiError{status: known.status, reason: string(reason), message: known.message}
	switch reason {
	case InsufficientFile, AppNotAuthorized, NotFound:
		e.message = fmt.Sprintf(known.message, id)
	case UserRateLimit, RateLimitExceeded, DailyLimit:
		e.domain = "usageLimits"
	default:
	}
	return e
}

// invalid is the refusal of a parameter, with Drive's usual message for an empty format.
func invalid(format string, args ...any) error {
	if format == "" {
		return refusal(Invalid, "")
	}
	return &apiError{status: http.StatusBadRequest, reason: string(Invalid), message: fmt.Sprintf(format, args...)}
}

// notFound is the one answer for what is gone and for what isn't shared.
func notFound(id string) error { return refusal(NotFound, id) }

// driveNotFound is that for shared drives.
func driveNotFound(id string) error {
	return &apiError{status: http.StatusNotFound, reason: string(NotFound), message: "Shared drive not found: " + id}
}

// tooMany is a 429.
func tooMany(wait time.Duration) *apiError {
	e := refusal(RateLimitExceeded, "")
	e.status, e.header = http.StatusTooManyRequests, http.Header{}
	if wait > 0 {
		e.header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	}
	return e
}
