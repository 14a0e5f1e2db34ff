/* A client of the_daemon like the program curl. */
#ifndef TESTS_LIB_CLIENT_H
#define TESTS_LIB_CLIENT_H

#include "lib/cmocka.h"

#include <curl/curl.h>
#include <jansson.h>

/* Lives until the test ends. */
struct response {
    int status;       /* 0: no answer came */
    const char *head; /* status line and headers; "" if none came */
    const char *body; /* NUL-terminated, never NULL */
    size_t size;      /* of the body */
    json_t *json;     /* the parsed body; NULL if its content type is not JSON */
    bool closed;      /* raw_talk: the daemon closed the connection */
    bool reset;       /* raw_talk: it did so by a reset */
    CURLcode code;    /* call */
};

struct request {
    const char *method;
    const char *path;
    const char *const *headers; /* "Name: value", ending in NULL, or NULL. "Name:" removes a header
                                   that curl sends by default */
    const char *body;           /* NULL: none */
    size_t size;                /* of the body; 0: its strlen */
    bool upload;       /* sends as curl -T, without a Content-Type. Otherwise as curl -d, with the
                          type of a form unless headers has one */
    bool chunked;      /* with upload: sends no Content-Length */
    const char *until; /* ends the transfer once the received part of the body contains this */
    double seconds;    /* limit of time; 0: 280 */
};
/* Never fails the test; any thread may call it. */
const struct response *call(const struct request *request);
/* Fails the test if no complete answer comes. */
const struct response *call_or_fail(const struct request *request);

/* Fail the test if no answer comes. Paths and JSON are formats; JSON is written as in quoted(). */
const struct response *call_get(const char *path, ...) __attribute__((format(printf, 1, 2)));
const struct response *call_get_with(const char *header, const char *path, ...)
    __attribute__((format(printf, 2, 3)));
const struct response *call_delete(const char *path, ...) __attribute__((format(printf, 1, 2)));
const struct response *call_json(const char *method, const char *path, const char *json, ...)
    __attribute__((format(printf, 3, 4)));
/* … without a body. */
const struct response *call_empty(const char *method, const char *path, ...)
    __attribute__((format(printf, 2, 3)));
#define call_post(...) call_json("POST", __VA_ARGS__)
#define call_put(...) call_json("PUT", __VA_ARGS__)
#define call_patch(...) call_json("PATCH", __VA_ARGS__)
/* headers, body and size as in struct request. */
const struct response *call_bytes(const char *method, const char *path, const char *const *headers,
                                  const char *body, size_t size);
/* A text that is no format, with one header or NULL. */
const struct response *call_text(const char *method, const char *path, const char *header,
                                 const char *body);
/* PUT as curl -T. */
const struct response *call_upload(const char *path, const char *body);
/* … of bytes, with a further header or NULL. size 0: strlen. */
const struct response *call_upload_bytes(const char *path, const char *body, size_t size,
                                         const char *extra);
/* Uploads a file of tests/data, or a path with a '/'; the answer must be 201. */
const struct response *upload_file(const char *dataset, const char *file);
#define HEADERS(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
