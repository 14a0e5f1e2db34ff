-- A checksum of each row, so that damaged metadata is reported instead of used. row_crc is a
-- function of the daemon: the CRC-32 of its arguments, which are all other columns in their order. Triggers
-- write it; where a row is inserted only and may be large, the INSERT itself does. A change of a
-- damaged row leaves it damaged. The default has the size of a checksum, so that the trigger writes
-- the checksum in place. A migration that adds a column to one of these tables makes its triggers
-- again.

-- The request of a job is shown, but never changed. In its own table it is not written again with
-- each progress of the job.
CREATE TABLE job_requests (
    job     INTEGER PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,
    request TEXT    NOT NULL,
    crc     INTEGER
) STRICT;
INSERT INTO job_requests (job, request, crc)
    SELECT id, request, row_crc(id, request) FROM jobs WHERE request IS NOT NULL;
ALTER TABLE jobs DROP COLUMN request;

ALTER TABLE parts ADD COLUMN crc INTEGER DEFAULT 2147483647;
UPDATE parts SET crc = row_crc(id, state, owner, lease_until, created_at);
CREATE TRIGGER parts_inserted AFTER INSERT ON parts BEGIN
    UPDATE parts SET crc = row_crc(NEW.id, NEW.state, NEW.owner, NEW.lease_until, NEW.created_at)
        WHERE id = NEW.id;
END;
CREATE TRIGGER parts_updated AFTER UPDATE ON parts WHEN OLD.crc = row_crc(OLD.id, OLD.state,
    OLD.owner, OLD.lease_until, OLD.created_at) BEGIN
    UPDATE parts SET crc = row_crc(NEW.id, NEW.state, NEW.owner, NEW.lease_until, NEW.created_at)
        WHERE id = NEW.id;
END;

ALTER TABLE chunks ADD COLUMN crc INTEGER DEFAULT 2147483647;
UPDATE chunks SET crc = row_crc(part, chunk, n_rows, first_blob, n_blobs, bytes);
CREATE TRIGGER chunks_inserted AFTER INSERT ON chunks BEGIN
    UPDATE chunks SET crc = row_crc(NEW.part, NEW.chunk, NEW.n_rows, NEW.first_blob, NEW.n_blobs,
        NEW.bytes) WHERE part = NEW.part AND chunk = NEW.chunk;
END;
CREATE TRIGGER chunks_updated AFTER UPDATE ON chunks WHEN OLD.crc = row_crc(OLD.part, OLD.chunk,
    OLD.n_rows, OLD.first_blob, OLD.n_blobs, OLD.bytes) BEGIN
    UPDATE chunks SET crc = row_crc(NEW.part, NEW.chunk, NEW.n_rows, NEW.first_blob, NEW.n_blobs,
        NEW.bytes) WHERE part = NEW.part AND chunk = NEW.chunk;
END;

ALTER TABLE datasets ADD COLUMN crc INTEGER DEFAULT 2147483647;
UPDATE datasets SET crc = row_crc(name, last_version, newest, description, tags, revision);
CREATE TRIGGER datasets_inserted AFTER INSERT ON datasets BEGIN
    UPDATE datasets SET crc = row_crc(NEW.name, NEW.last_version, NEW.newest, NEW.description,
        NEW.tags, NEW.revision) WHERE name = NEW.name;
END;
CREATE TRIGGER datasets_updated AFTER UPDATE ON datasets WHEN OLD.crc = row_crc(OLD.name,
    OLD.last_version, OLD.newest, OLD.description, OLD.tags, OLD.revision) BEGIN
    UPDATE datasets SET crc = row_crc(NEW.name, NEW.last_version, NEW.newest, NEW.description,
        NEW.tags, NEW.revision) WHERE name = NEW.name;
END;

ALTER TABLE dataset_versions ADD COLUMN crc INTEGER DEFAULT 2147483647;
UPDATE dataset_versions SET crc = row_crc(id, name, version, hidden, n_rows, n_cols, bytes,
    created_at, sha256, content, options, columns, notes, format, submitted_by);
CREATE TRIGGER dataset_versions_inserted AFTER INSERT ON dataset_versions BEGIN
    UPDATE dataset_versions SET crc = row_crc(NEW.id, NEW.name, NEW.version, NEW.hidden, NEW.n_rows,
        NEW.n_cols, NEW.bytes, NEW.created_at, NEW.sha256, NEW.content, NEW.options, NEW.columns,
        NEW.notes, NEW.format, NEW.submitted_by) WHERE id = NEW.id;
