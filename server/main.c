/* discernd: reads options, starts the modules, waits for a signal, shuts down. Wiring only. */
#include "api/api.h"
#include "auth/auth.h"
#include "base/ids.h"
#include "base/log/log.h"
#include "base/memory/heap.h"
#include "base/process/clock.h"
#include "base/process/sandbox.h"
#include "base/process/threads.h"
#include "blas.h"
#include "commands/commands.h"
#include "healthcheck.h"
#include "http/http.h"
#include "jobs/jobs.h"
#include "jobs/ranks/launcher.h"
#include "serving/serving.h"
#include "settings.h"
#include "store/copies.h"
#include "store/store.h"
#include "supervisor.h"
#include <discern/discern.h>
#include <errno.h>
#include <libgen.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define EXIT_USAGE 2 /* exit status if the daemon refuses to start */
#define MAX_WAIT_SECONDS 50
#define ABANDON_MS 5000 /* longest wait for the jobs to be queued again, if a call does not end */

/* Settings and modules of the daemon. */
struct daemon {
    struct settings settings;
    char *database;            /* its name for messages; NULL: out of memory */
    struct sandbox sandbox;    /* what is in force */
    struct launcher *launcher; /* NULL: no --mpi */
    struct store *store;
    struct serving *serving;
    _Atomic(struct auth *) auth; /* NULL: no tokens */
    struct jobs *jobs;
    struct api_app app; /* http_start sets app.server before the first call */
    pthread_t signals, notifier;
    bool notifier_started;
    atomic_bool stopping;       /* the notifier thread must end */
    pthread_mutex_t lock;       /* guards the next two */
    struct http_server *server; /* reads its files again on SIGHUP; NULL: does not run */
    pthread_cond_t cond;
    int asked; /* signal that asked for the shutdown; 0: none */
};

/* Signals are received by a handler and a semaphore, not by sigwait: OpenBLAS has started threads
 * before main, which block no signals. With the default action, a signal delivered to one of them
 * would end the process. */
static sem_t signal_arrived;
static volatile sig_atomic_t signal_number; /* of the last SIGTERM or SIGINT */
static atomic_int n_hangups, n_ends;        /* signals that have arrived: SIGHUP, the others */

static void taken_signals(sigset_t *set) {
    sigemptyset(set);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
}

static void on_signal(int sig) {
    const int saved = errno;
    if (sig == SIGHUP) {
        atomic_fetch_add(&n_hangups, 1);
    } else {
        signal_number = sig;
        atomic_fetch_add(&n_ends, 1);
    }
    (void)sem_post(&signal_arrived);
    errno = saved;
}

/* The first signal requests the shutdown, a second one ends the process at once. */
static void take_end(struct daemon *d, int sig) {
    pthread_mutex_lock(&d->lock);
    bool second = d->asked != 0;
    d->asked = sig;
    pthread_cond_signal(&d->cond);
    pthread_mutex_unlock(&d->lock);
    if (second) {
        _exit(128 + sig);
    }
}

static void reload(struct daemon *d) {
    struct auth *auth = atomic_load(&d->auth);
    if (auth != NULL) {
        auth_reload(auth);
    }
    pthread_mutex_lock(&d->lock);
    if (d->server != NULL) {
        http_reload(d->server);
    }
    pthread_mutex_unlock(&d->lock);
}

static void set_reloaded(struct daemon *d, struct http_server *server) {
    pthread_mutex_lock(&d->lock);
    d->server = server;
    pthread_mutex_unlock(&d->lock);
}

static void *signals_main(void *arg) {
    struct daemon *d = arg;
    int hangups = 0, ends = 0; /* signals taken */
    sigset_t set;
    taken_signals(&set);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    for (;;) {
        if (sem_wait(&signal_arrived) != 0) {
            continue; /* interrupted by a signal (EINTR) */
        }
        for (; ends < atomic_load(&n_ends); ends++) {
            take_end(d, signal_number);
        }
        if (hangups != atomic_load(&n_hangups)) {
            hangups = atomic_load(&n_hangups);
            reload(d);
        }
    }
    return NULL;
}

