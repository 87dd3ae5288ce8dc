-- OAuth: the tokens of connections that a person authorized, encrypted, and the authorizations that are under way.

-- +goose Up

-- What a source gave for a person's consent. The tokens are encrypted by the program; the key is never in the database.
CREATE TABLE oauth_tokens (
    connection     text PRIMARY KEY REFERENCES connections (name) ON DELETE CASCADE,
    -- Drawn anew with every pair of tokens, and bound into their encryption. Whoever replaces a pair names the one it replaces.
    generation     uuid NOT NULL,
    access_sealed  bytea NOT NULL,
    -- Null when the source gave none: the access token can't be renewed then.
    refresh_sealed bytea,
    -- Null when the source didn't tell.
    expires_at     timestamptz,
    -- The account as the source names it, for people.
    account        text NOT NULL,
    authorized_at  timestamptz NOT NULL DEFAULT now(),
    authorized_by  text NOT NULL,
    -- Null until the first renewal.
    refreshed_at   timestamptz,
    -- The one that is renewing the tokens, and until when the others wait for it. Both null while nobody is.
    claim          uuid,
    claimed_until  timestamptz,
    -- A renewal went out and its end was never seen: the source may have replaced the tokens without our knowing the new ones.
    in_doubt       boolean NOT NULL DEFAULT false,
    -- Set when the source said that the refresh token is dead: only a person helps.
    refused_at     timestamptz,
    CONSTRAINT oauth_tokens_claim_ends CHECK ((claim IS NULL) = (claimed_until IS NULL))
);

-- Authorizations that people have begun. A state is stored as its SHA-256, goes with its use, and is no good after its time.
CREATE TABLE oauth_states (
    state_hash bytea PRIMARY KEY,
    connection text NOT NULL REFERENCES connections (name) ON DELETE CASCADE,
    expires_at timestamptz NOT NULL
);
-- Serves the sweep of states that nobody used, and the newest one of a connection.
CREATE INDEX oauth_states_by_connection ON oauth_states (connection, expires_at);
