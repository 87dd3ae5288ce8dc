-- A page that the source told gone and then lists again leaves its hold.

-- +goose Up

-- +goose StatementBegin
-- Records what a whole listing did not see, and takes back the strikes of what it saw, for up to a bound of pages behind a page
-- id. Pages in flight, or read since the listing began, get no strike; one listing gives a page one strike, however often this
-- runs. The last batch (last_page null) notes that the listing was applied, and says how many pages have their second strike,
-- the second listing having begun after the first one's reconcile was committed.
CREATE OR REPLACE FUNCTION record_absence(l bigint, behind text, bound integer) RETURNS TABLE (outcome text, last_page text, candidates bigint) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    listing listings;
    batch text[];
    -- Pages that the source told gone wait in a hold without a strike: one that is seen again leaves it all the same.
    held text[];
    now_seq bigint;
BEGIN
    candidates := 0;
    SELECT * INTO listing FROM listings WHERE listings.listing_id = l;
    IF NOT listing.full_listing OR listing.dry_run OR listing.verdict <> 'complete' THEN outcome := 'no_evidence'; RETURN NEXT; RETURN; END IF;
    PERFORM pg_advisory_xact_lock_shared(fence_key(listing.folder_id));
    PERFORM 1 FROM folders WHERE folders.folder_id = listing.folder_id FOR SHARE;
    IF listing_is_stale(l) THEN outcome := 'stale'; RETURN NEXT; RETURN; END IF;
    outcome := 'recorded';
    held := ARRAY(SELECT h.page_id FROM hold_pages h JOIN holds o ON o.hold_id = h.hold_id
                  WHERE o.folder_id = listing.folder_id AND o.state = 'open' AND h.page_id > behind);
    batch := ARRAY(
        SELECT p.page_id FROM pages p LEFT JOIN listed_pages(l) s ON s.page_no = p.page_no
        WHERE p.folder_id = listing.folder_id AND p.page_id > behind AND p.kind = 'document' AND p.tombstoned_at IS NULL
          AND CASE WHEN s.page_no IS NULL THEN p.created_seq < listing.began_seq ELSE p.unseen_since IS NOT NULL OR p.removal_rejected OR p.page_id = ANY (held) END
        ORDER BY p.page_id LIMIT bound);
    PERFORM 1 FROM pages p WHERE p.folder_id = listing.folder_id AND p.page_id = ANY (batch) ORDER BY p.page_id FOR NO KEY UPDATE;
    now_seq := nextval('moments');
    UPDATE pages p SET
        unseen_since = CASE WHEN seen.is THEN NULL ELSE coalesce(p.unseen_since, listing.began_at) END,
        removal_rejected = p.removal_rejected AND NOT seen.is,
        strikes = CASE WHEN seen.is OR p.read_at > listing.began_at OR p.attempt_seq > listing.began_seq
                            OR EXISTS (SELECT 1 FROM in_flight i WHERE i.folder_id = p.folder_id AND i.page_id = p.page_id) THEN 0
                       WHEN p.strikes = 0 THEN 1
                       WHEN p.strike_seq < listing.began_seq THEN p.strikes + 1 ELSE p.strikes END,
        strike_seq = CASE WHEN p.strikes = 0 OR p.strike_seq < listing.began_seq THEN now_seq ELSE p.strike_seq END
    FROM (SELECT x.page_id, EXISTS (SELECT 1 FROM listed_pages(l) s WHERE s.page_no = x.page_no) AS is
          FROM pages x WHERE x.folder_id = listing.folder_id AND x.page_id = ANY (batch)) seen
    WHERE p.folder_id = listing.folder_id AND p.page_id = seen.page_id AND p.tombstoned_at IS NULL;
    DELETE FROM hold_pages h USING pages p
    WHERE h.folder_id = listing.folder_id AND h.page_id = ANY (batch) AND p.folder_id = h.folder_id AND p.page_id = h.page_id AND p.unseen_since IS NULL;
    IF cardinality(batch) = bound THEN last_page := batch[bound]; RETURN NEXT; RETURN; END IF;
    UPDATE holds h SET state = 'closed', decided_at = now()
    WHERE h.folder_id = listing.folder_id AND h.state = 'open' AND NOT EXISTS (SELECT 1 FROM hold_pages x WHERE x.hold_id = h.hold_id);
    UPDATE listings SET reconciled_at = coalesce(reconciled_at, now()), applied_at = coalesce(applied_at, now()) WHERE listings.listing_id = l;
    SELECT count(*) INTO candidates FROM pages p
    WHERE p.folder_id = listing.folder_id AND p.strikes >= 2 AND p.tombstoned_at IS NULL AND NOT p.removal_rejected;
    RETURN NEXT;
END $$;
-- +goose StatementEnd
