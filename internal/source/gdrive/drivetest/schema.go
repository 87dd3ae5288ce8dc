package drivetest

import (
	"reflect"
	"strings"

	"google.golang.org/api/drive/v3"
)

// answers are what the endpoints answer with. The client's types name the fields that exist, so that a mask can be checked.
var answers = map[Kind]any{
	KindAbout: drive.About{}, KindList: drive.FileList{}, KindGet: drive.File{}, KindPermissions: drive.PermissionList{},
	KindDrives: drive.DriveList{}, KindDrive: drive.Drive{}, KindStartToken: drive.StartPageToken{}, KindChanges: drive.ChangeList{},
	KindWatch: drive.Channel{},
}

// fieldOf gives the type of a field of an answer; false for one that it hasn't. What is below a list belongs to its items.
func fieldOf(t reflect.Type, name string) (reflect.Type, bool) {
	switch t = bare(t); t.Kind() {
	case reflect.Map:
		return t.Elem(), true
	case reflect.Struct:
		for field := range t.Fields() {
			if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag == name && tag != "-" {
				return field.Type, true
			}
		}
	default:
	}
	return nil, false
}

// bare takes pointers and lists off a type.
func bare(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	return t
}
