/* Sends one request without an HTTP library: it is too simple to need one. */
#include "healthcheck.h"
#include "http/http.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static void set_timeouts(int fd) {
    struct timeval limit = {.tv_sec = 3};
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

static int connect_unix(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || strlen(path) >= sizeof address.sun_path) {
        return fd;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    set_timeouts(fd);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0) {
        return fd;
    }
    close(fd);
    return -1;
}

static int connect_tcp(const char *host, const char *port) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV}, *list = NULL;
    int fd = -1;
    if (getaddrinfo(host, port, &hints, &list) != 0) {
        return -1;
    }
    for (struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
        if (fd < 0) {
            continue;
        }
        set_timeouts(fd);
        if (connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            close(fd);
            fd = -1;
        }
    }
    freeaddrinfo(list);
    return fd;
}

/* Splits ADDRESS:PORT. An address that means "all addresses" is replaced by loopback; port 0 is
 * replaced by the contents of port_file. */
static bool split(const char *listen, const char *port_file, char host[128], char port[16]) {
    const char *colon = strrchr(listen, ':');
    size_t n = colon ? (size_t)(colon - listen) : 0;
    if (!colon || strlen(colon + 1) >= 16) {
        return false;
    }
    if (n >= 2 && listen[0] == '[' && listen[n - 1] == ']') {
        listen++;
        n -= 2;
    }
    if (n >= 128) {
        return false;
    }
    memcpy(host, listen, n);
    host[n] = '\0';
    memcpy(port, colon + 1, strlen(colon + 1) + 1);
    if (n == 0 || strcmp(host, "0.0.0.0") == 0) {
        memcpy(host, "127.0.0.1", 10);
    } else if (strcmp(host, "::") == 0) {
        memcpy(host, "::1", 4);
    }
    if (strcmp(port, "0") == 0 && port_file) {
        FILE *f = fopen(port_file, "re");
        bool good = f && fscanf(f, "%15s", port) == 1;
        if (f) {
            fclose(f);
        }
        return good;
    }
    return true;
}

/* Connects to the address of --listen. Returns -1 on failure, and sets errno. */
static int connect_to(const char *listen, const char *port_file) {
    char host[128], port[16];
    if (strncmp(listen, "unix:", 5) == 0) {
        return connect_unix(listen + 5);
    }
    return split(listen, port_file, host, port) ? connect_tcp(host, port) : -1;
}

/* Sends GET and writes the beginning of the answer. */
static void ask(int fd, bool tls, const char *path, char *answer, size_t room) {
    char request[128];
    const int n = snprintf(request, sizeof request,
                           "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    size_t have = 0;
    if (tls) {
        have = http_tls_ask(fd, request, (size_t)n, answer, room - 1);
    } else if (send(fd, request, (size_t)n, MSG_NOSIGNAL) == n) {
        ssize_t got;
        while (have < room - 1 && (got = recv(fd, answer + have, room - 1 - have, 0)) > 0) {
            have += (size_t)got;
        }
    }
    answer[have] = '\0';
}

bool healthcheck_answers(const char *address, bool tls) {
    char answer[16];
    const int fd = connect_to(address, NULL);
    if (fd < 0) {
        return false;
    }
    ask(fd, tls, "/healthz", answer, sizeof answer);
    close(fd);
    return strncmp(answer, "HTTP/1.1 ", 9) == 0;
}

bool healthcheck_run(const char *listen, const char *port_file, bool tls) {
    char answer[64];
    const int fd = connect_to(listen, port_file);
    if (fd < 0) {
        fprintf(stderr, "discernd: nothing answers at %s: %s\n", listen, strerror(errno));
        return false;
    }
    ask(fd, tls, "/readyz", answer, sizeof answer);
    close(fd);
    const bool ready = strncmp(answer, "HTTP/1.1 200", 12) == 0;
    if (!ready) {
        fprintf(stderr, "discernd: not ready: %.*s\n", (int)strcspn(answer, "\r\n"), answer);
    }
    return ready;
}
