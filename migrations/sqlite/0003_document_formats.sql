-- The format of the JSON documents in a row: a number that rises when their meaning changes. What was stored before is format 1.
-- jobs: spec, and result with error and warnings. dataset_versions: columns, notes and options. model_versions: info.
ALTER TABLE jobs ADD COLUMN spec_format INTEGER NOT NULL DEFAULT 1;
ALTER TABLE jobs ADD COLUMN result_format INTEGER NOT NULL DEFAULT 1;
ALTER TABLE dataset_versions ADD COLUMN format INTEGER NOT NULL DEFAULT 1;
ALTER TABLE model_versions ADD COLUMN format INTEGER NOT NULL DEFAULT 1;
-- Which ended jobs are deleted first.
CREATE INDEX jobs_finished ON jobs (finished_at, id) WHERE state >= 2;
