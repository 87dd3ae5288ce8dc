package config

import (
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"
)

// check refuses what a process would stumble over later.
func (c *Config) check() error {
	if err := c.checkDatabase(); err != nil {
		return err
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		return fmt.Errorf("LORESYNC_LISTEN is %q, which is not a host and port, such as 127.0.0.1:8080", c.Listen)
	}
	for _, address := range []struct{ name, value string }{
		{"LORESYNC_PUBLIC_URL", c.PublicURL},
		{"LORESYNC_TEMPORAL_UI_URL", c.TemporalUIURL},
		{"LORESYNC_NOTION_BASE_URL", c.Notion.BaseURL},
		{"LORESYNC_GDRIVE_ENDPOINT", c.GDrive.Endpoint},
		{"LORESYNC_SLACK_API_URL", c.Slack.APIURL},
		{"LORESYNC_OPENAI_BASE_URL", c.OpenAI.BaseURL},
	} {
		if err := checkURL(address.name, address.value); err != nil {
			return err
		}
	}
	if err := c.checkNumbers(); err != nil {
		return err
	}
	return c.checkModels()
}

// checkDatabase never repeats the address, which may hold a password.
func (c *Config) checkDatabase() error {
	const form = "postgres://user:password@host:5432/database" //nolint:gosec // nobody's password
	if c.DatabaseURL == "" {
		return fmt.Errorf("%s is not set, and there is no %s/%s: run `make dev` here, or set it to %s", databaseURL, c.DataDir, EnvFile, form)
	}
	if !strings.Contains(c.DatabaseURL, "://") && strings.Contains(c.DatabaseURL, "=") {
		return nil
	}
	u, err := url.Parse(c.DatabaseURL)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return fmt.Errorf("%s is not the address of a Postgres database: write it as %s", databaseURL, form)
	}
	return nil
}

func checkURL(name, value string) error {
	if value == "" {
		return nil
	}
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%s is not a URL that begins with http:// or https://", name)
	}
	return nil
}

func (c *Config) checkNumbers() error {
	for _, rate := range []struct {
		name  string
		value float64
	}{{"LORESYNC_NOTION_RATE", c.Notion.Rate}, {"LORESYNC_GDRIVE_RATE", c.GDrive.Rate}} {
		// Written so that NaN is refused too.
		if !(rate.value > 0 && rate.value <= 1000) {
			return fmt.Errorf("%s is %v: give requests a second, above 0 and at most 1000", rate.name, rate.value)
		}
	}
	if d := c.OpenAI.EmbeddingDimensions; d < 0 || d > 16000 {
		return fmt.Errorf("LORESYNC_EMBEDDING_DIMENSIONS is %d: give a number from 1 to 16000", d)
	}
	t := c.Timeouts
	for _, timeout := range []struct {
		name  string
		value time.Duration
	}{
		{"LORESYNC_TEMPORAL_TIMEOUT", t.Temporal},
		{"LORESYNC_DATABASE_CONNECT_TIMEOUT", t.DatabaseConnect},
		{"LORESYNC_LOCK_TIMEOUT", t.Lock},
		{"LORESYNC_IDLE_IN_TRANSACTION_TIMEOUT", t.IdleInTransaction},
		{"LORESYNC_MODEL_TIMEOUT", t.Model},
		{"LORESYNC_CANCEL_LADDER", t.Ladder},
		{"LORESYNC_ABANDONED_AFTER", t.Abandoned},
		{"LORESYNC_ASK_AGAIN_AFTER", t.AskAgain},
		{"LORESYNC_UNDO_WINDOW", t.Undo},
	} {
		// Postgres counts in milliseconds, and takes 0 as 'for ever'.
		if timeout.value < time.Millisecond {
			return fmt.Errorf("%s is %s: give a time above zero, such as 5s", timeout.name, timeout.value)
		}
	}
	return nil
}

// checkModels refuses a model without an endpoint: the built-in one would be used in silence.
func (c *Config) checkModels() error {
	for _, model := range []struct{ name, value string }{
		{"LORESYNC_EMBEDDING_MODEL", c.OpenAI.EmbeddingModel},
		{"LORESYNC_SUMMARY_MODEL", c.OpenAI.SummaryModel},
	} {
		if model.value != "" && !c.OpenAI.reachable() {
			return fmt.Errorf("%s is set, but LORESYNC_OPENAI_BASE_URL is not: name the endpoint that has the model", model.name)
		}
	}
	return nil
}

// reachable tells whether the settings name an endpoint: by its address, or by a key for OpenAI's own.
func (o OpenAI) reachable() bool { return o.BaseURL != "" || o.APIKey != "" }
