-- GET /v1/audit?name= lists the entries of one name, newest first; the index ends with seq.
CREATE INDEX audit_names ON audit (name) WHERE name IS NOT NULL;
