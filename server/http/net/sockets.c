/* Makes the listening sockets. */
#include "http/net/sockets.h"
#include "base/process/wake_pipe.h"
#include "http/http.h"
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 4096
#define FIRST_INHERITED 3 /* systemd's first descriptor */

#define HOST_SIZE 256

/* Stores the address of the socket in the listener. */
static bool describe(struct listener *l, int fd) {
    struct sockaddr_storage sa;
    socklen_t size = sizeof sa;
    if (getsockname(fd, (struct sockaddr *)&sa, &size) != 0) {
        return false;
    }
    if (sa.ss_family == AF_UNIX) {
        struct sockaddr_un un;
        memset(&un, 0, sizeof un);
        memcpy(&un, &sa, size < sizeof un ? size : sizeof un);
        (void)snprintf(l->address, sizeof l->address, "unix:%.107s", un.sun_path);
        return true;
    }
    char host[200], port[16];
    if (getnameinfo((const struct sockaddr *)&sa, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return false;
    }
    bool v6 = sa.ss_family == AF_INET6;
    (void)snprintf(l->address, sizeof l->address, v6 ? "%s://[%s]:%s" : "%s://%s:%s",
                   l->secure ? "https" : "http", host, port);
    l->port = (int)strtol(port, NULL, 10);
    return true;
}

static bool take(struct listener *l, int fd) {
    if (!descriptor_set_flags(fd) || listen(fd, BACKLOG) != 0 || (l->n == 0 && !describe(l, fd))) {
        return false;
    }
    l->fds[l->n++] = fd;
    return true;
}

static bool is_unix(int fd) {
    struct sockaddr_storage sa;
    socklen_t size = sizeof sa;
    return getsockname(fd, (struct sockaddr *)&sa, &size) == 0 && sa.ss_family == AF_UNIX;
}

/* ---- local sockets ---- */

/* Removes the socket file of a daemon that has ended. Returns false if another process listens. */
static bool remove_stale(const struct sockaddr_un *un, int *error) {
    struct stat st;
    if (lstat(un->sun_path, &st) != 0) {
        return true;
    }
    *error = EADDRINUSE;
    if (!S_ISSOCK(st.st_mode)) {
        return false;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0) {
        return false;
    }
    bool refused =
        connect(fd, (const struct sockaddr *)un, sizeof *un) != 0 && errno == ECONNREFUSED;
    (void)close(fd);
    return refused && unlink(un->sun_path) == 0;
}

static bool listen_local(struct listener *l, const char *path, struct problem *problem) {
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    size_t n = strlen(path);
    memcpy(un.sun_path, path, n + 1);
    int error = 0;
    int fd = remove_stale(&un, &error) ? socket(AF_UNIX, SOCK_STREAM, 0) : -1;
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&un, sizeof un) == 0) {
        memcpy(l->path, path, n + 1);
        if (take(l, fd)) {
            return true;
        }
    }
    error = error != 0 ? error : errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    return problem_set(problem, PROBLEM_UNAVAILABLE, "cannot listen on \"unix:%s\": %s", path,
                       strerror(error));
}

/* ---- TCP ---- */

/* Splits "host:port"; the host may be bracketed or empty (every address). */
static bool split(const char *address, char *host, size_t host_size, const char **port) {
    const char *colon = strrchr(address, ':');
    if (colon == NULL || colon[1] == '\0') {
        return false;
    }
    for (const char *p = colon + 1; *p != '\0'; p++) {
        if (*p < '0' || *p > '9') {
            return false;
        }
    }
    if (strlen(colon + 1) > 5 || strtol(colon + 1, NULL, 10) > 65535) {
        return false;
    }
    const char *start = address;
    size_t n = (size_t)(colon - address);
    if (n >= 2 && address[0] == '[' && address[n - 1] == ']') {
        start++;
        n -= 2;
    } else if (memchr(address, ':', n) != NULL) {
        return false; /* an IPv6 address without brackets */
    }
    if (n >= host_size) {
        return false;
    }
    memcpy(host, start, n);
    host[n] = '\0';
    *port = colon + 1;
    return true;
}

