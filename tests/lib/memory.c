#include "lib/memory.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct kept {
    void *memory;
    void (*release)(void *);
    struct kept *next;
};
static struct kept *first;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects `first` */

static void *need(void *memory) {
    if (memory == NULL) {
        fputs("out of memory\n", stderr);
        abort();
    }
    return memory;
}

void *keep(void *memory, void (*release)(void *)) {
    struct kept *k = need(malloc(sizeof *k));
    *k = (struct kept){.memory = need(memory), .release = release};
    pthread_mutex_lock(&lock);
    k->next = first;
    first = k;
    pthread_mutex_unlock(&lock);
    return memory;
}

void keep_free(void) {
    pthread_mutex_lock(&lock);
    struct kept *k = first;
    first = NULL;
    pthread_mutex_unlock(&lock);
    while (k != NULL) {
        struct kept *next = k->next;
        k->release(k->memory);
        free(k);
        k = next;
    }
}

char *vtext(const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *out = keep(malloc((size_t)n + 1), free);
    vsnprintf(out, (size_t)n + 1, format, again);
    va_end(again);
    return out;
}

const char *text(const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *out = vtext(format, args);
    va_end(args);
    return out;
}

const char *quoted(const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *out = vtext(format, args);
    va_end(args);
    for (char *c = out; *c != '\0'; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    return out;
}

const char *read_whole(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        fail_msg("cannot open %s: run the tests from the root of the project", path);
    }
    size_t n = 0, room = 1 << 16;
    char *bytes = need(malloc(room));
    for (size_t more; (more = fread(bytes + n, 1, room - n - 1, f)) > 0;) {
        n += more;
        if (n + 1 == room) {
            bytes = need(realloc(bytes, room *= 2));
        }
    }
    fclose(f);
    bytes[n] = '\0';
    if (size != NULL) {
        *size = n;
    }
    return keep(bytes, free);
}

const char *repeat(const char *piece, size_t times) {
    size_t n = strlen(piece);
    char *out = keep(malloc(n * times + 1), free);
    for (size_t i = 0; i < times; i++) {
        memcpy(out + i * n, piece, n);
    }
    out[n * times] = '\0';
    return out;
}

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void pause_ms(int milliseconds) {
    nanosleep(&(struct timespec){.tv_sec = milliseconds / 1000,
                                 .tv_nsec = milliseconds % 1000 * 1000000L},
              NULL);
}
