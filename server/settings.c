/* The option table, and the rules that concern several options. */
#include "settings.h"

#include "base/process/spool.h"
#include "commands/commands.h"
#include "http/http.h"
#include "store/store.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define AT(member) offsetof(struct settings, member)

const struct option_row settings_rows[] = {
    {"listen", OPTION_STRING, AT(listen), "127.0.0.1:8080", 0, 0, NULL, "ADDRESS:PORT",
     "Address to listen on: 127.0.0.1:8080, [::]:8080 or unix:PATH. Port 0 takes a free port. A "
     "socket passed by systemd overrides it.",
     "Listening"},
    {"health-listen", OPTION_STRING, AT(health_listen), NULL, 0, 0, NULL, "ADDRESS:PORT",
     "Further address that serves /healthz, /readyz and /metrics only, with a thread and "
     "connections of its own.",
     "Listening"},
    {"port-file", OPTION_STRING, AT(port_file), NULL, 0, 0, NULL, "FILE",
     "File to write the port to when the daemon listens.", "Listening"},
    {"insecure", OPTION_FLAG, AT(insecure), NULL, 0, 0, NULL, NULL,
     "Allow an address beyond loopback without --tokens or --tls-client-ca: everyone who reaches "
     "the port may read "
     "and "
     "change all data.",
     "Listening"},
    {"tokens", OPTION_STRING, AT(tokens), NULL, 0, 0, NULL, "FILE",
     "Token file: calls need a token, except health checks, problem types, the manual and the "
     "page. It is read again on "
     "SIGHUP and when it has changed. discernd token --help shows how to make tokens.",
     "Listening"},
    {"tls-cert", OPTION_STRING, AT(tls_cert), NULL, 0, 0, NULL, "FILE",
     "Serve --listen by TLS 1.2 and 1.3, with this certificate and those that lead to its "
     "authority (PEM). It is read again on SIGHUP and when it has changed.",
     "Listening"},
    {"tls-key", OPTION_STRING, AT(tls_key), NULL, 0, 0, NULL, "FILE",
     "Private key of the certificate (PEM, without a password, not readable by others).",
     "Listening"},
    {"tls-client-ca", OPTION_STRING, AT(tls_client_ca), NULL, 0, 0, NULL, "FILE",
     "Certificates of authorities (PEM). A client with a certificate by one of them may call: with "
     "--tokens as the token that the certificate's common name (CN) names, otherwise without a "
     "limit.",
     "Listening"},
    {"base-path", OPTION_STRING, AT(base_path), "", 0, 0, NULL, "/PREFIX",
     "Prefix of every Location and link, for a proxy that serves Discern under a path.",
     "Listening"},
    {"no-ui", OPTION_FLAG, AT(no_ui), NULL, 0, 0, NULL, NULL,
     "Serve no page for browsers: GET / is JSON for them, too.", "Listening"},
    {"allowed-host", OPTION_LIST, AT(allowed_hosts), NULL, 0, 0, NULL, "HOST,…",
     "Further Host names to accept, besides localhost, loopback addresses and the listen address.",
     "Listening"},
    {"allow-origin", OPTION_LIST, AT(allow_origins), NULL, 0, 0, NULL, "ORIGIN,…",
     "Origins whose pages may call the API from a browser (https://app.example).", "Listening"},
    {"trusted-proxy", OPTION_LIST, AT(trusted_proxies), NULL, 0, 0, NULL, "ADDRESS[/BITS],…",
     "Proxies whose Forwarded and X-Forwarded-* headers are believed; unix for peers on a unix "
     "socket.",
     "Listening"},
    {"database", OPTION_STRING, AT(database), "discern.db", 0, 0, NULL, "FILE",
     "Database file, created if it does not exist; or postgresql://USER@HOST/NAME.", "Storage"},
    {"no-upgrade-backup", OPTION_FLAG, AT(no_upgrade_backup), NULL, 0, 0, NULL, NULL,
     "Skip the copy FILE.before-NUMBER that an upgrade makes before it changes the tables.",
     "Storage"},
    {"keep-audit", OPTION_INT, AT(keep_audit), "0", 0, 1e12, NULL, "N",
     "Number of entries of the audit to keep; the oldest are deleted when there are a tenth more; "
     "0: all.",
     "Storage"},
    {"spool-dir", OPTION_STRING, AT(spool_dir), NULL, 0, 0, NULL, "FOLDER",
     "Folder of the temporary files that hold answers to NDJSON bodies until they are sent. "
     "Default: the folder of the database; with PostgreSQL $TMPDIR or /tmp.",
     "Storage"},
    {"model-cache", OPTION_SIZE, AT(model_cache), "256M", 0, 1e15, NULL, "BYTES",
     "Memory for loaded models. Beyond it, models that are not in use are unloaded; they stay in "
     "the "
     "database.",
     "Storage"},
    {"idempotency-keys", OPTION_INT, AT(idempotency_keys), "10000", 0, 1e9, NULL, "N",
     "Maximum number of Idempotency-Keys of a token in 24 hours, or of all clients without tokens; "
     "beyond it the answer is 429; 0: no limit.",
     "Storage"},
    {"workers", OPTION_INT, AT(workers), "2", 0, 256, NULL, "N",
     "Training jobs that run at once; 0: jobs are left to other daemons of a database of "
     "PostgreSQL.",
     "Jobs"},
    {"no-serve", OPTION_FLAG, AT(no_serve), NULL, 0, 0, NULL, NULL,
     "Serve only /healthz, /readyz and /metrics: the daemon trains for other daemons of a database "
     "of PostgreSQL.",
     "Jobs"},
    {"train-threads", OPTION_INT, AT(train_threads), "0", 0, 1024, NULL, "N",
     "Maximum number of threads of a job; 0: one for each core. Results do not depend on it.",
     "Jobs"},
    {"job-attempts", OPTION_INT, AT(job_attempts), "3", 1, 1000, NULL, "N",
     "How often at most a job is started if the daemon ends while the job runs; then it fails.",
     "Jobs"},
    {"job-memory", OPTION_SIZE, AT(job_memory), "2G", 1 << 20, 1e15, NULL, "BYTES",
     "Maximum memory of a job.", "Jobs"},
    {"job-seconds", OPTION_SECONDS, AT(job_seconds), "0", 0, 1e9, NULL, "SECONDS",
     "Maximum run time of a job; 0: no limit.", "Jobs"},
    {"mpi", OPTION_STRING, AT(mpi), NULL, 0, 0, NULL, "COMMAND",
     "Command that starts the processes (ranks) of a job with limits.ranks, as \"mpirun -n 4 "
     "--hostfile hosts\". The number after -n is the most ranks of a job, which replace it. The "
     "words are separated by blanks; no shell reads them. Not needed with --workers 0.",
     "Jobs"},
    {"mpi-above", OPTION_SIZE, AT(mpi_above), "0", 0, 1e15, NULL, "BYTES",
     "A job without limits.ranks gets all ranks of --mpi (with --workers 0: of the daemon that "
     "trains it) if its dataset is larger and its method can use them; 0: none does.",
     "Jobs"},
    {"max-queued-jobs", OPTION_INT, AT(max_queued_jobs), "10000", 0, 1e9, NULL, "N",
     "Maximum number of queued jobs; beyond it the answer is 503; 0: no limit.", "Jobs"},
    {"keep-jobs", OPTION_INT, AT(keep_jobs), "10000", 0, 1e12, NULL, "N",
     "Number of ended jobs to keep; 0: all.", "Jobs"},
    {"keep-versions", OPTION_INT, AT(keep_versions), "0", 0, 1e9, NULL, "N",
     "Versions of each model to keep, the live version in any case; 0: all.", "Jobs"},
    {"http-threads", OPTION_INT, AT(http_threads), "0", 0, HTTP_MAX_IO_THREADS, NULL, "N",
     "Threads that serve connections; 0: one for each core, at most 4.", "Limits"},
    {"call-threads", OPTION_INT, AT(call_threads), "4", 1, 256, NULL, "N",
     "Threads for calls that wait for the database or compute for a short time; as many long calls "
     "compute at once, at most one for each core.",
     "Limits"},
    {"max-waiting-calls", OPTION_INT, AT(max_waiting_calls), "256", 1, 1e6, NULL, "N",
     "Maximum number of long calls that wait to compute, a quarter of them of one client; beyond "
     "it the answer is 503.",
     "Limits"},
    {"max-upload", OPTION_SIZE, AT(max_upload), "16G", 1, 1e15, NULL, "BYTES",
     "Maximum size of a dataset body.", "Limits"},
    {"max-body", OPTION_SIZE, AT(max_body), "64M", 1024, 1e12, NULL, "BYTES",
     "Maximum size of any other body.", "Limits"},
    {"max-spool", OPTION_SIZE, AT(max_spool), "4G", 1024, 1e15, NULL, "BYTES",
     "Maximum size of the answer to an NDJSON body; beyond it the answer is 413.", "Limits"},
    {"body-memory", OPTION_SIZE, AT(body_memory), "512M", 64 << 20, 1e15, NULL, "BYTES",
     "Memory of all bodies, upload readers and answers together; beyond it the answer is 503.",
     "Limits"},
    {"discard-limit", OPTION_SIZE, AT(discard_limit), "64M", 0, 1e15, NULL, "BYTES",
     "Bytes of a refused body to read and drop, so that the client gets the answer; 0: the answer "
     "closes the connection.",
     "Limits"},
    {"discard-time", OPTION_SECONDS, AT(discard_time), "30", 0, 3600, NULL, "SECONDS",
     "Time to read and drop a refused body; 0: none.", "Limits"},
    {"max-connections", OPTION_INT, AT(max_connections), "1024", 1, HTTP_MAX_CONNECTIONS, NULL, "N",
     "Maximum number of connections. Beyond it the connection that has been idle for the longest "
     "time is closed; if there is none, the answer is 503, except for /healthz and /readyz.",
     "Limits"},
    {"max-connections-per-address", OPTION_INT, AT(max_connections_per_address), "0", 0, 1e6, NULL,
     "N",
     "Maximum number of connections of one client address, with 429 instead of 503; 0: a quarter "
     "of --max-connections. The IPv6 addresses of a network of 64 bits count as one. The clients "
     "of a trusted proxy are counted one by one.",
     "Limits"},
    {"header-timeout", OPTION_SECONDS, AT(header_timeout), "10", 0.05, 3600, NULL, "SECONDS",
     "Time for a client to send the header of a request.", "Limits"},
    {"idle-timeout", OPTION_SECONDS, AT(idle_timeout), "30", 0.05, 3600, NULL, "SECONDS",
     "Time without progress before a connection is closed while bytes are due.", "Limits"},
    {"keep-alive-timeout", OPTION_SECONDS, AT(keep_alive_timeout), "75", 0.05, 86400, NULL,
     "SECONDS", "Time between two requests of a connection.", "Limits"},
    {"minimum-rate", OPTION_SIZE, AT(minimum_rate), "64", 0, 1e9, NULL, "BYTES",
     "Bytes per second, over 30 s, at which a body must arrive and an answer must be read; 0: no "
     "limit.",
     "Limits"},
    {"drain-delay", OPTION_SECONDS, AT(drain_delay), "0", 0, 3600, NULL, "SECONDS",
     "Time after SIGTERM during which connections are still accepted.", "Limits"},
    {"drain-timeout", OPTION_SECONDS, AT(drain_timeout), "8", 0, 3600, NULL, "SECONDS",
     "Time after --drain-delay to wait for requests in flight; then they are cut off.", "Limits"},
    {"log-format", OPTION_CHOICE, AT(log_format), "text", 0, 0, "text|json", "FORMAT",
     "Format of log lines: key=value or JSON objects.", "Log"},
    {"log-level", OPTION_CHOICE, AT(log_level), "info", 0, 0, "debug|info|warn|error", "LEVEL",
     "Least severe level that is logged.", "Log"},
    {"no-sandbox", OPTION_FLAG, AT(no_sandbox), NULL, 0, 0, NULL, NULL,
     "Start without Landlock and seccomp, which keep the process from other files and from "
     "starting "
     "programs. For debuggers and sanitizers.",
     "Other"},
    {"healthcheck", OPTION_FLAG, AT(healthcheck), NULL, 0, 0, NULL, NULL,
     "Ask the daemon at the --health-listen or --listen address whether it is ready; exit 0 if it "
     "is, 1 if not.",
     "Other"},
    {"version", OPTION_FLAG, AT(version), NULL, 0, 0, NULL, NULL, "Print the version and exit.",
     "Other"},
    {"help", OPTION_FLAG, AT(help), NULL, 0, 0, NULL, NULL, "Print this help and exit.", "Other"},
};
const size_t settings_n_rows = sizeof settings_rows / sizeof settings_rows[0];

