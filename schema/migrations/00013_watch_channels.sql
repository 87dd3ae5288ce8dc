-- Push channels: a source with a change feed calls the gateway when one of its change logs has something new. What changed is
-- asked for as ever, and without a call the syncs find it.

-- +goose Up

-- A change log that a folder needs, and its channel that counts. The row is gone when nobody needs the log any more.
CREATE TABLE watched_logs (
    connection    text NOT NULL REFERENCES connections (name) ON DELETE CASCADE,
    log           text NOT NULL CONSTRAINT watched_logs_log_given CHECK (log <> ''),
    -- The channel that counts, where it calls, and when the next one has to take its place. All null before the first.
    channel_id    uuid,
    address       text,
    renew_at      timestamptz,
    -- The channel that somebody is opening, and until when the others leave the log alone. Both null while nobody is.
    claim         uuid,
    claimed_until timestamptz,
    -- How often opening one went wrong since it last worked, and what people are told of it.
    failures      integer NOT NULL DEFAULT 0 CONSTRAINT watched_logs_failures_not_negative CHECK (failures >= 0),
    failed_at     timestamptz,
    sentence      text NOT NULL DEFAULT '',
    next_try_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (connection, log),
    CONSTRAINT watched_logs_channel_whole CHECK ((channel_id IS NULL) = (renew_at IS NULL) AND (channel_id IS NULL) = (address IS NULL)),
    CONSTRAINT watched_logs_claim_ends CHECK ((claim IS NULL) = (claimed_until IS NULL))
);

-- Every channel that was asked for, from before the source was asked until the source has closed it by itself: calls of one that
-- was replaced may still be under way, and one whose opening was never answered may be open all the same.
CREATE TABLE watch_channels (
    channel_id   uuid PRIMARY KEY,
    connection   text NOT NULL REFERENCES connections (name) ON DELETE CASCADE,
    log          text NOT NULL,
    -- SHA-256 of the token that proves a call. The token itself is only the source's.
    token_hash   bytea NOT NULL CONSTRAINT watch_channels_hash_whole CHECK (octet_length(token_hash) = 32),
    address      text NOT NULL,
    -- The source's name of what is watched; empty until it has told.
    resource_id  text NOT NULL DEFAULT '',
    asked_at     timestamptz NOT NULL DEFAULT now(),
    -- Null until the source said that it is open.
    opened_at    timestamptz,
    expires_at   timestamptz NOT NULL,
    -- Null until a call bore its token: calls arrive.
    confirmed_at timestamptz,
    -- The last call, to the second.
    heard_at     timestamptz,
    -- Set when it is to be stopped, and when it is.
    retired_at   timestamptz,
    stopped_at   timestamptz,
    stop_tries   integer NOT NULL DEFAULT 0,
    stop_after   timestamptz NOT NULL DEFAULT now()
);
-- The channels of a log, and the sweep of those that have ended.
CREATE INDEX watch_channels_of_log ON watch_channels (connection, log);
CREATE INDEX watch_channels_by_end ON watch_channels (expires_at);

-- +goose StatementBegin
-- Makes a channel that the source has opened the one that counts, and retires the one before it. The outcome is
--   next   the one before was open until now, so that no call was missed
--   first  there was none: what changed before was not called for
--   late   another has taken the claim over: there is one already, or will be, and this one is retired at once
-- The next one is due a fifth of the life before the end, and an hour before it unless half of the life is shorter.
CREATE FUNCTION open_watch_channel(id uuid, resource text, ends timestamptz) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    watched watched_logs;
    life interval := greatest(ends - now(), '0');
    target text;
    outcome text := 'first';
BEGIN
    SELECT * INTO watched FROM watched_logs w WHERE w.claim = id OR w.channel_id = id FOR UPDATE;
    IF watched.channel_id = id THEN RETURN 'next'; END IF;
    UPDATE watch_channels c SET resource_id = resource, opened_at = now(), expires_at = ends,
        retired_at = CASE WHEN watched.claim IS NULL THEN now() END
    WHERE c.channel_id = id RETURNING c.address INTO target;
    IF watched.claim IS NULL THEN RETURN 'late'; END IF;
    UPDATE watch_channels c SET retired_at = now() WHERE c.channel_id = watched.channel_id AND c.retired_at IS NULL;
    IF EXISTS (SELECT 1 FROM watch_channels c WHERE c.channel_id = watched.channel_id AND c.expires_at > now() AND c.address = target) THEN
        outcome := 'next';
    END IF;
    UPDATE watched_logs w SET channel_id = id, address = target, renew_at = ends - greatest(life / 5, least(interval '1 hour', life / 2)),
        claim = NULL, claimed_until = NULL, failures = 0, failed_at = NULL, sentence = '', next_try_at = now()
    WHERE w.claim = id;
    RETURN outcome;
END $$;
-- +goose StatementEnd
