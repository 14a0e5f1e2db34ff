-- The body of the POST that made the job. NULL: the job was posted to a release that did not store it.
ALTER TABLE jobs ADD COLUMN request TEXT;
