-- API tokens: who may use the HTTP API, and how far.

-- +goose Up

CREATE TABLE api_tokens (
    token_id     text PRIMARY KEY,
    name         text NOT NULL CONSTRAINT api_tokens_name_given CHECK (name <> ''),
    -- SHA-256 of the secret, which nobody can ask for again: it has 256 random bits, so it needs no salt.
    secret_hash  bytea NOT NULL CONSTRAINT api_tokens_hash_whole CHECK (octet_length(secret_hash) = 32),
    role         text NOT NULL CONSTRAINT api_tokens_role_known CHECK (role IN ('viewer', 'operator', 'admin')),
    -- The only folders it reaches; empty means the whole deployment. No foreign keys: a folder that is purged takes no token along,
    -- and a token for a folder that isn't there yet reaches nothing.
    folders      text[] NOT NULL DEFAULT '{}',
    created_at   timestamptz NOT NULL DEFAULT now(),
    created_by   text NOT NULL,
    -- The last use, to the minute.
    last_used_at timestamptz,
    -- Null means until it is revoked.
    expires_at   timestamptz,
    revoked_at   timestamptz,
    revoked_by   text NOT NULL DEFAULT ''
);
-- Every request finds its token by this.
CREATE UNIQUE INDEX api_tokens_by_secret ON api_tokens (secret_hash);
-- A name means one token at a time, so that people can revoke by it.
CREATE UNIQUE INDEX api_tokens_by_name ON api_tokens (name) WHERE revoked_at IS NULL;
