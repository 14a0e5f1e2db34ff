/* The option table, and the rules between options. */
#include "settings.h"

#include "base/spool.h"
#include "http/http.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define AT(member) offsetof(struct settings, member)

const struct option_row settings_rows[] = {
    {"listen", OPTION_STRING, AT(listen), "127.0.0.1:8080", 0, 0, NULL, "ADDRESS:PORT",
     "Where to listen: 127.0.0.1:8080, [::]:8080, unix:PATH. Port 0 takes a free one. A socket "
     "handed over by systemd wins.",
     "Listening"},
    {"port-file", OPTION_STRING, AT(port_file), NULL, 0, 0, NULL, "FILE",
     "Write the port to this file once the daemon listens.", "Listening"},
    {"insecure", OPTION_FLAG, AT(insecure), NULL, 0, 0, NULL, NULL,
     "Listen beyond loopback although anybody who reaches the port may do anything.", "Listening"},
    {"base-path", OPTION_STRING, AT(base_path), "", 0, 0, NULL, "/PREFIX",
     "Prefix of every Location and link, for a proxy that serves Discern under a path.",
     "Listening"},
    {"allowed-host", OPTION_LIST, AT(allowed_hosts), NULL, 0, 0, NULL, "HOST,…",
     "Further Host names to answer for, beside localhost, loopback addresses and the listen "
     "address.",
     "Listening"},
    {"allow-origin", OPTION_LIST, AT(allow_origins), NULL, 0, 0, NULL, "ORIGIN,…",
     "Origins whose pages may call the API from a browser (https://app.example).", "Listening"},
    {"trusted-proxy", OPTION_LIST, AT(trusted_proxies), NULL, 0, 0, NULL, "ADDRESS[/BITS],…",
     "Proxies whose Forwarded and X-Forwarded-* headers are believed; \"unix\" for peers on a unix "
     "socket.",
     "Listening"},
    {"database", OPTION_STRING, AT(database), "discern.db", 0, 0, NULL, "FILE",
     "The database file; made when it is not there.", "Storage"},
    {"no-upgrade-backup", OPTION_FLAG, AT(no_upgrade_backup), NULL, 0, 0, NULL, NULL,
     "Do not copy the database to FILE.before-NUMBER before an upgrade changes its tables.",
     "Storage"},
    {"spool-dir", OPTION_STRING, AT(spool_dir), NULL, 0, 0, NULL, "FOLDER",
     "Where answers to long NDJSON bodies are kept until they are sent, in files without a name; "
     "the database's folder when it is not "
     "given.",
     "Storage"},
    {"model-cache", OPTION_SIZE, AT(model_cache), "256M", 0, 1e15, NULL, "BYTES",
     "Models kept in memory.", "Storage"},
    {"workers", OPTION_INT, AT(workers), "2", 1, 256, NULL, "N", "Training jobs that run at once.",
     "Jobs"},
    {"train-threads", OPTION_INT, AT(train_threads), "0", 0, 1024, NULL, "N",
     "Most threads a job may use; 0: one a core. Results do not depend on it.", "Jobs"},
    {"job-attempts", OPTION_INT, AT(job_attempts), "3", 1, 1000, NULL, "N",
     "Starts of a job that kills the daemon, before it is failed.", "Jobs"},
    {"job-memory", OPTION_SIZE, AT(job_memory), "2G", 1 << 20, 1e15, NULL, "BYTES",
     "Most memory a job may use.", "Jobs"},
    {"job-seconds", OPTION_SECONDS, AT(job_seconds), "0", 0, 1e9, NULL, "SECONDS",
     "Longest a job may run; 0: no limit.", "Jobs"},
    {"max-queued-jobs", OPTION_INT, AT(max_queued_jobs), "10000", 0, 1e9, NULL, "N",
     "Jobs that may wait; beyond them the answer is 503; 0: any number.", "Jobs"},
    {"keep-jobs", OPTION_INT, AT(keep_jobs), "10000", 0, 1e12, NULL, "N",
     "Ended jobs kept; 0: all.", "Jobs"},
    {"keep-versions", OPTION_INT, AT(keep_versions), "0", 0, 1e9, NULL, "N",
     "Versions kept of each model, the live one always; 0: all.", "Jobs"},
    {"http-threads", OPTION_INT, AT(http_threads), "0", 0, HTTP_MAX_IO_THREADS, NULL, "N",
     "Threads that serve connections; 0: one a core, at most 4.", "Limits"},
    {"call-threads", OPTION_INT, AT(call_threads), "4", 1, 256, NULL, "N",
     "Threads for calls that wait for the database or compute; one is left to short ones.",
     "Limits"},
    {"max-upload", OPTION_SIZE, AT(max_upload), "16G", 1, 1e15, NULL, "BYTES",
     "Largest body of a dataset.", "Limits"},
    {"max-body", OPTION_SIZE, AT(max_body), "64M", 1024, 1e12, NULL, "BYTES",
     "Largest body of any other call.", "Limits"},
    {"max-spool", OPTION_SIZE, AT(max_spool), "4G", 1024, 1e15, NULL, "BYTES",
     "Longest answer to an NDJSON body; beyond it the answer is 413.", "Limits"},
    {"body-memory", OPTION_SIZE, AT(body_memory), "512M", 64 << 20, 1e15, NULL, "BYTES",
     "Memory of all bodies, readers of uploads and answers together; beyond it the answer is 503.",
     "Limits"},
    {"discard-limit", OPTION_SIZE, AT(discard_limit), "64M", 0, 1e15, NULL, "BYTES",
     "How much of a refused body is read to its end so that the answer arrives; 0: none, the "
     "answer closes the connection.",
     "Limits"},
    {"discard-time", OPTION_SECONDS, AT(discard_time), "30", 0, 3600, NULL, "SECONDS",
     "… and for how long; 0: not at all.", "Limits"},
    {"max-connections", OPTION_INT, AT(max_connections), "1024", 1, HTTP_MAX_CONNECTIONS, NULL, "N",
     "Connections at once; beyond them the answer is 503.", "Limits"},
    {"max-connections-per-address", OPTION_INT, AT(max_connections_per_address), "0", 0, 1e6, NULL,
     "N",
     "Connections at once from one client address; beyond them the answer is 429; 0: no limit.",
     "Limits"},
    {"header-timeout", OPTION_SECONDS, AT(header_timeout), "10", 0.05, 3600, NULL, "SECONDS",
     "The whole header of a request must have come.", "Limits"},
    {"idle-timeout", OPTION_SECONDS, AT(idle_timeout), "30", 0.05, 3600, NULL, "SECONDS",
     "Nothing was read or written although it was due.", "Limits"},
    {"keep-alive-timeout", OPTION_SECONDS, AT(keep_alive_timeout), "75", 0.05, 86400, NULL,
     "SECONDS", "Between two requests of a connection.", "Limits"},
    {"minimum-rate", OPTION_SIZE, AT(minimum_rate), "64", 0, 1e9, NULL, "BYTES",
     "Bytes a second that a body must arrive with, or an answer be taken with, over 30 s; 0: any "
     "rate will do.",
     "Limits"},
    {"drain-delay", OPTION_SECONDS, AT(drain_delay), "0", 0, 3600, NULL, "SECONDS",
     "After SIGTERM connections are accepted for so long.", "Limits"},
    {"drain-timeout", OPTION_SECONDS, AT(drain_timeout), "8", 0, 3600, NULL, "SECONDS",
     "… and requests in flight have so long.", "Limits"},
    {"log-format", OPTION_CHOICE, AT(log_format), "text", 0, 0, "text|json", "FORMAT",
     "Log lines as key=value or as JSON objects.", "Log"},
    {"log-level", OPTION_CHOICE, AT(log_level), "info", 0, 0, "debug|info|warn|error", "LEVEL",
     "What is logged.", "Log"},
    {"healthcheck", OPTION_FLAG, AT(healthcheck), NULL, 0, 0, NULL, NULL,
     "Ask the daemon that --listen names whether it is ready; exit 0 if it is, 1 if not.", "Other"},
    {"version", OPTION_FLAG, AT(version), NULL, 0, 0, NULL, NULL, "Print the version and end.",
     "Other"},
    {"help", OPTION_FLAG, AT(help), NULL, 0, 0, NULL, NULL, "Print this and end.", "Other"},
    {"test-crash-model", OPTION_STRING, AT(test_crash_model), NULL, 0, 0, NULL, "MODEL", NULL,
     NULL}, /* for tests of recovery: aborts the process half a second after a job for this model
               starts; not in --help */
};
const size_t settings_n_rows = sizeof settings_rows / sizeof settings_rows[0];

