package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/caarlos0/env/v11"
	"go.temporal.io/sdk/contrib/envconfig"
)

const (
	databaseURL = "LORESYNC_DATABASE_URL"
	dataDir     = "LORESYNC_DATA_DIR"

	defaultDataDir = ".loresync"
	// EnvFile is the name of the file in the data directory that holds the settings which other processes need to join.
	EnvFile = "env"
)

// Load reads the settings. Its errors are one line that names the setting.
func Load() (Config, error) {
	variables := map[string]string{}
	for _, line := range os.Environ() {
		name, value, _ := strings.Cut(line, "=")
		variables[name] = value
	}
	return load(variables)
}

func load(variables map[string]string) (Config, error) {
	settings, err := withEnvFile(variables)
	if err != nil {
		return Config{}, err
	}
	// A variable that is set to nothing means the default, as people expect of `X= command`.
	maps.DeleteFunc(settings, func(_, value string) bool { return value == "" })
	var c Config
	if err := env.ParseWithOptions(&c, env.Options{Environment: settings}); err != nil {
		return Config{}, nameSetting(err, settings)
	}
	c.Temporal, err = envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{EnvLookup: lookup(settings)})
	if err != nil {
		return Config{}, fmt.Errorf("the TEMPORAL_ settings can't be used: %s", oneLine(err))
	}
	if err := c.check(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// withEnvFile adds what `make dev` wrote, where the environment itself doesn't name a database. The environment wins.
func withEnvFile(variables map[string]string) (map[string]string, error) {
	settings := map[string]string{}
	if variables[databaseURL] == "" {
		dir := variables[dataDir]
		if dir == "" {
			dir = defaultDataDir
		}
		fromFile, err := ReadEnvFile(filepath.Join(dir, EnvFile))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		settings = fromFile
	}
	if settings == nil {
		settings = map[string]string{}
	}
	for name, value := range variables {
		if value != "" {
			settings[name] = value
		}
	}
	return settings, nil
}

// lookup is how Temporal's envconfig sees the same settings.
type lookup map[string]string

// Environ gives all settings as NAME=value.
func (l lookup) Environ() []string {
	lines := make([]string, 0, len(l))
	for name, value := range l {
		lines = append(lines, name+"="+value)
	}
	return lines
}

// LookupEnv gives one setting.
func (l lookup) LookupEnv(name string) (string, bool) {
	value, ok := l[name]
	return value, ok
}

// nameSetting turns what the parser says of a field into a line about the setting.
func nameSetting(err error, settings map[string]string) error {
	var parse env.ParseError
	if !errors.As(err, &parse) {
		return fmt.Errorf("the settings can't be read: %s", oneLine(err))
	}
	name := settingOf(reflect.TypeFor[Config](), parse.Name)
	return fmt.Errorf("%s is %q, which is not a %s", name, settings[name], kindWords(parse.Type))
}

func settingOf(t reflect.Type, field string) string {
	for f := range t.Fields() {
		if name := f.Tag.Get("env"); f.Name == field && name != "" {
			return name
		}
	}
	for f := range t.Fields() {
		if f.Type.Kind() != reflect.Struct || f.Type.PkgPath() != t.PkgPath() {
			continue
		}
		if name := settingOf(f.Type, field); name != "" {
			return name
		}
	}
	return ""
}

func kindWords(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Float64:
		return "number, such as 2.85"
	case reflect.Int64:
		return "time, such as 5s or 2m"
	default:
		return "whole number"
	}
}

// oneLine keeps an error on the single line that people are promised.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
