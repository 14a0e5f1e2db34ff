-- Several daemons use one database: what one of them changes is in this table, so that the others empty their caches.

-- Numbered in the order of the commits, without gaps: a transaction takes its numbers while it has the lock of all that write.
CREATE TABLE changes (
    seq     BIGINT PRIMARY KEY,
    kind    BIGINT NOT NULL,
    name    TEXT COLLATE "C" NOT NULL,
    job     BIGINT NOT NULL,
    live    BIGINT NOT NULL,
    oldest  BIGINT NOT NULL,
    removed BIGINT NOT NULL
);

CREATE FUNCTION changes_notify() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('discern_changes', '');
    RETURN NULL;
END $$;
CREATE TRIGGER changes_inserted AFTER INSERT ON changes FOR EACH STATEMENT EXECUTE FUNCTION changes_notify();

-- 1: a binary that does not have the migration may use the database.
ALTER TABLE migrations ADD COLUMN compatible BIGINT NOT NULL DEFAULT 0;

-- The first ids of the ranges that daemons take: no daemon waits for the transaction of another, as with the row of blob_ids.
CREATE SEQUENCE blob_ranges INCREMENT BY 1048576;
SELECT setval('blob_ranges', (next / 1048576 + 1) * 1048576) FROM blob_ids;
DROP TABLE blob_ids;