void settings_help(FILE *out) {
    options_help(settings_rows, settings_n_rows,
                 "discernd [--option VALUE]…\ndiscernd COMMAND …\n\nTrains "
                 "classifiers from tables and serves them over "
                 "HTTP.\nManual: README.md, and GET /docs of a running daemon.",
                 out);
    commands_help(out);
}

/* Whether the host of --listen is reachable only from this machine. */
static bool is_loopback(const char *listen) {
    if (strncmp(listen, "unix:", 5) == 0) {
        return true;
    }
    char host[128];
    const char *colon = strrchr(listen, ':');
    size_t n = colon ? (size_t)(colon - listen) : strlen(listen);
    if (n >= 2 && listen[0] == '[' && listen[n - 1] == ']') {
        listen++;
        n -= 2;
    }
    if (n >= sizeof host) {
        return false;
    }
    memcpy(host, listen, n);
    host[n] = '\0';
    struct in_addr v4;
    if (inet_pton(AF_INET, host, &v4) == 1) {
        return (ntohl(v4.s_addr) >> 24) == 127;
    }
    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0;
}

/* Whether systemd passed a socket that is reachable from other machines. Such a socket is used
 * instead of --listen. */
static bool inherits_public_socket(void) {
    const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
    if (!pid || !count || strtol(pid, NULL, 10) != (long)getpid()) {
        return false;
    }
    for (long fd = 3, end = 3 + strtol(count, NULL, 10); fd < end; fd++) {
        union {
            struct sockaddr any;
            struct sockaddr_in v4;
            struct sockaddr_in6 v6;
            struct sockaddr_storage room;
        } a = {0};
        socklen_t n = sizeof a;
        if (getsockname((int)fd, &a.any, &n) != 0) {
            continue;
        }
        if ((a.any.sa_family == AF_INET && (ntohl(a.v4.sin_addr.s_addr) >> 24) != 127) ||
            (a.any.sa_family == AF_INET6 && !IN6_IS_ADDR_LOOPBACK(&a.v6.sin6_addr))) {
            return true;
        }
    }
    return false;
}

