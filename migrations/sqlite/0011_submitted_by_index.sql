-- What a token stores is added up for its limit in each transaction that publishes a dataset or
-- makes a job, and by GET /v1/limits. submitted_by is behind the large texts of a row.
CREATE INDEX dataset_versions_submitted_by ON dataset_versions (submitted_by)
    WHERE submitted_by IS NOT NULL;
CREATE INDEX model_versions_submitted_by ON model_versions (submitted_by, bytes)
    WHERE submitted_by IS NOT NULL;
