// Package config reads the settings of every loresync process, and wires what those settings describe: the store, Temporal's
// client, the sources and the models. It is the only place that looks at the environment.
package config

import (
	"time"

	"go.temporal.io/sdk/client"
)

// Config is all settings. Each is an environment variable of the name in its tag; an empty variable counts as unset.
// Where LORESYNC_DATABASE_URL is not set, the file env in DataDir, which `make dev` writes, is read too.
type Config struct {
	// DatabaseURL is the Postgres to use; there is no default.
	DatabaseURL string `env:"LORESYNC_DATABASE_URL"`
	// DataDir is where `make dev` keeps its data, and the file env with it.
	DataDir string `env:"LORESYNC_DATA_DIR" envDefault:".loresync"`
	// Listen is the gateway's address.
	Listen string `env:"LORESYNC_LISTEN" envDefault:"127.0.0.1:8080"`
	// PublicURL is the gateway's address as people and vendors see it; empty means http:// and Listen.
	PublicURL string `env:"LORESYNC_PUBLIC_URL"`
	// SecretKey encrypts the tokens of connections that people authorize: 32 bytes in base64, the same for all processes.
	SecretKey string `env:"LORESYNC_SECRET_KEY"`
	// AdminToken is a bearer token of role admin for the API while it is set.
	AdminToken string `env:"LORESYNC_ADMIN_TOKEN"`
	// TemporalUIURL is Temporal's UI, which the status page links to; empty means no links.
	TemporalUIURL string `env:"LORESYNC_TEMPORAL_UI_URL"`

	Notion   Notion
	GDrive   GDrive
	Slack    Slack
	OpenAI   OpenAI
	Timeouts Timeouts

	// Temporal is made of TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and what else the SDK's envconfig knows: TLS, API key,
	// profile, configuration file.
	Temporal client.Options
}

// Notion is the default connection notion.
type Notion struct {
	// Token is the secret of an integration.
	Token string `env:"LORESYNC_NOTION_TOKEN"`
	// BaseURL is without /v1.
	BaseURL string `env:"LORESYNC_NOTION_BASE_URL" envDefault:"https://api.notion.com"`
	// Rate is requests a second, shared by all processes. Notion's own bound is an average of three.
	Rate float64 `env:"LORESYNC_NOTION_RATE" envDefault:"2.85"`
	// WebhookSecret signs Notion's webhooks.
	WebhookSecret string `env:"LORESYNC_NOTION_WEBHOOK_SECRET"`
	// OAuthClientID and OAuthClientSecret are those of the public integration that people authorize connections for.
	OAuthClientID     string `env:"LORESYNC_NOTION_OAUTH_CLIENT_ID"`
	OAuthClientSecret string `env:"LORESYNC_NOTION_OAUTH_CLIENT_SECRET"`
}

// GDrive is the default connection gdrive.
type GDrive struct {
	// CredentialsFile is the key file of a service account.
	CredentialsFile string `env:"LORESYNC_GDRIVE_CREDENTIALS_FILE"`
	// Subject is the user that the service account acts for.
	Subject string `env:"LORESYNC_GDRIVE_SUBJECT"`
	// Endpoint is with /drive/v3/.
	Endpoint string `env:"LORESYNC_GDRIVE_ENDPOINT" envDefault:"https://www.googleapis.com/drive/v3/"`
	// Rate is requests a second, shared by all processes; a user's quota is 12,000 a minute.
	Rate float64 `env:"LORESYNC_GDRIVE_RATE" envDefault:"50"`
}

// Slack is the Slack app.
type Slack struct {
	SigningSecret string `env:"LORESYNC_SLACK_SIGNING_SECRET"`
	BotToken      string `env:"LORESYNC_SLACK_BOT_TOKEN"`
	// APIURL is with /api/.
	APIURL string `env:"LORESYNC_SLACK_API_URL" envDefault:"https://slack.com/api/"`
	// AlertChannel gets the alerts that need a person.
	AlertChannel string `env:"LORESYNC_SLACK_ALERT_CHANNEL"`
}

// OpenAI is any OpenAI-compatible endpoint. Without one, or without a model, the built-in embedding and summary are used.
type OpenAI struct {
	// BaseURL is with /v1. With an API key alone it is OpenAI's own.
	BaseURL string `env:"LORESYNC_OPENAI_BASE_URL"`
	// APIKey may be empty for a local server.
	APIKey string `env:"LORESYNC_OPENAI_API_KEY"`
	// EmbeddingModel embeds chunks and questions.
	EmbeddingModel string `env:"LORESYNC_EMBEDDING_MODEL"`
	// EmbeddingDimensions is asked for and checked; 0 asks for nothing and expects 1536.
	EmbeddingDimensions int `env:"LORESYNC_EMBEDDING_DIMENSIONS"`
	// SummaryModel writes summaries.
	SummaryModel string `env:"LORESYNC_SUMMARY_MODEL"`
}

// Timeouts is every time after which something is given up, retried or cleaned away. The defaults are meant for production;
// tests and storms shorten them.
type Timeouts struct {
	// Temporal bounds one call of Temporal, so that a caller has an answer within 5 seconds.
	Temporal time.Duration `env:"LORESYNC_TEMPORAL_TIMEOUT" envDefault:"3s"`
	// DatabaseConnect bounds a new connection to Postgres, for the same reason.
	DatabaseConnect time.Duration `env:"LORESYNC_DATABASE_CONNECT_TIMEOUT" envDefault:"4s"`
	// Lock is how long a statement waits for a lock before it is tried again.
	Lock time.Duration `env:"LORESYNC_LOCK_TIMEOUT" envDefault:"3s"`
	// IdleInTransaction is how long a stopped process can hold a lock.
	IdleInTransaction time.Duration `env:"LORESYNC_IDLE_IN_TRANSACTION_TIMEOUT" envDefault:"5s"`
	// Model bounds one request to a model.
	Model time.Duration `env:"LORESYNC_MODEL_TIMEOUT" envDefault:"60s"`
	// Ladder is how long a cancelled workflow may take before it is terminated.
	Ladder time.Duration `env:"LORESYNC_CANCEL_LADDER" envDefault:"1m"`
	// Abandoned is how long an in-flight row may be without a running workflow before the janitor drops it.
	Abandoned time.Duration `env:"LORESYNC_ABANDONED_AFTER" envDefault:"2m"`
	// AskAgain is how long a requested page sync may be silent before its workflow is looked at.
	AskAgain time.Duration `env:"LORESYNC_ASK_AGAIN_AFTER" envDefault:"3s"`
	// Undo is how long a delete or a removal can be undone.
	Undo time.Duration `env:"LORESYNC_UNDO_WINDOW" envDefault:"168h"`
}