/* Whether a path has a segment "." or "..": proxies and clients resolve these, so a request would
 * never have such a path. */
static bool has_dots(const char *path) {
    for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
        size_t n = strcspn(at + 1, "/");
        if (n > 0 && n <= 2 && strspn(at + 1, ".") >= n) {
            return true;
        }
    }
    return false;
}

static bool check_base_path(struct settings *s, struct problem *problem) {
    if (strcmp(s->base_path, "/") == 0) {
        s->base_path = "";
    }
    size_t n = strlen(s->base_path);
    if (n == 0) {
        return true;
    }
    bool good = s->base_path[0] == '/' && s->base_path[n - 1] != '/' &&
                !strpbrk(s->base_path, "?#%\"<>\\") && !strstr(s->base_path, "//") &&
                !has_dots(s->base_path);
    for (size_t i = 0; i < n; i++) {
        good = good && (unsigned char)s->base_path[i] > ' ' && s->base_path[i] != 0x7f;
    }
    return good || problem_set(problem, PROBLEM_BAD_REQUEST,
                               "--base-path must begin with / and not end with it, and have no //, "
                               "space, quote, ?, "
                               "#, %%, <, > or \\ in it, nor a segment \".\" or \"..\", got \"%s\"",
                               s->base_path);
}

/* Checks --spool-dir. Default: the folder of the database; of a database on a server, $TMPDIR. */
static bool check_spool(struct settings *s, struct problem *problem) {
    const char *file = store_database_file(s->database);
    const char *slash = file != NULL ? strrchr(file, '/') : NULL, *tmp = getenv("TMPDIR");
    if (s->spool_dir == NULL && file == NULL) {
        s->spool_dir = tmp != NULL && tmp[0] != '\0' ? tmp : "/tmp";
    }
    if (s->spool_dir) {
        return spool_check(s->spool_dir, problem);
    }
    s->spool_dir = !slash ? "."
                   : slash == s->database
                       ? "/"
                       : strndup(s->database, (size_t)(slash - s->database)); /* never freed */
    return s->spool_dir || problem_no_memory(problem);
}

