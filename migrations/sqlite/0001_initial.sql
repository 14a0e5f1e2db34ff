-- The first tables: stored bytes (parts, chunks, blobs), datasets, models, jobs. Times are milliseconds since 1970, 0 is none.
-- Names carry their counters for ever, so that no version number is given twice.

-- A part is a sequence of chunks that belongs together. state: 0 staged (leased by its owner until lease_until), 1 published, 2 dead (to be swept).
CREATE TABLE parts (
    id          INTEGER PRIMARY KEY,
    state       INTEGER NOT NULL CHECK (state IN (0, 1, 2)),
    owner       TEXT    NOT NULL,
    lease_until INTEGER NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX parts_unpublished ON parts (state) WHERE state <> 1;

-- Blob number b of a chunk (a column of a dataset, the one blob of a model) is blobs.id = first_blob + b.
CREATE TABLE chunks (
    part       INTEGER NOT NULL REFERENCES parts (id),
    chunk      INTEGER NOT NULL CHECK (chunk >= 0),
    n_rows     INTEGER NOT NULL CHECK (n_rows >= 0),
    first_blob INTEGER NOT NULL,
    n_blobs    INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    PRIMARY KEY (part, chunk)
) STRICT, WITHOUT ROWID;

CREATE TABLE blobs (
    id    INTEGER PRIMARY KEY,
    crc   INTEGER NOT NULL,
    bytes BLOB    NOT NULL
) STRICT;

-- newest: the newest version that is not deleted, 0 when there is none.
CREATE TABLE datasets (
    name         TEXT    NOT NULL PRIMARY KEY,
    last_version INTEGER NOT NULL,
    newest       INTEGER NOT NULL,
    description  TEXT,
    tags         TEXT    NOT NULL,
    revision     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- hidden: deleted; the row stays until nothing in the process reads its chunks any more.
CREATE TABLE dataset_versions (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL REFERENCES datasets (name),
    version    INTEGER NOT NULL,
    hidden     INTEGER NOT NULL DEFAULT 0 CHECK (hidden IN (0, 1)),
    n_rows     INTEGER NOT NULL,
    n_cols     INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    sha256     TEXT,
    content    TEXT    NOT NULL,
    options    TEXT    NOT NULL,
    columns    TEXT    NOT NULL,
    notes      TEXT    NOT NULL,
    UNIQUE (name, version)
) STRICT;
CREATE INDEX dataset_versions_hidden ON dataset_versions (id) WHERE hidden = 1;

-- The parts of a version in row order; versions may share parts.
CREATE TABLE dataset_parts (
    version INTEGER NOT NULL REFERENCES dataset_versions (id),
    seq     INTEGER NOT NULL,
    part    INTEGER NOT NULL REFERENCES parts (id),
    PRIMARY KEY (version, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX dataset_parts_part ON dataset_parts (part);

-- live, newest: version numbers, 0 when no version is left.
CREATE TABLE models (
    name         TEXT    NOT NULL PRIMARY KEY,
    last_version INTEGER NOT NULL,
    live         INTEGER NOT NULL,
    newest       INTEGER NOT NULL,
    description  TEXT,
    tags         TEXT    NOT NULL,
    revision     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE model_versions (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT    NOT NULL REFERENCES models (name),
    version    INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    info       TEXT    NOT NULL,
    part       INTEGER NOT NULL UNIQUE REFERENCES parts (id),
    UNIQUE (name, version)
) STRICT;

-- state: 0 queued, 1 running, 2 succeeded, 3 failed, 4 cancelled.
CREATE TABLE jobs (
    id               INTEGER PRIMARY KEY AUTOINCREMENT,
    state            INTEGER NOT NULL CHECK (state BETWEEN 0 AND 4),
    model            TEXT    NOT NULL,
    algorithm        TEXT    NOT NULL,
    dataset          TEXT    NOT NULL,
    dataset_version  INTEGER NOT NULL,
    dataset_id       INTEGER NOT NULL,
    spec             TEXT    NOT NULL,
    created_at       INTEGER NOT NULL,
    started_at       INTEGER NOT NULL DEFAULT 0,
    finished_at      INTEGER NOT NULL DEFAULT 0,
    attempts         INTEGER NOT NULL DEFAULT 0,
    owner            TEXT    NOT NULL DEFAULT '',
    lease_until      INTEGER NOT NULL DEFAULT 0,
    cancel_requested INTEGER NOT NULL DEFAULT 0,
    progress         TEXT,
    warnings         TEXT    NOT NULL DEFAULT '[]',
    error            TEXT,
    result           TEXT,
    version          INTEGER NOT NULL DEFAULT 0,
    last_event       INTEGER NOT NULL DEFAULT 0,
    n_progress       INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX jobs_state ON jobs (state, id);

-- While a job waits or runs, its dataset version cannot go.
CREATE TABLE job_pins (
    job     INTEGER PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    version INTEGER NOT NULL REFERENCES dataset_versions (id)
) STRICT;
CREATE INDEX job_pins_version ON job_pins (version);

-- kind: 0 state, 1 progress, 2 done. The oldest progress events of a long job are dropped, so seq has gaps.
CREATE TABLE job_events (
    job      INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    seq      INTEGER NOT NULL,
    kind     INTEGER NOT NULL CHECK (kind IN (0, 1, 2)),
    progress TEXT,
    -- The job as it was then, of kind 0 and 2: what of it changes before its end and stands in its document.
    state      INTEGER,
    attempts   INTEGER,
    started_at INTEGER,
    warnings   TEXT,
    PRIMARY KEY (job, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_history (
    id        INTEGER PRIMARY KEY,
    job       INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    snapshot  INTEGER NOT NULL CHECK (snapshot IN (0, 1)),
    iteration INTEGER NOT NULL,
    doc       TEXT    NOT NULL
) STRICT;
CREATE INDEX job_history_job ON job_history (job, snapshot);
