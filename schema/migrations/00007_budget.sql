-- The rate budget of a connection, shared by all processes: one slot per request sent to a vendor, more urgent lanes first.
--
-- A budget of r slots a second and a burst of b lets at most r × w + b requests pass in any w seconds: next_at is the time up to
-- which slots are given away, and a slot may be taken while next_at is at most b - 1 steps ahead of the clock. The clock is
-- Postgres' own, read under the lock of the budget's row, so that the clocks of the processes don't matter.

-- +goose Up

-- Null is the default of whoever asks; a row with null only remembers which slots were given away.
ALTER TABLE rate_budgets ALTER COLUMN per_second DROP NOT NULL, ALTER COLUMN burst DROP NOT NULL,
    ADD CONSTRAINT rate_budgets_set_whole CHECK ((per_second IS NULL) = (burst IS NULL)),
    -- How many slots were ever taken, and the moment at which the last one was.
    ADD COLUMN taken bigint NOT NULL DEFAULT 0,
    ADD COLUMN taken_at timestamptz;

-- Who waits for a slot, one row per process and connection: its most urgent waiter. Less urgent ones let it pass. A row that
-- isn't renewed expires, so a process that died holds nobody up for longer than two seconds.
CREATE UNLOGGED TABLE budget_waiters (
    connection text NOT NULL,
    waiter     uuid NOT NULL,
    lane       smallint NOT NULL CONSTRAINT budget_waiters_lane_known CHECK (lane BETWEEN 0 AND 3),
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (connection, waiter)
);

-- +goose StatementBegin
-- The time between two slots, rounded up to the clock's resolution, so that rounding never lets one more request pass.
CREATE FUNCTION budget_step(per_second double precision) RETURNS interval LANGUAGE sql IMMUTABLE AS $$
    SELECT ceil(1000000 / per_second) * interval '1 microsecond'
$$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Locks the budget of a connection, which is made at its first use; all null for a connection that isn't there. Where nothing
-- was set it has the default of the caller.
CREATE FUNCTION lock_budget(conn text, default_per_second double precision, default_burst integer) RETURNS rate_budgets LANGUAGE plpgsql AS $$
DECLARE budget rate_budgets;
BEGIN
    SELECT * INTO budget FROM rate_budgets b WHERE b.connection = conn FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        INSERT INTO rate_budgets (connection, per_second, burst)
        SELECT c.name, NULL, NULL FROM connections c WHERE c.name = conn ON CONFLICT (connection) DO NOTHING;
        SELECT * INTO budget FROM rate_budgets b WHERE b.connection = conn FOR NO KEY UPDATE;
    END IF;
    budget.per_second := coalesce(budget.per_second, default_per_second);
    budget.burst := coalesce(budget.burst, default_burst);
    RETURN budget;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Asks for one slot. The outcome is
--   go                  it is taken: send now
--   wait                ask again after that while, which is at most a second, so that a delete is noticed in time
--   blocked             the vendor wants nothing before that while is over, which may be long
--   stop                the sync of the token was overtaken or a delete asked it to stop, or the folder is deleted
--   paused              the connection is paused, and this is no check of whether it works
--   connection_unknown
-- Lane is the lane that holds now: the in-flight row's, which a signal may have lifted since the caller read it.
CREATE FUNCTION take_slot(conn text, w uuid, asked_lane smallint, f text, p text, t uuid, is_check boolean,
    default_per_second double precision, default_burst integer)
