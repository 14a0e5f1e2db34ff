-- The name of the token that made a dataset version or a job, or whose job made a model version. NULL: the daemon had no tokens.
ALTER TABLE jobs ADD COLUMN submitted_by TEXT;
ALTER TABLE dataset_versions ADD COLUMN submitted_by TEXT;
ALTER TABLE model_versions ADD COLUMN submitted_by TEXT;