END;
CREATE TRIGGER dataset_versions_updated AFTER UPDATE ON dataset_versions WHEN OLD.crc =
    row_crc(OLD.id, OLD.name, OLD.version, OLD.hidden, OLD.n_rows, OLD.n_cols, OLD.bytes,
    OLD.created_at, OLD.sha256, OLD.content, OLD.options, OLD.columns, OLD.notes, OLD.format,
        OLD.submitted_by) BEGIN
    UPDATE dataset_versions SET crc = row_crc(NEW.id, NEW.name, NEW.version, NEW.hidden, NEW.n_rows,
        NEW.n_cols, NEW.bytes, NEW.created_at, NEW.sha256, NEW.content, NEW.options, NEW.columns,
        NEW.notes, NEW.format, NEW.submitted_by) WHERE id = NEW.id;
END;

ALTER TABLE dataset_parts ADD COLUMN crc INTEGER DEFAULT 2147483647;
UPDATE dataset_parts SET crc = row_crc(version, seq, part);
CREATE TRIGGER dataset_parts_inserted AFTER INSERT ON dataset_parts BEGIN
    UPDATE dataset_parts SET crc = row_crc(NEW.version, NEW.seq, NEW.part) WHERE version =
        NEW.version AND seq = NEW.seq;
END;
CREATE TRIGGER dataset_parts_updated AFTER UPDATE ON dataset_parts WHEN OLD.crc =
    row_crc(OLD.version, OLD.seq, OLD.part) BEGIN
    UPDATE dataset_parts SET crc = row_crc(NEW.version, NEW.seq, NEW.part) WHERE version =
        NEW.version AND seq = NEW.seq;
END;

ALTER TABLE dataset_summaries ADD COLUMN crc INTEGER;
UPDATE dataset_summaries SET crc = row_crc(version, column, state);

ALTER TABLE models ADD COLUMN crc INTEGER DEFAULT 2147483647;
UPDATE models SET crc = row_crc(name, last_version, live, newest, description, tags, revision);
CREATE TRIGGER models_inserted AFTER INSERT ON models BEGIN
    UPDATE models SET crc = row_crc(NEW.name, NEW.last_version, NEW.live, NEW.newest,
        NEW.description, NEW.tags, NEW.revision) WHERE name = NEW.name;
END;
CREATE TRIGGER models_updated AFTER UPDATE ON models WHEN OLD.crc = row_crc(OLD.name,
    OLD.last_version, OLD.live, OLD.newest, OLD.description, OLD.tags, OLD.revision) BEGIN
    UPDATE models SET crc = row_crc(NEW.name, NEW.last_version, NEW.live, NEW.newest,
        NEW.description, NEW.tags, NEW.revision) WHERE name = NEW.name;
END;

ALTER TABLE model_versions ADD COLUMN crc INTEGER DEFAULT 2147483647;
UPDATE model_versions SET crc = row_crc(id, name, version, created_at, bytes, info, part, format,
        submitted_by);
CREATE TRIGGER model_versions_inserted AFTER INSERT ON model_versions BEGIN
    UPDATE model_versions SET crc = row_crc(NEW.id, NEW.name, NEW.version, NEW.created_at,
        NEW.bytes, NEW.info, NEW.part, NEW.format, NEW.submitted_by) WHERE id = NEW.id;
END;
CREATE TRIGGER model_versions_updated AFTER UPDATE ON model_versions WHEN OLD.crc = row_crc(OLD.id,
    OLD.name, OLD.version, OLD.created_at, OLD.bytes, OLD.info, OLD.part, OLD.format,
        OLD.submitted_by) BEGIN
    UPDATE model_versions SET crc = row_crc(NEW.id, NEW.name, NEW.version, NEW.created_at,
        NEW.bytes, NEW.info, NEW.part, NEW.format, NEW.submitted_by) WHERE id = NEW.id;
END;

ALTER TABLE jobs ADD COLUMN crc INTEGER DEFAULT 2147483647;
UPDATE jobs SET crc = row_crc(id, state, model, algorithm, dataset, dataset_version, dataset_id,
    spec, created_at, started_at, finished_at, attempts, owner, lease_until, cancel_requested,
    progress, warnings, error, result, version, last_event, n_progress, spec_format, result_format,
    token, submitted_by);