static bool check_address(const char *option, const char *address, bool protected,
                          struct problem *problem) {
    if (!http_check_listen(option, address, problem)) {
        return false;
    }
    return protected || is_loopback(address) ||
           problem_set(problem, PROBLEM_BAD_REQUEST,
                       "%s %s is reachable from other machines and nothing protects it: start with "
                       "--tokens FILE, or with --insecure if that is intended, or listen on "
                       "127.0.0.1",
                       option, address);
}

/* The files themselves are checked by http_check_settings. */
static bool check_tls(const struct settings *s, struct problem *problem) {
    const struct {
        const char *option, *path;
    } files[] = {{"--tls-cert", s->tls_cert},
                 {"--tls-key", s->tls_key},
                 {"--tls-client-ca", s->tls_client_ca}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        if (files[i].path != NULL && files[i].path[0] == '\0') {
            return problem_set(problem, PROBLEM_BAD_REQUEST,
                               "%s must be the name of a file, got \"\"", files[i].option);
        }
    }
    if ((s->tls_cert == NULL) != (s->tls_key == NULL)) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "--tls-cert and --tls-key must be given together; %s is missing",
                           s->tls_cert == NULL ? "--tls-cert" : "--tls-key");
    }
    if (s->tls_client_ca != NULL && s->tls_cert == NULL) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "--tls-client-ca needs --tls-cert and --tls-key");
    }
    return s->tls_cert == NULL || strncmp(s->listen, "unix:", 5) != 0 ||
           problem_set(problem, PROBLEM_BAD_REQUEST,
                       "--tls-cert needs a TCP address in --listen, got \"%s\"", s->listen);
}

