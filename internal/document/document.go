// Package document writes what commands and the HTTP API answer as JSON, so that both answer the same.
package document

import (
	"reflect"
	"time"
)

// Normal copies v so that its JSON keeps the contract whatever it came from: times in UTC, absent lists as [].
func Normal(v any) any {
	if v == nil {
		return nil
	}
	return copyOf(reflect.ValueOf(v)).Interface()
}

func copyOf(v reflect.Value) reflect.Value {
	if at, ok := reflect.TypeAssert[time.Time](v); ok {
		return reflect.ValueOf(at.UTC())
	}
	switch v.Kind() {
	case reflect.Pointer:
		return copyOfPointer(v)
	case reflect.Struct:
		return copyOfStruct(v)
	case reflect.Slice:
		return copyOfSlice(v)
	case reflect.Map:
		return copyOfMap(v)
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return copyOf(v.Elem())
	default:
		return v
	}
}

func copyOfPointer(v reflect.Value) reflect.Value {
	if v.IsNil() {
		return v
	}
	copied := reflect.New(v.Type().Elem())
	copied.Elem().Set(copyOf(v.Elem()))
	return copied
}

func copyOfStruct(v reflect.Value) reflect.Value {
	copied := reflect.New(v.Type()).Elem()
	copied.Set(v)
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			copied.Field(i).Set(copyOf(v.Field(i)))
		}
	}
	return copied
}

func copyOfSlice(v reflect.Value) reflect.Value {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return v // bytes and raw JSON: absent is null there
	}
	copied := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	for i := range v.Len() {
		copied.Index(i).Set(copyOf(v.Index(i)))
	}
	return copied
}

func copyOfMap(v reflect.Value) reflect.Value {
	if v.IsNil() {
		return v
	}
	copied := reflect.MakeMapWithSize(v.Type(), v.Len())
	for entries := v.MapRange(); entries.Next(); {
		copied.SetMapIndex(entries.Key(), copyOf(entries.Value()))
	}
	return copied
}