void settings_help(FILE *out) {
    options_help(settings_rows, settings_n_rows,
                 "discernd [--option VALUE]…\n\nA prediction service: upload a table, train, "
                 "predict over HTTP. See README.md.",
                 out);
}

/* Is the host of --listen the machine itself alone? */
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

/* A socket that systemd hands over wins over --listen: is one of them reachable from elsewhere? */
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

/* Proxies and clients resolve "." and "..": a request would never come with them. */
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
                               "space, quote, ?, #, %%, <, > or \\ in "
                               "it, nor a segment \".\" or \"..\", got \"%s\"",
                               s->base_path);
}

/* Without --spool-dir it is the database's folder. */
static bool check_spool(struct settings *s, struct problem *problem) {
    const char *slash = strrchr(s->database, '/');
    if (s->spool_dir) {
        return spool_check(s->spool_dir, problem);
    }
    s->spool_dir = !slash ? "."
                   : slash == s->database
                       ? "/"
                       : strndup(s->database, (size_t)(slash - s->database)); /* once, for good */
    return s->spool_dir || problem_set(problem, PROBLEM_UNAVAILABLE, "out of memory");
}

bool settings_check(struct settings *s, struct problem *problem) {
    if (!check_base_path(s, problem)) {
        return false;
    }
    if (s->database[0] == '\0') {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "--database must be the name of a file, got \"\"");
    }
    if (s->port_file && s->port_file[0] == '\0') {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "--port-file must be the name of a file, got \"\"");
    }
    if (s->body_memory < s->max_body) {
        return problem_set(
            problem, PROBLEM_BAD_REQUEST,
            "--body-memory %lld must be at least --max-body %lld, or no such body could be taken",
            (long long)s->body_memory, (long long)s->max_body);
    }
    if (!http_check_listen(s->listen, problem)) {
        return false;
    }
    if (!s->insecure && !is_loopback(s->listen)) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "--listen %s is reachable from other machines and nothing protects it: "
                           "start with --insecure if that is meant, "
                           "or listen on 127.0.0.1",
                           s->listen);
    }
    if (!s->insecure && inherits_public_socket()) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "the socket handed over by systemd is reachable from other machines and "
                           "nothing protects it: start with "
                           "--insecure if that is meant");
    }
    return check_spool(s, problem);
}