static int bind_one(const struct addrinfo *ai) {
    int fd = socket(ai->ai_family, ai->ai_socktype, ai->ai_protocol);
    if (fd < 0) {
        return -1;
    }
    int on = 1, off = 0;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (ai->ai_family == AF_INET6) {
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off,
                         sizeof off); /* [::] accepts IPv4 as well */
    }
    if (bind(fd, ai->ai_addr, ai->ai_addrlen) == 0) {
        return fd;
    }
    int error = errno;
    (void)close(fd);
    errno = error;
    return -1;
}

bool http_check_listen(const char *option, const char *address, struct problem *problem) {
    struct sockaddr_un un;
    char host[HOST_SIZE];
    const char *port = NULL;
    if (strncmp(address, "unix:", 5) == 0) {
        size_t n = strlen(address + 5);
        return (n > 0 && n < sizeof un.sun_path) ||
               problem_set(problem, PROBLEM_BAD_REQUEST,
                           "%s unix:PATH needs a path of 1 to %zu bytes, got \"%s\"", option,
                           sizeof un.sun_path - 1, address + 5);
    }
    return split(address, host, sizeof host, &port) ||
           problem_set(problem, PROBLEM_BAD_REQUEST,
                       "%s must be ADDRESS:PORT, [IPV6]:PORT or unix:PATH, got \"%s\"", option,
                       address);
}

bool sockets_listen(struct listener *l, const char *address, struct problem *problem) {
    char host[HOST_SIZE];
    const char *port = NULL;
    if (!http_check_listen("--listen", address, problem)) {
        return false;
    }
    if (strncmp(address, "unix:", 5) == 0) {
        return listen_local(l, address + 5, problem);
    }
    if (!split(address, host, sizeof host, &port)) {
        return problem_set(problem, PROBLEM_INTERNAL, "--listen \"%s\" is malformed",
                           address); /* checked above */
    }
    struct addrinfo hints = {.ai_family = AF_INET,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    int error = getaddrinfo(host[0] != '\0' ? host : NULL, port, &hints, &found);
    if (error != 0) { /* IPv4 is tried first: "localhost" is 127.0.0.1 */
        hints.ai_family = AF_INET6;
        error = getaddrinfo(host, port, &hints, &found);
    }
    if (error != 0) {
        return problem_set(problem, PROBLEM_BAD_REQUEST, "cannot listen on \"%s\": %s", address,
                           gai_strerror(error));
    }
    int fd = bind_one(found);
    freeaddrinfo(found);
    if (fd >= 0 && take(l, fd)) {
        (void)snprintf(l->host, sizeof l->host, "%s", host);
        return true;
    }
    error = errno;
    if (fd >= 0) {
        (void)close(fd);
    }
    return problem_set(problem, PROBLEM_UNAVAILABLE, "cannot listen on \"%s\": %s", address,
                       strerror(error));
}

static long handed_over(void) {
    const char *pid = getenv("LISTEN_PID");
    const char *count = getenv("LISTEN_FDS");
    return pid == NULL || count == NULL || strtol(pid, NULL, 10) != (long)getpid()
               ? 0
               : strtol(count, NULL, 10);
}

bool sockets_handed_over(void) {
    return handed_over() > 0;
}

bool sockets_inherit(struct listener *l, bool *found, struct problem *problem) {
    *found = false;
    long n = handed_over();
    for (long i = 0; i < n && i < LISTENER_MAX; i++) {
        if (l->secure && is_unix(FIRST_INHERITED + (int)i)) {
            return problem_set(problem, PROBLEM_BAD_REQUEST,
                               "--tls-cert needs a TCP socket, and the socket given as descriptor "
                               "%ld is a Unix socket",
                               FIRST_INHERITED + i);
        }
        if (!take(l, FIRST_INHERITED + (int)i)) {
            return problem_set(problem, PROBLEM_UNAVAILABLE,
                               "cannot listen on the socket given as descriptor %ld: %s",
                               FIRST_INHERITED + i, strerror(errno));
        }
        *found = true;
    }
    l->inherited = *found;
    return true;
}
