/* The daemon's settings: the one table of options, and what it fills. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "base/options/options.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct settings {
    const char *listen;    /* ADDRESS:PORT, [ADDRESS]:PORT, unix:PATH */
    const char *port_file; /* NULL: none */
    const char *database;  /* file */
    bool no_upgrade_backup;
    const char *spool_dir; /* folder; settings_check makes NULL the database's */
    const char *base_path; /* "" or "/prefix" */
    struct option_list allowed_hosts, allow_origins, trusted_proxies;
    bool insecure; /* listening beyond loopback without tokens is meant */
    int64_t workers, http_threads, call_threads, train_threads;
    int64_t max_upload, max_body, max_spool, body_memory, discard_limit; /* bytes */
    int64_t max_connections, max_connections_per_address;
    double header_timeout, idle_timeout, keep_alive_timeout, discard_time; /* s */
    int64_t minimum_rate;                                                  /* bytes/s */
    double drain_delay, drain_timeout;                                     /* s */
    int64_t job_attempts, job_memory, max_queued_jobs, keep_jobs, keep_versions, model_cache;
    double job_seconds;
    const char *log_format, *log_level;
    bool healthcheck, version, help;
};

extern const struct option_row settings_rows[];
extern const size_t settings_n_rows;

/* What the table cannot check by itself: base path's form, log words, listening beyond loopback
 * without --insecure. */
bool settings_check(struct settings *s, struct problem *problem);
void settings_help(FILE *out);

#endif
