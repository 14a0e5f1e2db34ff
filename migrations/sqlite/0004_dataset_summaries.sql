-- The saved summary of each column of a dataset's newest version: an append continues it with the new rows instead of reading
-- the stored chunks. Rows exist at most for the version that was published last; without them the chunks are read.
CREATE TABLE dataset_summaries (
    version INTEGER NOT NULL REFERENCES dataset_versions (id),
    column  INTEGER NOT NULL,
    state   BLOB    NOT NULL,
    PRIMARY KEY (version, column)
) STRICT;
