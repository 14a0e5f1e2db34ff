-- The highest format of the documents is looked up at every start.
CREATE INDEX dataset_versions_format ON dataset_versions (format);
CREATE INDEX model_versions_format ON model_versions (format);
CREATE INDEX jobs_spec_format ON jobs (spec_format);
CREATE INDEX jobs_result_format ON jobs (result_format);