/* Wakes the calls and event streams that wait for a job, when this job has changed. */
static void *notifier_main(void *arg) {
    struct daemon *d = arg;
    int64_t seen = store_changes_last(d->store);
    while (!atomic_load(&d->stopping)) {
        struct store_change changes[64];
        bool lost = false;
        (void)store_changes_wait(d->store, seen, 1000);
        const size_t n =
            store_changes(d->store, seen, changes, sizeof changes / sizeof changes[0], &lost);
        if (lost || store_appends_wait(d->store)) {
            http_poke(d->app.server, 0);
        }
        for (size_t i = 0; i < n; i++) {
            if (changes[i].kind == STORE_CHANGE_JOB) {
                http_poke(d->app.server, changes[i].job);
            }
            seen = changes[i].seq;
        }
    }
    return NULL;
}

static bool start_signals(struct daemon *d) {
    struct sigaction take = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigset_t set; /* blocked in all threads started from here; signals_main unblocks them */
    sigemptyset(&take.sa_mask);
    taken_signals(&set);
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->cond, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a write beyond RLIMIT_FSIZE fails with EFBIG */
    return sem_init(&signal_arrived, 0, 0) == 0 && pthread_sigmask(SIG_BLOCK, &set, NULL) == 0 &&
           pthread_create(&d->signals, NULL, signals_main, d) == 0 &&
           sigaction(SIGHUP, &take, NULL) == 0 && sigaction(SIGTERM, &take, NULL) == 0 &&
           sigaction(SIGINT, &take, NULL) == 0;
}

static bool write_port_file(const char *path, int port, struct problem *problem) {
    char temporary[4096];
    if ((size_t)snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)getpid()) >=
        sizeof temporary) {
        return problem_set(problem, PROBLEM_INTERNAL, "--port-file: the name is too long");
    }
    FILE *f = fopen(temporary, "we");
    bool good = f && fprintf(f, "%d\n", port) > 0;
    good = f && fclose(f) == 0 && good;
    if (!good || rename(temporary, path) != 0) {
        return problem_set(problem, PROBLEM_INTERNAL, "--port-file %s cannot be written: %s", path,
                           strerror(errno));
    }
    return true;
}

static bool app_draining(const struct api_app *app) {
    return http_draining(app->server);
}

/* Adds an entry to the audit for what is no call. */
static void audit(struct store *store, const char *action, const char *result, const char *detail) {
    const struct store_audit_new entry = {.action = action, .result = result, .detail = detail};
    struct problem problem = {0};
    if (!store_audit_add(store, &entry, &problem)) {
        log_warn("audit.failed", log_str("action", action), log_str("problem", problem.detail));
    }
    problem_done(&problem);
}

static void on_tls(void *app, bool loaded, const char *what) {
    audit(((const struct api_app *)app)->store, "tls.reload", loaded ? "done" : "refused", what);
}

static void on_tokens(void *arg, const struct auth_event *event) {
    const struct daemon *d = arg;
    audit(d->store, "tokens.reload", event->loaded ? "done" : "refused", event->what);
}