CREATE TRIGGER jobs_inserted AFTER INSERT ON jobs BEGIN
    UPDATE jobs SET crc = row_crc(NEW.id, NEW.state, NEW.model, NEW.algorithm, NEW.dataset,
        NEW.dataset_version, NEW.dataset_id, NEW.spec, NEW.created_at, NEW.started_at,
        NEW.finished_at, NEW.attempts, NEW.owner, NEW.lease_until, NEW.cancel_requested,
        NEW.progress, NEW.warnings, NEW.error, NEW.result, NEW.version, NEW.last_event,
        NEW.n_progress, NEW.spec_format, NEW.result_format, NEW.token, NEW.submitted_by) WHERE id =
        NEW.id;
END;
CREATE TRIGGER jobs_updated AFTER UPDATE ON jobs WHEN OLD.crc = row_crc(OLD.id, OLD.state,
    OLD.model, OLD.algorithm, OLD.dataset, OLD.dataset_version, OLD.dataset_id, OLD.spec,
    OLD.created_at, OLD.started_at, OLD.finished_at, OLD.attempts, OLD.owner, OLD.lease_until,
    OLD.cancel_requested, OLD.progress, OLD.warnings, OLD.error, OLD.result, OLD.version,
    OLD.last_event, OLD.n_progress, OLD.spec_format, OLD.result_format, OLD.token, OLD.submitted_by)
        BEGIN
    UPDATE jobs SET crc = row_crc(NEW.id, NEW.state, NEW.model, NEW.algorithm, NEW.dataset,
        NEW.dataset_version, NEW.dataset_id, NEW.spec, NEW.created_at, NEW.started_at,
        NEW.finished_at, NEW.attempts, NEW.owner, NEW.lease_until, NEW.cancel_requested,
        NEW.progress, NEW.warnings, NEW.error, NEW.result, NEW.version, NEW.last_event,
        NEW.n_progress, NEW.spec_format, NEW.result_format, NEW.token, NEW.submitted_by) WHERE id =
        NEW.id;
END;

ALTER TABLE job_pins ADD COLUMN crc INTEGER DEFAULT 2147483647;
UPDATE job_pins SET crc = row_crc(job, version);
CREATE TRIGGER job_pins_inserted AFTER INSERT ON job_pins BEGIN
    UPDATE job_pins SET crc = row_crc(NEW.job, NEW.version) WHERE job = NEW.job AND version =
        NEW.version;
END;
CREATE TRIGGER job_pins_updated AFTER UPDATE ON job_pins WHEN OLD.crc = row_crc(OLD.job,
    OLD.version) BEGIN
    UPDATE job_pins SET crc = row_crc(NEW.job, NEW.version) WHERE job = NEW.job AND version =
        NEW.version;
END;

ALTER TABLE job_events ADD COLUMN crc INTEGER DEFAULT 2147483647;
UPDATE job_events SET crc = row_crc(job, seq, kind, progress, state, attempts, started_at,
    warnings);
CREATE TRIGGER job_events_inserted AFTER INSERT ON job_events BEGIN
    UPDATE job_events SET crc = row_crc(NEW.job, NEW.seq, NEW.kind, NEW.progress, NEW.state,
        NEW.attempts, NEW.started_at, NEW.warnings) WHERE job = NEW.job AND seq = NEW.seq;
END;
CREATE TRIGGER job_events_updated AFTER UPDATE ON job_events WHEN OLD.crc = row_crc(OLD.job,
    OLD.seq, OLD.kind, OLD.progress, OLD.state, OLD.attempts, OLD.started_at, OLD.warnings) BEGIN
    UPDATE job_events SET crc = row_crc(NEW.job, NEW.seq, NEW.kind, NEW.progress, NEW.state,
        NEW.attempts, NEW.started_at, NEW.warnings) WHERE job = NEW.job AND seq = NEW.seq;
END;

ALTER TABLE job_history ADD COLUMN crc INTEGER DEFAULT 2147483647;
UPDATE job_history SET crc = row_crc(id, job, snapshot, iteration, doc);
CREATE TRIGGER job_history_inserted AFTER INSERT ON job_history BEGIN
    UPDATE job_history SET crc = row_crc(NEW.id, NEW.job, NEW.snapshot, NEW.iteration, NEW.doc)
        WHERE id = NEW.id;
END;
CREATE TRIGGER job_history_updated AFTER UPDATE ON job_history WHEN OLD.crc = row_crc(OLD.id,
    OLD.job, OLD.snapshot, OLD.iteration, OLD.doc) BEGIN
    UPDATE job_history SET crc = row_crc(NEW.id, NEW.job, NEW.snapshot, NEW.iteration, NEW.doc)
        WHERE id = NEW.id;
END;
