-- A job may read two dataset versions: the one it trains on and one it is validated on. Neither can go while it waits or runs.
CREATE TABLE job_pins_all (
    job     INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    version INTEGER NOT NULL REFERENCES dataset_versions (id),
    PRIMARY KEY (job, version)
) STRICT, WITHOUT ROWID;
INSERT INTO job_pins_all (job, version) SELECT job, version FROM job_pins;
DROP TABLE job_pins;
ALTER TABLE job_pins_all RENAME TO job_pins;
CREATE INDEX job_pins_version ON job_pins (version);
