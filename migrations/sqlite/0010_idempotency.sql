-- The answers to requests with an Idempotency-Key that made something. A row is inserted in the
-- transaction that makes it, and deleted 24 hours later.
CREATE TABLE idempotency_keys (
    id         INTEGER PRIMARY KEY,
    owner      TEXT    NOT NULL, -- name of the token; '': none
    key        TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    request    TEXT    NOT NULL, -- SHA-256 of method, path, query and type
    body       TEXT    NOT NULL, -- SHA-256 of the body
    status     INTEGER NOT NULL, -- of the answer, as the columns below
    location   TEXT    NOT NULL, -- without the base path
    etag       TEXT    NOT NULL,
    bytes      INTEGER NOT NULL, -- size of the answer
    answer     TEXT    NOT NULL,
    crc        INTEGER,
    UNIQUE (owner, key)
) STRICT;
CREATE INDEX idempotency_keys_of_owner ON idempotency_keys (owner, created_at, bytes);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);