static struct http_settings http_settings_of(const struct settings *s) {
    return (struct http_settings){
        .listen = s->listen,
        .health_listen = s->health_listen,
        .io_threads = s->http_threads,
        .pool_threads = s->call_threads,
        .max_waiting = s->max_waiting_calls,
        .max_connections = s->max_connections,
        .max_connections_per_address = s->max_connections_per_address,
        .header_timeout = s->header_timeout,
        .idle_timeout = s->idle_timeout,
        .keep_alive_timeout = s->keep_alive_timeout,
        .minimum_rate = (double)s->minimum_rate,
        .discard_limit = s->discard_limit,
        .discard_time = s->discard_time,
        .body_memory = s->body_memory,
        .drain_delay = s->drain_delay,
        .base_path = s->base_path,
        .allowed_hosts = s->allowed_hosts,
        .allow_origins = s->allow_origins,
        .trusted_proxies = s->trusted_proxies,
        .check_host = s->tokens == NULL,
        .tls_cert = s->tls_cert,
        .tls_key = s->tls_key,
        .tls_client_ca = s->tls_client_ca,
        .admit = api_admit,
        .cross_origin = api_cross_origin,
        .change = api_change,
        .tls_read = on_tls,
    };
}

static void log_listening(const struct daemon *d) {
    const char *address = http_address(d->app.server);
    char event[256]; /* text that people and scripts search for, in both log formats */
    (void)snprintf(event, sizeof event, "listening on %s", address);
    log_info(event, log_str("address", address), log_str("database", d->database),
             log_int("workers", d->settings.workers));
    const char *health = http_health_address(d->app.server);
    if (health != NULL) {
        log_info("health.listening", log_str("address", health));
    }
    if (!d->settings.no_sandbox && (d->sandbox.landlock == 0 || !d->sandbox.seccomp)) {
        log_warn("sandbox.incomplete", log_str("landlock", d->sandbox.landlock ? "on" : "off"),
                 log_str("seccomp", d->sandbox.seccomp ? "on" : "off"),
                 log_str("reason", "the kernel does not have it or does not allow it"));
    }
}

static bool start_http(struct daemon *d, struct problem *problem) {
    const struct settings *s = &d->settings;
    const struct http_settings http = http_settings_of(s);
    if (!http_start(&http, api_routes, api_n_routes, &d->app, &d->app.server, problem)) {
        return false;
    }
    set_reloaded(d, d->app.server);
    log_listening(d);
    return !s->port_file || write_port_file(s->port_file, http_port(d->app.server), problem);
}

static bool open_tokens(struct daemon *d, struct problem *problem) {
    struct auth *auth = NULL;
    if (d->settings.tokens == NULL) {
        return true;
    }
    if (!auth_open(d->settings.tokens, &auth, problem)) {
        return false;
    }
    atomic_store(&d->auth, auth);
    return true;
}

/* As max_bytes of struct jobs_settings. The limit of the token as it is now; 0 after its removal. */
static int64_t max_bytes(void *arg, const char *owner) {
    struct auth *auth = arg;
    const struct auth_token *token = NULL;
    if (auth == NULL || auth_find_named(auth, owner, &token) == AUTH_UNKNOWN) {
        return 0;
    }
    const int64_t bytes = token->limits.bytes;
    auth_release(token);
    return bytes;
}

/* Starts all modules. Returns false on failure and sets problem; stop() must be called then,
 * too. */