static bool check_mpi(struct settings *s, struct problem *problem) {
    if (s->mpi == NULL) { /* with --workers 0 another daemon starts the ranks */
        return s->mpi_above == 0 || s->workers == 0 ||
               problem_set(problem, PROBLEM_BAD_REQUEST,
                           "--mpi-above needs --mpi, the command that starts the ranks");
    }
    if (store_database_has_password(s->database)) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "--mpi makes the value of --database an argument of the ranks, which "
                           "others can read: remove its password, and name a passfile or set "
                           "PGPASSWORD");
    }
    return mpi_command_read(s->mpi, &s->mpi_command, problem);
}

/* A daemon that does not train, or does not serve, needs others with the same database. */
static bool check_roles(const struct settings *s, struct problem *problem) {
    const char *role = s->workers == 0 ? "--workers 0" : "--no-serve";
    if (s->workers == 0 && s->no_serve) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "--workers 0 and --no-serve together leave nothing to do");
    }
    return (s->workers > 0 && !s->no_serve) || store_database_file(s->database) == NULL ||
           problem_set(problem, PROBLEM_BAD_REQUEST,
                       "%s needs --database postgresql://…: no other daemon can have the file "
                       "\"%s\" open",
                       role, s->database);
}

bool settings_check(struct settings *s, struct problem *problem) {
    if (!check_base_path(s, problem)) {
        return false;
    }
    if (!store_database_check("--database", s->database, problem)) {
        return false;
    }
    if (!check_roles(s, problem)) {
        return false;
    }
    if (s->port_file && s->port_file[0] == '\0') {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "--port-file must be the name of a file, got \"\"");
    }
    if (s->body_memory < s->max_body) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "--body-memory %lld must be at least --max-body %lld, so that such a "
                           "body can be accepted",
                           (long long)s->body_memory, (long long)s->max_body);
    }
    if (s->tokens != NULL && s->tokens[0] == '\0') {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "--tokens must be the name of a file, got \"\"");
    }
    if (!check_tls(s, problem)) {
        return false;
    }
    const bool protected = s->tokens != NULL || s->tls_client_ca != NULL || s->insecure;
    if (!check_address("--listen", s->listen, protected, problem) ||
        (s->health_listen != NULL &&
         !check_address("--health-listen", s->health_listen, protected, problem))) {
        return false;
    }
    if (!protected && inherits_public_socket()) {
        return problem_set(
            problem, PROBLEM_BAD_REQUEST,
            "the socket that systemd passed is reachable from other machines and nothing "
            "protects it: start with --tokens FILE, or with --insecure if that is intended");
    }
    return check_mpi(s, problem) && check_spool(s, problem);
}
