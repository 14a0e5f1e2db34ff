/* The tables whose rows have a checksum in their column crc (migrations 0009_row_checksums.sql
 * and later), as SQL text. row: the table or its alias in the query.
 *
 *   STORE_CRC_T(row)     the checksum of the row as it is read
 *   STORE_INTACT_T(row)  a condition: the row has its checksum
 *   STORE_DAMAGE_T(row)  a value: NULL if the row has its checksum, otherwise "T, row KEY does not
 *                        match its checksum"; checked with store_query_intact
 *   STORE_LISTED(damage) a condition of lists: the row is not damaged. Damaged rows are logged
 *
 * A condition comes last in its WHERE: it costs a checksum of the whole row. PostgreSQL has
 * checksums of pages: there each row is intact. */
#ifndef STORE_ROWS_H
#define STORE_ROWS_H

#include "store/engine/dialect.h"

/* crc: the checksum of the row as it is read; key: the row's key */
#define STORE_INTACT(row, crc) STORE_EITHER("coalesce(" row ".crc = " crc ", 0)", "true")
#define STORE_DAMAGE(row, crc, table, key)                                                         \
    STORE_EITHER("CASE WHEN " row ".crc = " crc " THEN NULL ELSE '" table ", row ' || " key        \
                 " || ' does not match its checksum' END",                                         \
                 "CAST(NULL AS TEXT)")
#define STORE_LISTED(damage) STORE_EITHER("row_listed(" damage ")", "true")

#define STORE_CRC_PARTS(row)                                                                       \
    "row_crc(" row ".id"                                                                           \
    ", " row ".state"                                                                              \
    ", " row ".owner"                                                                              \
    ", " row ".lease_until"                                                                        \
    ", " row ".created_at"                                                                         \
    ")"
#define STORE_INTACT_PARTS(row) STORE_INTACT(row, STORE_CRC_PARTS(row))
#define STORE_DAMAGE_PARTS(row)                                                                    \
    STORE_DAMAGE(row, STORE_CRC_PARTS(row), "parts", "quote(" row ".id)")

#define STORE_CRC_CHUNKS(row)                                                                      \
    "row_crc(" row ".part"                                                                         \
    ", " row ".chunk"                                                                              \
    ", " row ".n_rows"                                                                             \
    ", " row ".first_blob"                                                                         \
    ", " row ".n_blobs"                                                                            \
    ", " row ".bytes"                                                                              \
    ")"
#define STORE_INTACT_CHUNKS(row) STORE_INTACT(row, STORE_CRC_CHUNKS(row))
#define STORE_DAMAGE_CHUNKS(row)                                                                   \
    STORE_DAMAGE(row, STORE_CRC_CHUNKS(row), "chunks",                                             \
                 "quote(" row ".part) || '/' || quote(" row ".chunk)")

#define STORE_CRC_DATASETS(row)                                                                    \
    "row_crc(" row ".name"                                                                         \
    ", " row ".last_version"                                                                       \
    ", " row ".newest"                                                                             \
    ", " row ".description"                                                                        \
    ", " row ".tags"                                                                               \
    ", " row ".revision"                                                                           \
    ", " row ".expires_at"                                                                         \
    ")"
#define STORE_INTACT_DATASETS(row) STORE_INTACT(row, STORE_CRC_DATASETS(row))
#define STORE_DAMAGE_DATASETS(row)                                                                 \
    STORE_DAMAGE(row, STORE_CRC_DATASETS(row), "datasets", "quote(" row ".name)")

#define STORE_CRC_DATASET_VERSIONS(row)                                                            \
    "row_crc(" row ".id"                                                                           \
    ", " row ".name"                                                                               \
    ", " row ".version"                                                                            \
    ", " row ".hidden"                                                                             \
    ", " row ".n_rows"                                                                             \
    ", " row ".n_cols"                                                                             \
    ", " row ".bytes"                                                                              \
    ", " row ".created_at"                                                                         \
    ", " row ".sha256"                                                                             \
    ", " row ".content"                                                                            \
    ", " row ".options"                                                                            \
    ", " row ".columns"                                                                            \
    ", " row ".notes"                                                                              \
    ", " row ".format"                                                                             \
    ", " row ".submitted_by"                                                                       \
    ")"
#define STORE_INTACT_DATASET_VERSIONS(row) STORE_INTACT(row, STORE_CRC_DATASET_VERSIONS(row))
#define STORE_DAMAGE_DATASET_VERSIONS(row)                                                         \
    STORE_DAMAGE(row, STORE_CRC_DATASET_VERSIONS(row), "dataset_versions", "quote(" row ".id)")

