package gdrive

import (
	"time"

	"github.com/loresync/loresync/internal/source"
)

// The classes of skipped pages that are Drive's own; the others are shared by all sources.
const (
	skipNoDownload = "no_download"
	skipForbidden  = "forbidden"
	skipAbusive    = "abusive"
	skipShortcut   = "shortcut"
	skipTooLarge   = "too_large"
	skipUnreadable = "unreadable"
	skipUnknown    = "unsupported"
)

const (
	sayAway      = "Google Drive could not be reached or answered with an error of its own: it is tried again"
	sayBroken    = "Google Drive's answer broke off before its end: it is read again"
	sayLimited   = "Google Drive asks to slow down: it is tried again later"
	sayQuota     = "Google's download quota of this file is used up for today: it is tried again later"
	sayNotFound  = "Google Drive doesn't show it to this connection: share it with the connection's account, or it was deleted"
	sayForeign   = "Google Drive sent the request on to a host that isn't Google's: nothing was sent there; report it"
	sayTrashed   = "it is in Google Drive's trash"
	sayMoved     = "it is no longer below the folder's root in Google Drive"
	sayRootGone  = "the folder's root can't be found in Google Drive, so nothing can be said of its pages: share it again, or set another root"
	sayNoContent = "the connection's account may not download it: allow viewers to download, or make the account an editor"

	sayDailyLimit = "the Google Cloud project's quota for today is used up: the sync goes on by itself after midnight in California"
	sayMismatch   = "what Google Drive sent isn't the whole file: it is read again"
)

// skipReasons are Drive's words for what holds for one file, and for no other.
var skipReasons = map[string]source.Skip{
	"insufficientFilePermissions": {Class: skipForbidden, Sentence: "the connection's account may not read it: share it with the account"},
	"insufficientParentPermissions": {
		Class: skipForbidden, Sentence: "the connection's account may not read the folder that it is in: share that with the account",
	},
	"appNotAuthorizedToFile": {Class: skipForbidden, Sentence: "the app was not given access to it: open it with the app once, or use a service account"},
	"domainPolicy":           {Class: skipForbidden, Sentence: "the administrators of its domain keep apps out: ask them to allow this one"},
	"teamDriveMembershipRequired": {
		Class: skipForbidden, Sentence: "the connection's account is no member of its shared drive: add the account",
	},
	"forbidden":                 {Class: skipForbidden, Sentence: "the connection's account may not read it: share it with the account"},
	"cannotDownload":            {Class: skipNoDownload, Sentence: sayNoContent},
	"cannotDownloadFile":        {Class: skipNoDownload, Sentence: sayNoContent},
	"cannotExportFile":          {Class: skipNoDownload, Sentence: sayNoContent},
	"cannotDownloadAbusiveFile": {Class: skipAbusive, Sentence: "Google says that it is malware or spam, so it isn't read: ask for a review at Google"},
	"fileNotDownloadable":       {Class: skipUnknown, Sentence: "Google Drive gives out no content for files of its kind"},
	"fileNotExportable":         {Class: skipUnknown, Sentence: "Google Drive gives out no text for files of its kind"},
	reasonExportSize:            tooLargeToExport,
}

var tooLargeToExport = source.Skip{
	Class: skipTooLarge, Sentence: "it is too large for Google to export: split it up; it is tried again when it changes",
}

// connectionReasons are Drive's words for what keeps the connection from everything.
var connectionReasons = map[string]bool{
	"authError": true, "accessNotConfigured": true, "SERVICE_DISABLED": true, "insufficientPermissions": true,
	"ACCESS_TOKEN_SCOPE_INSUFFICIENT": true, "UNAUTHENTICATED": true, "keyInvalid": true,
}

// sayUnauthorized tells what is to be mended.
func sayUnauthorized(reason string) string {
	switch reason {
	case "accessNotConfigured", "SERVICE_DISABLED":
		return "the Google Cloud project of these credentials has no Drive API: enable it in the project's console"
	case "insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT":
		return "these credentials lack the scope drive.readonly: authorize the connection again with it"
	}
	return "Google refused the credentials: check that the account still exists and that its key, or the connection's secret, is its own"
}

// sayGrant tells why no access token was given.
func sayGrant(code string) string {
	switch code {
	case "unauthorized_client":
		return "the service account may not act as this user: allow its client id domain-wide delegation with the scope drive.readonly"
	case "invalid_grant":
		return "Google refused the grant: the account or its key was deleted, the user is unknown, or this machine's clock is wrong; renew the key"
	}
	return "Google gave no access token (" + code + "): check the connection's credentials"
}

// sayClock tells that this machine can't sign what Google takes.
func sayClock(off time.Duration) string {
	how := "fast"
	if off < 0 {
		how = "slow"
	}
	return "this machine's clock is " + off.Abs().String() + " " + how + ", so Google takes nothing that its key signs: set the clock"
}
