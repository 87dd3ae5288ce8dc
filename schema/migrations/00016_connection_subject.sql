-- +goose Up

-- As whom a service account with domain-wide delegation reads; empty for the account itself. A name, no secret.
ALTER TABLE connections ADD COLUMN subject text NOT NULL DEFAULT '' CONSTRAINT connections_subject_short CHECK (length(subject) <= 320);
