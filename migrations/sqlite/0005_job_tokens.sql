-- The fencing token of a job: it rises with each claim, and only the worker with the latest token may write the job.
ALTER TABLE jobs ADD COLUMN token INTEGER NOT NULL DEFAULT 0;
-- Indexes whose condition names no state: a condition with a bound parameter cannot use an index WHERE state <> 1.
DROP INDEX jobs_finished;
CREATE INDEX jobs_ended ON jobs (finished_at, id) WHERE finished_at > 0;
DROP INDEX parts_unpublished;
CREATE INDEX parts_state ON parts (state);
