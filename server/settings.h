/* The daemon's settings, and the option table that sets them. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "base/options/options.h"
#include "jobs/ranks/mpi_command.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct settings {
    const char *listen;        /* ADDRESS:PORT, [ADDRESS]:PORT, unix:PATH */
    const char *health_listen; /* as listen; NULL: none */
    const char *port_file;     /* NULL: none */
    const char *database;      /* path of the database file */
    bool no_upgrade_backup;
    bool no_serve;
    bool no_ui;
    /* folder of temporary files; settings_check replaces NULL by the folder of the database */
    const char *spool_dir;
    const char *base_path; /* "" or "/prefix" */
    struct option_list allowed_hosts, allow_origins, trusted_proxies;
    /* addresses other than loopback are allowed, without tokens too */
    bool insecure;
    bool no_sandbox;
    const char *tls_cert, *tls_key, *tls_client_ca; /* paths; NULL: none */
    const char *tokens; /* path of the token file; NULL: no call needs a token */
    int64_t workers, http_threads, call_threads, train_threads;
    int64_t max_upload, max_body, max_spool, body_memory, discard_limit; /* in bytes */
    int64_t max_waiting_calls, max_connections, max_connections_per_address;
    double header_timeout, idle_timeout, keep_alive_timeout, discard_time; /* in seconds */
    int64_t minimum_rate;                                                  /* in bytes per second */
    double drain_delay, drain_timeout;                                     /* in seconds */
    int64_t job_attempts, job_memory, max_queued_jobs, keep_jobs, keep_versions, model_cache;
    int64_t keep_audit;
    int64_t idempotency_keys;
    double job_seconds;
    const char *mpi;                /* NULL: jobs are trained by the daemon alone */
    struct mpi_command mpi_command; /* of `mpi`; set by settings_check */
    int64_t mpi_above;              /* in bytes; 0: only jobs with limits.ranks get ranks */
    const char *log_format, *log_level;
    bool healthcheck, version, help;
};

extern const struct option_row settings_rows[];
extern const size_t settings_n_rows;

/* Checks what the option table cannot check: the form of the base path, file names, the spool
 * folder, limits that depend on each other, an address other than loopback without --tokens and
 * --insecure. */
bool settings_check(struct settings *s, struct problem *problem);
void settings_help(FILE *out);

#endif
