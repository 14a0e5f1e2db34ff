/* A client of the_daemon that sends requests as the program curl does. */
#ifndef TESTS_LIB_CLIENT_H
#define TESTS_LIB_CLIENT_H

#include "lib/cmocka.h"

#include <curl/curl.h>
#include <jansson.h>

/* An answer. It lives until the test ends. */
struct response {
    int status;       /* 0: no answer arrived */
    const char *head; /* status line and headers; "" if none arrived */
    const char *body; /* NUL-terminated, never NULL */
    size_t size;      /* bytes of the body */
    json_t *json;     /* the parsed body; NULL if its content type is not JSON */
    bool closed;      /* set by raw_talk: the daemon closed the connection */
    bool reset;       /* set by raw_talk: the daemon closed it with a TCP reset */
    CURLcode code;    /* set by call */
};

/* The secret of the token that each request has, in the header Authorization; NULL: none. */
extern const char *client_token;

/* What TLS requests use: files in PEM form, NULL: none; max_version: CURL_SSLVERSION_MAX_…, 0: any.
 */
struct client_tls {
    const char *ca, *certificate, *key;
    long max_version;
};
extern struct client_tls client_tls;

struct request {
    const char *method;
    const char *path;
    /* "Name: value", ending in NULL; NULL: no headers. "Name:" removes a header that curl sends by
     * default */
    const char *const *headers;
    const char *body; /* NULL: no body */
    size_t size;      /* bytes of the body; 0: strlen(body) */
    /* true: sends the body as curl -T does, without a Content-Type. false: as curl -d does, with
     * the Content-Type of a form unless headers has one */
    bool upload;
    bool chunked; /* with upload: sends no Content-Length, but chunks */
    /* ends the transfer as soon as the received part of the answer's body contains this text */
    const char *until;
    double seconds; /* time limit; 0: 280 */
    /* the address of another service, to which path is appended. Such a request has no token, and
     * its answer is not compared with the OpenAPI document. NULL: the_daemon.url */
    const char *url;
};
/* Sends a request and returns its answer. It never fails the test; any thread may call it. */
const struct response *call(const struct request *request);
/* As call, but fails the test if no complete answer arrives. */
const struct response *call_or_fail(const struct request *request);

/* The functions below fail the test if no answer arrives. Paths and JSON are format strings; JSON
 * is written with ' for ", as in quoted(). */
const struct response *call_get(const char *path, ...) __attribute__((format(printf, 1, 2)));
const struct response *call_get_with(const char *header, const char *path, ...)
    __attribute__((format(printf, 2, 3)));
const struct response *call_delete(const char *path, ...) __attribute__((format(printf, 1, 2)));
const struct response *call_json(const char *method, const char *path, const char *json, ...)
    __attribute__((format(printf, 3, 4)));
/* Sends a request without a body. */
const struct response *call_empty(const char *method, const char *path, ...)
    __attribute__((format(printf, 2, 3)));
#define call_post(...) call_json("POST", __VA_ARGS__)
#define call_put(...) call_json("PUT", __VA_ARGS__)
#define call_patch(...) call_json("PATCH", __VA_ARGS__)
/* Sends bytes; headers, body and size as in struct request. */
const struct response *call_bytes(const char *method, const char *path, const char *const *headers,
                                  const char *body, size_t size);
/* Sends a text, which is not a format string, with one header; header NULL: without one. */
const struct response *call_text(const char *method, const char *path, const char *header,
                                 const char *body);
/* Posts a body of this type; accept: the wanted type of the answer. */
const struct response *call_typed(const char *path, const char *type, const char *accept,
                                  const char *body);
/* Sends a PUT request as curl -T does. */
const struct response *call_upload(const char *path, const char *body);
/* As call_upload for bytes, with one more header; extra NULL: without it. size 0: strlen(body). */
const struct response *call_upload_bytes(const char *path, const char *body, size_t size,
                                         const char *extra);
/* Uploads a file as a dataset, and checks that the status is 201. file: a name in tests/data, or a
 * path that contains a '/'. */
const struct response *upload_file(const char *dataset, const char *file);
/* Uploads a dataset of 40 rows with the columns id (counts up), length (0 … 10), weight (1 or 2),
 * sex (f or m) and class (a or b, by length and sex). Returns the CSV text. */
const char *upload_rows(const char *dataset);
#define HEADERS(...) ((const char *const[]){__VA_ARGS__, NULL})

#endif
