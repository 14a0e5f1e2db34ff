-- Who changed what: see "Audit" in server/store/README.md. Entries are only added. hash covers the other columns and the hash of the
-- entry before, so the rows need no checksum.
CREATE TABLE audit (
    seq     INTEGER PRIMARY KEY, -- from 1, without gaps
    at      INTEGER NOT NULL,
    token   TEXT,
    client  TEXT,
    request TEXT,
    action  TEXT    NOT NULL,
    kind    TEXT,
    name    TEXT,
    version INTEGER,
    job     INTEGER,
    result  TEXT    NOT NULL,
    count   INTEGER NOT NULL,
    detail  TEXT,
    hash    BLOB    NOT NULL
) STRICT;

-- The entry before the first one: its number and hash. It moves when old entries are deleted.
CREATE TABLE audit_anchor (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    seq  INTEGER NOT NULL,
    hash BLOB    NOT NULL
) STRICT;
INSERT INTO audit_anchor (id, seq, hash) VALUES (1, 0, zeroblob(32));

CREATE TRIGGER audit_inserted BEFORE INSERT ON audit
    WHEN EXISTS (SELECT 1 FROM audit WHERE seq = NEW.seq) BEGIN
    SELECT RAISE(ABORT, 'an entry of the audit cannot be replaced');
END;
CREATE TRIGGER audit_updated BEFORE UPDATE ON audit BEGIN
    SELECT RAISE(ABORT, 'an entry of the audit cannot be changed');
END;
CREATE TRIGGER audit_deleted BEFORE DELETE ON audit
    WHEN OLD.seq > (SELECT coalesce(max(seq), 0) FROM audit_anchor) BEGIN
    SELECT RAISE(ABORT, 'an entry of the audit cannot be deleted');
END;
CREATE TRIGGER audit_anchor_updated BEFORE UPDATE ON audit_anchor WHEN NEW.seq <= OLD.seq BEGIN
    SELECT RAISE(ABORT, 'the anchor of the audit moves forward only');
END;
CREATE TRIGGER audit_anchor_deleted BEFORE DELETE ON audit_anchor BEGIN
    SELECT RAISE(ABORT, 'the anchor of the audit cannot be deleted');
END;