static bool start(struct daemon *d, struct problem *problem) {
    const struct settings *s = &d->settings;
    struct store_settings store = {.path = s->database,
                                   .keep_audit = s->keep_audit,
                                   .no_hints = s->tokens != NULL,
                                   .no_backup = s->no_upgrade_backup};
    struct jobs_settings jobs = {
        .workers = s->workers,
        .train_threads = s->train_threads,
        .memory_bytes = s->job_memory,
        .seconds = s->job_seconds,
        .attempts = s->job_attempts,
        .keep_jobs = s->keep_jobs,
        .keep_versions = s->keep_versions,
        .launcher = d->launcher,
        /* the daemon that trains the job divides it as far as its own --mpi allows */
        .ranks = s->workers == 0 && s->mpi == NULL ? DN_MAX_RANKS : s->mpi_command.ranks,
        .ranks_above = s->mpi_above,
    };
    if (!open_tokens(d, problem)) {
        return false;
    }
    jobs.max_bytes = max_bytes;
    jobs.max_bytes_arg = atomic_load(&d->auth);
    if (!http_probe_listen(s->listen, problem) ||
        (s->health_listen != NULL && !http_probe_listen(s->health_listen, problem)) ||
        !store_open(&store, &d->store, problem) ||
        !serving_open(d->store, s->model_cache, &api_predict_plans, &d->serving, problem) ||
        !jobs_start(d->store, &jobs, &d->jobs, problem)) {
        return false;
    }
    d->app = (struct api_app){
        .store = d->store,
        .jobs = d->jobs,
        .serving = d->serving,
        .auth = atomic_load(&d->auth),
        .base_path = s->base_path,
        .no_ui = s->no_ui,
        .no_serve = s->no_serve,
        .max_upload = s->max_upload,
        .max_body = s->max_body,
        .spool_dir = s->spool_dir,
        .max_spool = s->max_spool,
        .max_queued_jobs = s->max_queued_jobs,
        .max_keys = s->idempotency_keys,
        .max_wait_seconds = MAX_WAIT_SECONDS,
        .client_certificates = s->tls_client_ca != NULL,
        .started_ms = clock_real_ms(),
        .draining = app_draining,
    };
    api_metrics_register(&d->app);
    store_backup_clean(s->spool_dir);
    audit(d->store, "daemon.start", "done",
          s->tokens != NULL ? "discernd " DISCERN_VERSION ", with tokens"
                            : "discernd " DISCERN_VERSION ", without tokens");
    if (d->app.auth != NULL) {
        auth_watch(d->app.auth, on_tokens, d);
    }
    if (!start_http(d, problem)) {
        return false;
    }
    /* called last: a job that crashes the process again must not prevent the daemon from serving */
    jobs_open(d->jobs);
    d->notifier_started = pthread_create(&d->notifier, NULL, notifier_main, d) == 0;
    return d->notifier_started || problem_set(problem, PROBLEM_INTERNAL, "cannot start a thread");
}