RETURNS TABLE (outcome text, wait interval, lane smallint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    budget rate_budgets;
    moment timestamptz;
    step interval;
    slack interval;
    bound timestamptz;
    free_in interval;
    outrun boolean;
    cancelled boolean;
BEGIN
    -- A crash loses slots of the last half second, and starting again takes longer than that.
    PERFORM set_config('synchronous_commit', 'off', true);
    wait := interval '0';
    lane := asked_lane;
    budget := lock_budget(conn, default_per_second, default_burst);
    IF budget.connection IS NULL THEN outcome := 'connection_unknown'; RETURN NEXT; RETURN; END IF;
    moment := clock_timestamp(); -- not now(): the lock may have been waited for

    IF NOT is_check THEN
        IF t IS NOT NULL THEN
            SELECT i.lane, i.cancel_requested INTO lane, cancelled FROM in_flight i WHERE i.folder_id = f AND i.page_id = p AND i.token = t;
            IF NOT FOUND OR cancelled THEN outcome := 'stop'; END IF;
        END IF;
        IF f <> '' AND NOT EXISTS (SELECT FROM folders x WHERE x.folder_id = f AND x.deleted_at IS NULL) THEN outcome := 'stop'; END IF;
        IF outcome IS NULL AND EXISTS (SELECT FROM connections c WHERE c.name = conn AND c.paused_at IS NOT NULL) THEN outcome := 'paused'; END IF;
    END IF;
    IF outcome IS NOT NULL THEN
        lane := coalesce(lane, asked_lane);
        DELETE FROM budget_waiters m WHERE m.connection = conn AND m.waiter = w;
        RETURN NEXT; RETURN;
    END IF;

    step := budget_step(budget.per_second);
    slack := step * (budget.burst - 1);
    -- More than a full burst is never given away ahead: only a clock that was set back, or a rate that was raised, looks so.
    bound := greatest(moment, budget.blocked_until) + slack + step;
    IF budget.next_at > bound THEN
        budget.next_at := bound;
        UPDATE rate_budgets b SET next_at = bound WHERE b.connection = conn;
    END IF;
    free_in := greatest(budget.next_at - slack, budget.blocked_until) - moment;
    outrun := EXISTS (SELECT FROM budget_waiters m WHERE m.connection = conn AND m.waiter <> w AND m.lane < take_slot.lane AND m.expires_at > moment);

    IF free_in <= interval '0' AND NOT outrun THEN
        UPDATE rate_budgets b SET next_at = greatest(budget.next_at, moment) + step, taken = b.taken + 1, taken_at = moment WHERE b.connection = conn;
        DELETE FROM budget_waiters m WHERE m.connection = conn AND (m.waiter = w OR m.expires_at < moment);
        outcome := 'go'; RETURN NEXT; RETURN;
    END IF;

    IF budget.blocked_until > moment THEN
        outcome := 'blocked';
        wait := budget.blocked_until - moment;
    ELSE
        outcome := 'wait';
        -- Whoever is outrun comes back when the more urgent one has had the next slot.
        wait := least(greatest(free_in, '0') + CASE WHEN outrun THEN greatest(step, '5 milliseconds') ELSE '0' END, '1 second');
    END IF;
    IF lane < 3 THEN
        INSERT INTO budget_waiters AS m (connection, waiter, lane, expires_at) VALUES (conn, w, lane, moment + least(wait, '1 second') + interval '1 second')
        ON CONFLICT (connection, waiter) DO UPDATE SET lane = excluded.lane, expires_at = excluded.expires_at;
    ELSE
        DELETE FROM budget_waiters m WHERE m.connection = conn AND m.waiter = w;
    END IF;
    RETURN NEXT;
END $$;
-- +goose StatementEnd

-- +goose StatementBegin
-- Gives no slot for a while, because the vendor asked for it; a longer block stays. Afterwards slots come one by one, without
-- the burst that the pause would have saved up. False for a connection that isn't there.
CREATE FUNCTION block_budget(conn text, lasting interval, default_per_second double precision, default_burst integer) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    budget rate_budgets;
    until timestamptz;
BEGIN
    budget := lock_budget(conn, default_per_second, default_burst);
    IF budget.connection IS NULL THEN RETURN false; END IF;
    until := greatest(budget.blocked_until, clock_timestamp() + lasting);
    UPDATE rate_budgets b SET blocked_until = until,
        next_at = greatest(b.next_at, until + budget_step(budget.per_second) * (budget.burst - 1))
    WHERE b.connection = conn;
    RETURN true;
END $$;
-- +goose StatementEnd