#define STORE_CRC_DATASET_PARTS(row)                                                               \
    "row_crc(" row ".version"                                                                      \
    ", " row ".seq"                                                                                \
    ", " row ".part"                                                                               \
    ")"
#define STORE_INTACT_DATASET_PARTS(row) STORE_INTACT(row, STORE_CRC_DATASET_PARTS(row))
#define STORE_DAMAGE_DATASET_PARTS(row)                                                            \
    STORE_DAMAGE(row, STORE_CRC_DATASET_PARTS(row), "dataset_parts",                               \
                 "quote(" row ".version) || '/' || quote(" row ".seq)")

#define STORE_CRC_DATASET_SUMMARIES(row)                                                           \
    "row_crc(" row ".version"                                                                      \
    ", " row ".column"                                                                             \
    ", " row ".state"                                                                              \
    ")"
#define STORE_INTACT_DATASET_SUMMARIES(row) STORE_INTACT(row, STORE_CRC_DATASET_SUMMARIES(row))
#define STORE_DAMAGE_DATASET_SUMMARIES(row)                                                        \
    STORE_DAMAGE(row, STORE_CRC_DATASET_SUMMARIES(row), "dataset_summaries",                       \
                 "quote(" row ".version) || '/' || quote(" row ".column)")

#define STORE_CRC_MODELS(row)                                                                      \
    "row_crc(" row ".name"                                                                         \
    ", " row ".last_version"                                                                       \
    ", " row ".live"                                                                               \
    ", " row ".newest"                                                                             \
    ", " row ".description"                                                                        \
    ", " row ".tags"                                                                               \
    ", " row ".revision"                                                                           \
    ", " row ".expires_at"                                                                         \
    ")"
#define STORE_INTACT_MODELS(row) STORE_INTACT(row, STORE_CRC_MODELS(row))
#define STORE_DAMAGE_MODELS(row)                                                                   \
    STORE_DAMAGE(row, STORE_CRC_MODELS(row), "models", "quote(" row ".name)")

#define STORE_CRC_MODEL_VERSIONS(row)                                                              \
    "row_crc(" row ".id"                                                                           \
    ", " row ".name"                                                                               \
    ", " row ".version"                                                                            \
    ", " row ".created_at"                                                                         \
    ", " row ".bytes"                                                                              \
    ", " row ".info"                                                                               \
    ", " row ".part"                                                                               \
    ", " row ".format"                                                                             \
    ", " row ".submitted_by"                                                                       \
    ")"
#define STORE_INTACT_MODEL_VERSIONS(row) STORE_INTACT(row, STORE_CRC_MODEL_VERSIONS(row))
#define STORE_DAMAGE_MODEL_VERSIONS(row)                                                           \
    STORE_DAMAGE(row, STORE_CRC_MODEL_VERSIONS(row), "model_versions", "quote(" row ".id)")

#define STORE_CRC_MODEL_RULES(row)                                                                 \
    "row_crc(" row ".version"                                                                      \
    ", " row ".revision"                                                                           \
    ", " row ".rule"                                                                               \
    ", " row ".changed_at"                                                                         \
    ")"
#define STORE_DAMAGE_MODEL_RULES(row)                                                              \
    STORE_DAMAGE(row, STORE_CRC_MODEL_RULES(row), "model_rules", "quote(" row ".version)")

#define STORE_CRC_JOBS(row)                                                                        \
    "row_crc(" row ".id"                                                                           \
    ", " row ".state"                                                                              \
    ", " row ".model"                                                                              \
    ", " row ".algorithm"                                                                          \
    ", " row ".dataset"                                                                            \
    ", " row ".dataset_version"                                                                    \
    ", " row ".dataset_id"                                                                         \
    ", " row ".spec"                                                                               \
    ", " row ".created_at"                                                                         \
    ", " row ".started_at"                                                                         \
    ", " row ".finished_at"                                                                        \
    ", " row ".attempts"                                                                           \
    ", " row ".owner"                                                                              \
    ", " row ".lease_until"                                                                        \
    ", " row ".cancel_requested"                                                                   \
    ", " row ".progress"                                                                           \
    ", " row ".warnings"                                                                           \
    ", " row ".error"                                                                              \
    ", " row ".result"                                                                             \
    ", " row ".version"                                                                            \
    ", " row ".last_event"                                                                         \
    ", " row ".n_progress"                                                                         \
    ", " row ".spec_format"                                                                        \
    ", " row ".result_format"                                                                      \
    ", " row ".token"                                                                              \
    ", " row ".submitted_by"                                                                       \
    ", " row ".expires_in"                                                                         \
    ")"
