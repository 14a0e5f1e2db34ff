-- Names that expire. expires_at: when a dataset or a model is deleted with all its versions;
-- expires_in: how many seconds after the end of the job its model expires; 0: never. Checksums take
-- the new columns in; damaged rows stay damaged.

DROP TRIGGER datasets_inserted;
DROP TRIGGER datasets_updated;
ALTER TABLE datasets ADD COLUMN expires_at INTEGER NOT NULL DEFAULT 0;
UPDATE datasets SET crc = row_crc(name, last_version, newest, description, tags, revision,
    expires_at) WHERE crc = row_crc(name, last_version, newest, description, tags, revision);
CREATE TRIGGER datasets_inserted AFTER INSERT ON datasets BEGIN
    UPDATE datasets SET crc = row_crc(NEW.name, NEW.last_version, NEW.newest, NEW.description,
        NEW.tags, NEW.revision, NEW.expires_at) WHERE name = NEW.name;
END;
CREATE TRIGGER datasets_updated AFTER UPDATE ON datasets WHEN OLD.crc = row_crc(OLD.name,
    OLD.last_version, OLD.newest, OLD.description, OLD.tags, OLD.revision, OLD.expires_at) BEGIN
    UPDATE datasets SET crc = row_crc(NEW.name, NEW.last_version, NEW.newest, NEW.description,
        NEW.tags, NEW.revision, NEW.expires_at) WHERE name = NEW.name;
END;

DROP TRIGGER models_inserted;
DROP TRIGGER models_updated;
ALTER TABLE models ADD COLUMN expires_at INTEGER NOT NULL DEFAULT 0;
UPDATE models SET crc = row_crc(name, last_version, live, newest, description, tags, revision,
    expires_at) WHERE crc = row_crc(name, last_version, live, newest, description, tags, revision);
CREATE TRIGGER models_inserted AFTER INSERT ON models BEGIN
    UPDATE models SET crc = row_crc(NEW.name, NEW.last_version, NEW.live, NEW.newest,
        NEW.description, NEW.tags, NEW.revision, NEW.expires_at) WHERE name = NEW.name;
END;
CREATE TRIGGER models_updated AFTER UPDATE ON models WHEN OLD.crc = row_crc(OLD.name,
    OLD.last_version, OLD.live, OLD.newest, OLD.description, OLD.tags, OLD.revision,
    OLD.expires_at) BEGIN
    UPDATE models SET crc = row_crc(NEW.name, NEW.last_version, NEW.live, NEW.newest,
        NEW.description, NEW.tags, NEW.revision, NEW.expires_at) WHERE name = NEW.name;
END;

DROP TRIGGER jobs_inserted;
DROP TRIGGER jobs_updated;
ALTER TABLE jobs ADD COLUMN expires_in INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET crc = row_crc(id, state, model, algorithm, dataset, dataset_version, dataset_id,
    spec, created_at, started_at, finished_at, attempts, owner, lease_until, cancel_requested,
    progress, warnings, error, result, version, last_event, n_progress, spec_format, result_format,
    token, submitted_by, expires_in) WHERE crc = row_crc(id, state, model, algorithm, dataset,
    dataset_version, dataset_id, spec, created_at, started_at, finished_at, attempts, owner,
    lease_until, cancel_requested, progress, warnings, error, result, version, last_event,
    n_progress, spec_format, result_format, token, submitted_by);
CREATE TRIGGER jobs_inserted AFTER INSERT ON jobs BEGIN
    UPDATE jobs SET crc = row_crc(NEW.id, NEW.state, NEW.model, NEW.algorithm, NEW.dataset,
        NEW.dataset_version, NEW.dataset_id, NEW.spec, NEW.created_at, NEW.started_at,
        NEW.finished_at, NEW.attempts, NEW.owner, NEW.lease_until, NEW.cancel_requested,
        NEW.progress, NEW.warnings, NEW.error, NEW.result, NEW.version, NEW.last_event,
        NEW.n_progress, NEW.spec_format, NEW.result_format, NEW.token, NEW.submitted_by,
        NEW.expires_in) WHERE id = NEW.id;
END;
CREATE TRIGGER jobs_updated AFTER UPDATE ON jobs WHEN OLD.crc = row_crc(OLD.id, OLD.state,
    OLD.model, OLD.algorithm, OLD.dataset, OLD.dataset_version, OLD.dataset_id, OLD.spec,
    OLD.created_at, OLD.started_at, OLD.finished_at, OLD.attempts, OLD.owner, OLD.lease_until,
    OLD.cancel_requested, OLD.progress, OLD.warnings, OLD.error, OLD.result, OLD.version,
    OLD.last_event, OLD.n_progress, OLD.spec_format, OLD.result_format, OLD.token,
    OLD.submitted_by, OLD.expires_in) BEGIN
    UPDATE jobs SET crc = row_crc(NEW.id, NEW.state, NEW.model, NEW.algorithm, NEW.dataset,
        NEW.dataset_version, NEW.dataset_id, NEW.spec, NEW.created_at, NEW.started_at,
        NEW.finished_at, NEW.attempts, NEW.owner, NEW.lease_until, NEW.cancel_requested,
        NEW.progress, NEW.warnings, NEW.error, NEW.result, NEW.version, NEW.last_event,
        NEW.n_progress, NEW.spec_format, NEW.result_format, NEW.token, NEW.submitted_by,
        NEW.expires_in) WHERE id = NEW.id;
END;

CREATE INDEX datasets_expiring ON datasets (expires_at) WHERE expires_at > 0;
CREATE INDEX models_expiring ON models (expires_at) WHERE expires_at > 0;
-- The jobs of a model that has expired, and those that made no model.
CREATE INDEX jobs_expiring ON jobs (model) WHERE expires_in > 0;
CREATE INDEX jobs_expiring_alone ON jobs (finished_at + 1000 * expires_in)
    WHERE expires_in > 0 AND finished_at > 0 AND version = 0;
