package drivetest

import (
	"path"
	"strconv"
	"strings"
)

// fileFields build the fields of a file as a user sees it. A field whose value is nil isn't there.
var fileFields = map[string]func(*view, *item) any{
	"kind":        func(*view, *item) any { return "drive#file" },
	"id":          func(_ *view, it *item) any { return it.id },
	"name":        func(_ *view, it *item) any { return it.shownName() },
	"mimeType":    func(_ *view, it *item) any { return it.mime },
	"description": func(_ *view, it *item) any { return unlessEmpty(it.description) },
	"driveId":     func(_ *view, it *item) any { return unlessEmpty(it.drive) },
	"teamDriveId": func(_ *view, it *item) any { return unlessEmpty(it.drive) },
	"resourceKey": func(_ *view, it *item) any { return unlessEmpty(it.resourceKey) },
	"starred":     func(*view, *item) any { return false },
	"spaces":      func(*view, *item) any { return []any{"drive"} },
	"parents":     (*view).parents,
	"version":     func(_ *view, it *item) any { return strconv.FormatInt(it.version, 10) },

	"trashed":           func(v *view, it *item) any { return v.s.isTrashed(it) },
	"explicitlyTrashed": func(_ *view, it *item) any { return !it.trashedAt.IsZero() },
	"trashedTime":       (*view).trashedTime,
	"trashingUser":      (*view).trashingUser,

	"createdTime":       func(_ *view, it *item) any { return stamp(it.created) },
	"modifiedTime":      func(_ *view, it *item) any { return stamp(it.modified) },
	"modifiedByMe":      func(v *view, it *item) any { return it.editor == v.email },
	"modifiedByMeTime":  func(v *view, it *item) any { return onlyIf(it.editor == v.email, stamp(it.modified)) },
	"viewedByMe":        func(*view, *item) any { return false },
	"sharedWithMeTime":  (*view).sharedWithMeTime,
	"lastModifyingUser": func(v *view, it *item) any { return v.s.person(it.editor, v.email) },

	"owners":            (*view).owners,
	"ownedByMe":         func(v *view, it *item) any { return onlyIf(it.drive == "", it.owner == v.email) },
	"shared":            func(v *view, it *item) any { return onlyIf(it.drive == "", len(v.s.grants(it)) > 1) },
	"writersCanShare":   func(_ *view, it *item) any { return onlyIf(it.drive == "", true) },
	"permissions":       (*view).permissions,
	"permissionIds":     (*view).permissionIDs,
	"capabilities":      (*view).capabilities,
	"sharingUser":       (*view).sharingUser,
	"isAppAuthorized":   func(*view, *item) any { return true },
	"linkShareMetadata": linkShare,
	"quotaBytesUsed":    quota,
	"hasThumbnail":      func(*view, *item) any { return false },
	"thumbnailVersion":  func(*view, *item) any { return "0" },
	"iconLink": func(_ *view, it *item) any {
		return "https://drive-thirdparty.googleusercontent.com/16/type/" + it.mime
	},
	"webViewLink":       func(_ *view, it *item) any { return webView(it) },
	"webContentLink":    webContent,
	"folderColorRgb":    func(_ *view, it *item) any { return onlyIf(it.isFolder(), "#8f8f8f") },
	"shortcutDetails":   (*view).shortcutDetails,
	"exportLinks":       exportLinks,
	"size":              size,
	"md5Checksum":       ofBlob(func(_ *item, b *blob) any { return b.md5 }),
	"sha1Checksum":      ofBlob(func(_ *item, b *blob) any { return b.sha1 }),
	"sha256Checksum":    ofBlob(func(_ *item, b *blob) any { return b.sha256 }),
	"headRevisionId":    ofBlob(func(it *item, b *blob) any { return idOf(0, it.id+b.sha256, "0B", 52) }),
	"originalFilename":  ofBlob(func(it *item, _ *blob) any { return it.name }),
	"fileExtension":     ofBlob(func(it *item, _ *blob) any { return strings.TrimPrefix(path.Ext(it.name), ".") }),
	"fullFileExtension": ofBlob(func(it *item, _ *blob) any { return strings.TrimPrefix(path.Ext(it.name), ".") }),
	"copyRequiresWriterPermission": func(_ *view, it *item) any {
		return it.locked
	},
	"viewersCanCopyContent":   func(_ *view, it *item) any { return !it.locked },
	"hasAugmentedPermissions": func(_ *view, it *item) any { return onlyIf(it.drive != "", len(it.permissions) > 0) },
}