#define STORE_INTACT_JOBS(row) STORE_INTACT(row, STORE_CRC_JOBS(row))
#define STORE_DAMAGE_JOBS(row) STORE_DAMAGE(row, STORE_CRC_JOBS(row), "jobs", "quote(" row ".id)")

#define STORE_CRC_JOB_REQUESTS(row)                                                                \
    "row_crc(" row ".job"                                                                          \
    ", " row ".request"                                                                            \
    ")"
#define STORE_INTACT_JOB_REQUESTS(row) STORE_INTACT(row, STORE_CRC_JOB_REQUESTS(row))
#define STORE_DAMAGE_JOB_REQUESTS(row)                                                             \
    STORE_DAMAGE(row, STORE_CRC_JOB_REQUESTS(row), "job_requests", "quote(" row ".job)")

#define STORE_CRC_JOB_PINS(row)                                                                    \
    "row_crc(" row ".job"                                                                          \
    ", " row ".version"                                                                            \
    ")"
#define STORE_INTACT_JOB_PINS(row) STORE_INTACT(row, STORE_CRC_JOB_PINS(row))
#define STORE_DAMAGE_JOB_PINS(row)                                                                 \
    STORE_DAMAGE(row, STORE_CRC_JOB_PINS(row), "job_pins",                                         \
                 "quote(" row ".job) || '/' || quote(" row ".version)")

#define STORE_CRC_JOB_EVENTS(row)                                                                  \
    "row_crc(" row ".job"                                                                          \
    ", " row ".seq"                                                                                \
    ", " row ".kind"                                                                               \
    ", " row ".progress"                                                                           \
    ", " row ".state"                                                                              \
    ", " row ".attempts"                                                                           \
    ", " row ".started_at"                                                                         \
    ", " row ".warnings"                                                                           \
    ")"
#define STORE_INTACT_JOB_EVENTS(row) STORE_INTACT(row, STORE_CRC_JOB_EVENTS(row))
#define STORE_DAMAGE_JOB_EVENTS(row)                                                               \
    STORE_DAMAGE(row, STORE_CRC_JOB_EVENTS(row), "job_events",                                     \
                 "quote(" row ".job) || '/' || quote(" row ".seq)")

#define STORE_CRC_IDEMPOTENCY_KEYS(row)                                                            \
    "row_crc(" row ".id"                                                                           \
    ", " row ".owner"                                                                              \
    ", " row ".key"                                                                                \
    ", " row ".created_at"                                                                         \
    ", " row ".request"                                                                            \
    ", " row ".body"                                                                               \
    ", " row ".status"                                                                             \
    ", " row ".location"                                                                           \
    ", " row ".etag"                                                                               \
    ", " row ".bytes"                                                                              \
    ", " row ".answer"                                                                             \
    ")"
#define STORE_INTACT_IDEMPOTENCY_KEYS(row) STORE_INTACT(row, STORE_CRC_IDEMPOTENCY_KEYS(row))
#define STORE_DAMAGE_IDEMPOTENCY_KEYS(row)                                                         \
    STORE_DAMAGE(row, STORE_CRC_IDEMPOTENCY_KEYS(row), "idempotency_keys", "quote(" row ".id)")

#define STORE_CRC_JOB_TRIALS(row)                                                                  \
    "row_crc(" row ".id"                                                                           \
    ", " row ".job"                                                                                \
    ", " row ".doc"                                                                                \
    ")"
#define STORE_DAMAGE_JOB_TRIALS(row)                                                               \
    STORE_DAMAGE(row, STORE_CRC_JOB_TRIALS(row), "job_trials", "quote(" row ".id)")

#define STORE_CRC_JOB_HISTORY(row)                                                                 \
    "row_crc(" row ".id"                                                                           \
    ", " row ".job"                                                                                \
    ", " row ".snapshot"                                                                           \
    ", " row ".iteration"                                                                          \
    ", " row ".doc"                                                                                \
    ")"
#define STORE_INTACT_JOB_HISTORY(row) STORE_INTACT(row, STORE_CRC_JOB_HISTORY(row))
#define STORE_DAMAGE_JOB_HISTORY(row)                                                              \
    STORE_DAMAGE(row, STORE_CRC_JOB_HISTORY(row), "job_history", "quote(" row ".id)")

#endif
