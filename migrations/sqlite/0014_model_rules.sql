-- The rule that chooses the labels of a model version: a document, "null" after it was removed. revision counts the changes from 1.
-- The INSERT writes the checksum.
CREATE TABLE model_rules (
    version    INTEGER PRIMARY KEY REFERENCES model_versions (id) ON DELETE CASCADE,
    revision   INTEGER NOT NULL,
    rule       TEXT    NOT NULL,
    changed_at INTEGER NOT NULL,
    crc        INTEGER
) STRICT;