// file gives what was asked for of a file.
func (v *view) file(it *item, m *mask) Object {
	o := Object{}
	for name, build := range fileFields {
		if below := m.sub(name); below != nil {
			if value := build(v, it); value != nil {
				o[name] = below.prune(value)
			}
		}
	}
	return o
}

// shownName is what a file is called. The top of a shared drive isn't called as the drive is: drives.get tells that.
func (i *item) shownName() string {
	if i.isDrive {
		return "Drive"
	}
	return i.name
}

// unlessEmpty is nil for an empty text.
func unlessEmpty(s string) any { return onlyIf(s != "", s) }

// onlyIf gives a value, or nil.
func onlyIf(holds bool, value any) any {
	if holds {
		return value
	}
	return nil
}

// parents are only those that the user sees: what was shared alone has none.
func (v *view) parents(it *item) any {
	var seen []any
	for _, id := range it.parents {
		if p := v.s.items[id]; p != nil && v.sees(p) {
			seen = append(seen, id)
		}
	}
	if seen == nil {
		return nil
	}
	return seen
}

func (v *view) trashedTime(it *item) any {
	return onlyIf(it.drive != "" && !it.trashedAt.IsZero(), stamp(it.trashedAt))
}

func (v *view) trashingUser(it *item) any {
	return onlyIf(it.drive != "" && it.trasher != "", v.s.person(it.trasher, v.email))
}

func (v *view) owners(it *item) any {
	return onlyIf(it.owner != "", []any{v.s.person(it.owner, v.email)})
}

func (v *view) sharedWithMeTime(it *item) any {
	return onlyIf(v.isSharedWith(it), stamp(it.sharedAt[v.email]))
}

func (v *view) sharingUser(it *item) any {
	return onlyIf(v.isSharedWith(it), v.s.person(it.owner, v.email))
}

func (v *view) shortcutDetails(it *item) any {
	if it.mime != MimeShortcut {
		return nil
	}
	o := Object{"targetId": it.target, "targetMimeType": it.targetMime}
	if to := v.s.items[it.target]; to != nil && to.resourceKey != "" {
		o["targetResourceKey"] = to.resourceKey
	}
	return o
}

func linkShare(_ *view, it *item) any {
	return Object{"securityUpdateEligible": it.resourceKey != "", "securityUpdateEnabled": it.resourceKey != ""}
}

// size is also that of Google's own types, whose bytes can't be downloaded.
func size(_ *view, it *item) any {
	if it.content == nil {
		return nil
	}
	return strconv.Itoa(it.content.size())
}

func quota(v *view, it *item) any {
	if n := size(v, it); n != nil {
		return n
	}
	return "0"
}

func ofBlob(field func(*item, *blob) any) func(*view, *item) any {
	return func(_ *view, it *item) any {
		if b, ok := it.content.(*blob); ok {
			return field(it, b)
		}
		return nil
	}
}

func webContent(_ *view, it *item) any {
	_, ok := it.content.(*blob)
	return onlyIf(ok, "https://drive.google.com/uc?id="+it.id+"&export=download")
}

// webView is where people open a file.
func webView(it *item) string {
	switch {
	case it.isFolder():
		return "https://drive.google.com/drive/folders/" + it.id
	case editors[it.mime] != "":
		return "https://docs.google.com/" + editors[it.mime] + "/d/" + it.id + "/edit?usp=drivesdk"
	}
	return "https://drive.google.com/file/d/" + it.id + "/view?usp=drivesdk"
}

// editors are the paths of the editors by the types of their files.
var editors = map[string]string{
	MimeDoc: "document", MimeSheet: "spreadsheets", MimeSlides: "presentation", MimeDrawing: "drawings", MimeForm: "forms",
}