static void sleep_seconds(double seconds) {
    struct timespec left = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

/* Ends the process although a call does not end: the modules that the call uses cannot be closed.
 * The jobs are queued again first. The database file is consistent at any time. */
static _Noreturn void abandon(struct daemon *d) {
    const bool given_back = jobs_await_drain(d->jobs, ABANDON_MS);
    log_error("drain.abandoned", log_str("reason", "a call did not end"),
              log_str("jobs", given_back ? "given back to the queue"
                                         : "still running, the next start queues them again"));
    _exit(EXIT_FAILURE);
}

/* Waits until requests in flight have ended, queues running jobs again, and closes all modules in
 * the reverse order of the start. */
static void stop(struct daemon *d) {
    const struct settings *s = &d->settings;
    if (d->app.server) {
        http_drain(d->app.server);
        jobs_drain(d->jobs);
        if (s->drain_delay > 0) {
            sleep_seconds(s->drain_delay); /* connections are still accepted during this time */
        }
        if (!http_idle(d->app.server, s->drain_timeout)) {
            log_warn("drain.timeout", log_dbl("seconds", s->drain_timeout));
        }
    }
    if (d->notifier_started) {
        atomic_store(&d->stopping, true);
        store_wake(d->store);
        pthread_join(d->notifier, NULL);
    }
    set_reloaded(d, NULL);
    if (!http_stop(d->app.server)) {
        abandon(d);
    }
    jobs_stop(d->jobs);
    launcher_stop(d->launcher);
    auth_stop(atomic_load(&d->auth));
    api_metrics_forget(&d->app);
    serving_close(d->serving);
    store_close(d->store);
}

/* Ends the thread, which waits in sem_wait, a cancellation point. */
static void stop_signals(struct daemon *d) {
    pthread_cancel(d->signals);
    pthread_join(d->signals, NULL);
}

/* Waits until a shutdown is requested, at most this long; 0: without a limit. Returns the signal; 0:
 * none. */
static int wait_for_signal(struct daemon *d, int64_t ms) {
    struct timespec end;
    (void)clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += (time_t)(ms / 1000);
    end.tv_nsec += (long)(ms % 1000) * 1000000;
    end.tv_sec += end.tv_nsec / 1000000000;
    end.tv_nsec %= 1000000000;
    pthread_mutex_lock(&d->lock);
    int failed = 0;
    while (d->asked == 0 && failed == 0) {
        failed = ms > 0 ? pthread_cond_timedwait(&d->cond, &d->lock, &end)
                        : pthread_cond_wait(&d->cond, &d->lock);
    }
    const int sig = d->asked;
    pthread_mutex_unlock(&d->lock);
    return sig;
}

/* Serves until a shutdown is requested. Meanwhile tells the watchdog that the daemon answers. */
static int serve(struct daemon *d) {
    const int64_t limit = supervisor_watchdog_ms();
    const char *health = http_health_address(d->app.server);
    const char *address = health ? health : http_address(d->app.server);
    const bool tls = strncmp(address, "https://", 8) == 0;
    const char *scheme_end = strstr(address, "://");
    const char *plain = scheme_end != NULL ? scheme_end + 3 : address;
    int sig;
    supervisor_tell("READY=1");
    while ((sig = wait_for_signal(d, limit > 0 ? limit / 3 + 1 : 0)) == 0) {
        if (healthcheck_answers(plain, tls)) {
            supervisor_tell("WATCHDOG=1");
        }
    }
    supervisor_tell("STOPPING=1");
    return sig;
}

/* Returns the number of threads that may be in BLAS at the same time. */
static int64_t blas_threads(const struct settings *s) {
    int64_t cores = sysconf(_SC_NPROCESSORS_ONLN);
    int64_t io = s->http_threads > 0 ? s->http_threads : (cores < 4 ? cores : 4);
    return s->workers * (s->train_threads > 0 ? s->train_threads : cores) + 2 * s->call_threads +
           io;
}

/* Checks all settings, before anything is written to the disk. */
static bool check(struct settings *s, struct problem *problem) {
    if (!settings_check(s, problem)) {
        return false;
    }
    const struct http_settings http = http_settings_of(s);
    return http_check_settings(&http, problem);
}

static int refuse(struct problem *problem) {
    fprintf(stderr, "discernd: %s\n", problem->detail ? problem->detail : "out of memory");
    problem_done(problem);
    return EXIT_USAGE;
}

static void open_log(const struct settings *s) {
    enum log_format format = LOG_TEXT;
    enum log_level level = LOG_INFO;
    /* the option table has already checked both words */
    (void)log_format_parse(s->log_format, &format);
    (void)log_level_parse(s->log_level, &level);
    log_open(STDERR_FILENO, format, level);
}

/* Paths of folders, of which NULL are left out. */
struct folders {
    char **paths; /* [n] */
    size_t n;
};

/* Takes over the path; NULL: none. Without memory it is left out. */
static void take_path(struct folders *f, char *path) {
    char **more = path != NULL ? realloc(f->paths, (f->n + 1) * sizeof *more) : NULL;
    if (more == NULL) {
        free(path);
        return;
    }
    f->paths = more;
    f->paths[f->n++] = path;
}

/* Adds the folder of a file; path NULL: none. resolve: the folder of
 * the file that symbolic links lead to. */
static void add_folder(struct folders *f, const char *path, bool resolve) {
    char *copy = path == NULL ? NULL : resolve ? realpath(path, NULL) : strdup(path);
    char *folder = copy != NULL ? strdup(dirname(copy)) : NULL;
    free(copy);
    take_path(f, folder);
}

static void folders_done(struct folders *f) {
    for (size_t i = 0; i < f->n; i++) {
        free(f->paths[i]);
    }
    free(f->paths);
}

/* The same of a listen address "unix:PATH"; NULL: none. Other addresses have no folder. */
static void add_folder_of_socket(struct folders *f, const char *address) {
    if (address != NULL && strncmp(address, "unix:", 5) == 0) {
        add_folder(f, address + 5, false);
    }
}

/* Adds a file, or a folder with all that is below it. */
static void add_path(void *folders, const char *path) {
    take_path(folders, strdup(path));
}

/* Allows the files that the daemon needs. A database that is a symbolic link has its other files in
 * the folder that the link names. New tokens and certificates replace the old ones in their
 * folders: that of the link, and that of the file which the link names. */
static void enter_sandbox(struct daemon *d) {
    const struct settings *s = &d->settings;
    const char *const read_again[] = {s->tokens, s->tls_cert, s->tls_key, s->tls_client_ca};
    struct folders made = {0}, readable = {0};
    take_path(&made, strdup(s->spool_dir));
    add_folder(&made, store_database_file(s->database), false);
    add_folder(&made, store_database_file(s->database), true);
    add_folder(&made, s->port_file, false);
    add_folder_of_socket(&made, s->listen);
    add_folder_of_socket(&made, s->health_listen);
    for (size_t i = 0; i < sizeof read_again / sizeof read_again[0]; i++) {
        add_folder(&readable, read_again[i], false);
        add_folder(&readable, read_again[i], true);
    }
    store_database_reads(s->database, add_path, &readable);
    d->sandbox = sandbox_enter((const char *const *)made.paths, made.n,
                               (const char *const *)readable.paths, readable.n);
    folders_done(&made);
    folders_done(&readable);
}

int main(int argc, char **argv) {
    static struct daemon d;
    struct problem problem = {0};
    int status = EXIT_USAGE;
    if (commands_run(argc, argv, &status)) {
        return status;
    }
    heap_share();
    threads_set_stack();
    if (!options_read(settings_rows, settings_n_rows, argc, argv, &d.settings, &problem)) {
        return refuse(&problem);
    }
    if (d.settings.help) {
        settings_help(stdout);
        return EXIT_SUCCESS;
    }
    if (d.settings.version) {
        printf("discernd %s\n", DISCERN_VERSION);
        return EXIT_SUCCESS;
    }
    if (d.settings.healthcheck) {
        return healthcheck_run(d.settings.health_listen != NULL ? d.settings.health_listen
                                                                : d.settings.listen,
                               d.settings.port_file,
                               d.settings.health_listen == NULL && d.settings.tls_cert != NULL)
                   ? EXIT_SUCCESS
                   : EXIT_FAILURE;
    }
    if (!check(&d.settings, &problem) ||
        (d.settings.mpi != NULL &&
         !launcher_start(&d.settings.mpi_command, d.settings.database, &d.launcher, &problem)) ||
        !blas_prepare(blas_threads(&d.settings), &problem)) {
        return refuse(&problem);
    }
    open_log(&d.settings);
    d.database = store_database_name(d.settings.database);
    if (!d.settings.no_sandbox) {
        enter_sandbox(&d); /* before the first thread */
    }
    if (!ids_init() || !start_signals(&d)) {
        fprintf(stderr, "discernd: cannot start: %s\n", strerror(errno));
        return EXIT_USAGE;
    }
    (void)log_gather_start(); /* if it fails, each line is written at once */
    if (!start(&d, &problem)) {
        int code = refuse(&problem);
        stop(&d);
        stop_signals(&d);
        auth_close(atomic_load(&d.auth));
        log_gather_stop();
        return code;
    }
    int sig = serve(&d);
    log_info("draining", log_str("signal", sig == SIGTERM ? "SIGTERM" : "SIGINT"));
    stop(&d);
    stop_signals(&d);
    auth_close(atomic_load(&d.auth));
    log_gather_stop();
    log_info("stopped", log_str("database", d.database));
    free(d.database);
    return EXIT_SUCCESS;
}
