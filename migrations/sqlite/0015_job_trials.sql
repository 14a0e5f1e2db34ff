-- The trials of a search: a document each, in the order in which they ended. They outlive an
-- attempt of the job. The INSERT writes the checksum.
CREATE TABLE job_trials (
    id  INTEGER PRIMARY KEY,
    job INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    doc TEXT    NOT NULL,
    crc INTEGER
) STRICT;
CREATE INDEX job_trials_job ON job_trials (job);
