package main

import (
	"crypto/rand"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/loresync/loresync/internal/config"
	"github.com/loresync/loresync/internal/local"
	"github.com/loresync/loresync/internal/service"
)

// The settings that dev decides. Everything else (vendors, models, timeouts) is passed on as it is.
const (
	databaseVariable   = "LORESYNC_DATABASE_URL"
	temporalVariable   = "TEMPORAL_ADDRESS"
	namespaceVariable  = "TEMPORAL_NAMESPACE"
	configFileVariable = "TEMPORAL_CONFIG_FILE"
	listenVariable     = "LORESYNC_LISTEN"
	publicVariable     = "LORESYNC_PUBLIC_URL"
	tokenVariable      = "LORESYNC_ADMIN_TOKEN" //nolint:gosec // the name of a setting
	dataDirVariable    = "LORESYNC_DATA_DIR"
	uiVariable         = "LORESYNC_TEMPORAL_UI_URL"
	notionVariable     = "LORESYNC_NOTION_BASE_URL"
	notionRate         = "LORESYNC_NOTION_RATE"
	notionToken        = "LORESYNC_NOTION_TOKEN"          //nolint:gosec // the name of a setting
	notionSecret       = "LORESYNC_NOTION_WEBHOOK_SECRET" //nolint:gosec // the name of a setting
	driveVariable      = "LORESYNC_GDRIVE_ENDPOINT"
	driveRate          = "LORESYNC_GDRIVE_RATE"
	driveKey           = "LORESYNC_GDRIVE_CREDENTIALS_FILE"
	driveSubject       = "LORESYNC_GDRIVE_SUBJECT"
)

// sandboxRate is requests a second: the stand-ins have no limit, and nobody wants to wait for one.
const sandboxRate = "100"

// lowestFree is below what any system gives out as a free port. Lower ones are the usual ports of servers that a flag once
// named, and stay theirs.
const lowestFree = 10000

// namespace is the one that Temporal's development server always has.
const namespace = "default"

// settings are those that other processes need to join.
type settings map[string]string

// remembered is what the last run in a data directory wrote: its token stays the same, and its ports too where they are free,
// so that an open shell, a bookmark and a scraper find the next run as well.
type remembered settings

// remember reads the settings of the last run; without any there is nothing to remember.
func remember(dir string) remembered {
	values, err := config.ReadEnvFile(filepath.Join(dir, config.EnvFile))
	if err != nil {
		return nil
	}
	return values
}

// port is the port of a setting's address on this machine, while nothing listens there; else 0.
func (r remembered) port(variable string) int {
	address := r[variable]
	if parsed, err := url.Parse(address); err == nil && parsed.Host != "" {
		address = parsed.Host
	}
	host, text, err := net.SplitHostPort(address)
	if err != nil || host != "127.0.0.1" {
		return 0
	}
	port, err := strconv.Atoi(text)
	if err != nil || port < lowestFree || !isFree(port) {
		return 0
	}
	return port
}

func isFree(port int) bool {
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))) //nolint:noctx // answers at once
	if err != nil {
		return false
	}
	return listener.Close() == nil
}

// checkSettings finds a setting that is wrong while nothing has been started yet.
func (d *dev) checkSettings() error {
	d.settings = inherit(os.Environ(), d.options.temporalAddress == "")
	d.settings[databaseVariable] = "postgres://" + net.JoinHostPort("127.0.0.1", "5432") + "/" + databaseName
	if d.options.databaseURL != "" {
		d.settings[databaseVariable] = d.options.databaseURL
	}
	d.settings[dataDirVariable], d.settings[listenVariable], d.settings[publicVariable] = d.dir, "127.0.0.1:0", ""
	if err := d.settings.apply(); err != nil {
		return err
	}
	_, err := service.Settings()
	return err
}

// publishSettings decides all settings, makes them this process's own and its children's, and writes them down for others.
func (d *dev) publishSettings() error {
	listen, err := d.listen()
	if err != nil {
		return err
	}
	d.settings[databaseVariable] = d.servers.databaseURL
	d.settings[temporalVariable] = d.servers.temporalAddress
	d.settings[uiVariable] = d.servers.temporalUI
	d.settings[listenVariable] = listen
	d.settings[publicVariable] = addressOf(listen)
	if d.sandbox != nil {
		if err := d.sandboxSettings(); err != nil {
			return err
		}
	}
	d.settings[tokenVariable] = d.last[tokenVariable]
	if d.settings[tokenVariable] == "" {
		d.settings[tokenVariable] = rand.Text()
	}
	if err := d.settings.apply(); err != nil {
		return err
	}
	if err := config.WriteEnvFile(d.envFile(), d.settings); err != nil {
		return fmt.Errorf("write the settings for other processes: %w", err)
	}
	return nil
}

func (d *dev) envFile() string { return filepath.Join(d.dir, config.EnvFile) }

// listen is the gateway's address: the one that was asked for, the one it had before, or a free one.
func (d *dev) listen() (string, error) {
	if d.options.listen != "" {
		return d.options.listen, nil
	}
	port := d.last.port(listenVariable)
	if port == 0 {
		var err error
		if port, err = local.FreePort(); err != nil {
			return "", fmt.Errorf("choose the gateway's port: %w", err)
		}
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), nil
}

// addressOf is where people on this machine reach what listens there.
func addressOf(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// inherit gives the settings of the environment that hold for whoever joins: without the same models a search would find
// nothing. For our own Temporal, settings that were meant for another one (its TLS, its key, its profile) are emptied, which
// counts as not set. A value of several lines can't be written down and stays with us.
func inherit(environ []string, ownTemporal bool) settings {
	s := settings{}
	for _, line := range environ {
		name, value, _ := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(name, "LORESYNC_TEST_") || value == "" || strings.ContainsAny(value, "\n\r"):
		case strings.HasPrefix(name, "TEMPORAL_") && ownTemporal:
			s[name] = ""
		case strings.HasPrefix(name, "TEMPORAL_"), strings.HasPrefix(name, "LORESYNC_"):
			s[name] = value
		}
	}
	if ownTemporal {
		s[namespaceVariable], s[configFileVariable] = namespace, os.DevNull
	}
	return s
}

// apply makes the settings this process's environment, which its children inherit.
func (s settings) apply() error {
	for name, value := range s {
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
	}
	return nil
}
