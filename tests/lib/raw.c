#include "lib/raw.h"

#include "lib/answer.h"
#include "lib/service.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

int raw_open_from(int host, int port) {
    struct sockaddr_in own = {.sin_family = AF_INET},
                       address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    own.sin_addr.s_addr = htonl((INADDR_LOOPBACK & 0xffffff00) + (uint32_t)host);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&own, sizeof own) == 0 &&
        connect(fd, (const struct sockaddr *)&address, sizeof address) == 0) {
        return fd;
    }
    if (fd >= 0) {
        close(fd);
    }
    return -1;
}

int raw_open(void) {
    return raw_open_from(1, the_daemon.port);
}

static void release_json(void *json) {
    json_decref(json);
}

const struct response *raw_parse(const char *bytes, size_t size) {
    struct response *r = keep(calloc(1, sizeof *r), free);
    char *copy = keep(malloc(size + 1), free);
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    r->head = r->body = "";
    while (strncmp(copy, "HTTP/1.1 100", 12) == 0 && strstr(copy, "\r\n\r\n") != NULL) {
        char *next = strstr(copy, "\r\n\r\n") + 4;
        size -= (size_t)(next - copy);
        copy = next;
    }
    char *end = strstr(copy, "\r\n\r\n");
    if (strncmp(copy, "HTTP/1.", 7) != 0 || end == NULL) {
        r->body = copy;
        r->size = size;
        return r;
    }
    r->status = (int)strtol(copy + 9, NULL, 10);
    end[2] = '\0'; /* keeps the line end of the last header */
    r->head = copy;
    char *body = end + 4;
    r->size = size - (size_t)(body - copy);
    const char *length = header_of(r, "Content-Length"), *type = header_of(r, "Content-Type");
    if (length != NULL && strtoul(length, NULL, 10) < r->size) {
        r->size = strtoul(length, NULL, 10);
    }
    r->body = body;
    if (type != NULL && strstr(type, "json") != NULL) {
        r->json = json_loadb(body, r->size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    }
    if (r->json != NULL) {
        keep(r->json, release_json);
    }
    return r;
}

const struct response *raw_talk(int fd, const void *bytes, size_t size, double seconds) {
    const char *next = bytes;
    size_t left = size, n = 0, room = 1 << 16;
    char *got = malloc(room);
    bool closed = got == NULL || fd < 0, reset = false;
    for (double end = now() + seconds; !closed && now() < end;) {
        struct pollfd p = {.fd = fd, .events = (short)(POLLIN | (left > 0 ? POLLOUT : 0))};
        if (poll(&p, 1, 100) <= 0) {
            continue;
        }
        if ((p.revents & POLLOUT) != 0) {
            ssize_t sent = send(fd, next, left, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (sent < 0 && errno != EAGAIN) {
                left = 0; /* the daemon no longer reads; the test still reads its answer */
            }
            next += sent > 0 ? sent : 0;
            left -= sent > 0 ? (size_t)sent : 0;
        }
        if ((p.revents & (POLLIN | POLLHUP | POLLERR)) == 0) {
            continue;
        }
        if (room - n < 4096) {
            char *more = realloc(got, room *= 2);
            if (more == NULL) {
                break;
            }
            got = more;
        }
        ssize_t more = recv(fd, got + n, room - n, MSG_DONTWAIT);
        if (more > 0) {
            n += (size_t)more;
        }
        reset = more < 0 && errno == ECONNRESET;
        closed = more == 0 || reset;
    }
    struct response *r = (struct response *)(uintptr_t)raw_parse(got != NULL ? got : "", n);
    free(got);
    r->closed = closed;
    r->reset = reset;
    return r;
}

const struct response *raw_once(const void *bytes, size_t size) {
    int fd = raw_open();
    const struct response *r = raw_talk(fd, bytes, size, 60);
    if (fd >= 0) {
        close(fd);
    }
    return r;
}

const struct response *raw_text(const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *bytes = vtext(format, args);
    va_end(args);
    return raw_once(bytes, strlen(bytes));
}

bool raw_send(int fd, const void *bytes, size_t size) {
    const char *next = bytes;
    for (ssize_t sent; size > 0 && (sent = send(fd, next, size, MSG_NOSIGNAL)) > 0;) {
        next += sent;
        size -= (size_t)sent;
    }
    return size == 0;
}

bool raw_send_text(int fd, const char *text) {
    return raw_send(fd, text, strlen(text));
}

const char *raw_until(int fd, const char *received, const char *words) {
    char chunk[16384];
    while (strstr(received, words) == NULL) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        ssize_t n = poll(&p, 1, 60000) > 0 ? recv(fd, chunk, sizeof chunk, 0) : 0;
        if (n <= 0) {
            fail_msg("the stream ended before \"%s\": %s", words, received);
        }
        received = text("%s%.*s", received, (int)n, chunk);
    }
    return received;
}
