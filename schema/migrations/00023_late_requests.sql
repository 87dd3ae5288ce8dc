-- A request reaches the vendor a little later than its slot was taken, now more and now less, and so a minute at the vendor may hold
-- a few more requests than the minute in which their slots were taken. A budget is therefore given away half a percent more slowly
-- than it allows: what arrives up to 0.3 s late stays within it in every minute.

-- +goose Up

-- +goose StatementBegin
CREATE OR REPLACE FUNCTION budget_step(per_second double precision) RETURNS interval LANGUAGE sql IMMUTABLE AS $$
    SELECT ceil(1005000 / per_second) * interval '1 microsecond'
$$;
-- +goose StatementEnd
