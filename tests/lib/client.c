#include "lib/client.h"

#include "lib/answer.h"
#include "lib/answer_schema.h"
#include "lib/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *client_token;
struct client_tls client_tls;

struct bytes {
    char *data;
    size_t size, room;
};

/* The state of a request and of its answer. */
struct transfer {
    const struct request *request;
    struct bytes head, body;
    size_t sent; /* bytes of the request's body that were sent */
    bool ended;  /* request->until was found in the answer's body */
};

static bool append(struct bytes *b, const char *data, size_t n) {
    if (b->size + n + 1 > b->room) {
        size_t room = 2 * (b->size + n) + 1024;
        char *more = realloc(b->data, room);
        if (more == NULL) {
            return false;
        }
        b->data = more;
        b->room = room;
    }
    memcpy(b->data + b->size, data, n);
    b->size += n;
    b->data[b->size] = '\0';
    return true;
}

static size_t take_body(char *data, size_t one, size_t n, void *arg) {
    struct transfer *t = arg;
    if (!append(&t->body, data, one * n)) {
        return 0;
    }
    t->ended = t->request->until != NULL && strstr(t->body.data, t->request->until) != NULL;
    return t->ended ? 0 : n;
}

/* Keeps the head of the last answer: the head of an interim answer (100 Continue) is
 * overwritten. */
static size_t take_head(char *data, size_t one, size_t n, void *arg) {
    struct transfer *t = arg;
    if (n >= 5 && memcmp(data, "HTTP/", 5) == 0) {
        t->head.size = 0;
    }
    return append(&t->head, data, one * n) ? n : 0;
}

static size_t request_size(const struct request *q) {
    return q->size > 0 || q->body == NULL ? q->size : strlen(q->body);
}

static size_t give_body(char *out, size_t one, size_t n, void *arg) {
    struct transfer *t = arg;
    size_t left = request_size(t->request) - t->sent, most = one * n < left ? one * n : left;
    memcpy(out, t->request->body + t->sent, most);
    t->sent += most;
    return most;
}

static void set_body(CURL *curl, struct transfer *t) {
    const struct request *q = t->request;
    if (q->upload) {
        curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(curl, CURLOPT_READFUNCTION, give_body);
        curl_easy_setopt(curl, CURLOPT_READDATA, t);
        curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE,
                         q->chunked ? (curl_off_t)-1 : (curl_off_t)request_size(q));
    } else if (q->body != NULL) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request_size(q));
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, q->body);
    }
    if (strcmp(q->method, "HEAD") == 0) {
        curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    } else {
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, q->method);
    }
}

static void set_tls(CURL *curl) {
    if (client_tls.ca != NULL) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, client_tls.ca);
    }
    if (client_tls.certificate != NULL) {
        curl_easy_setopt(curl, CURLOPT_SSLCERT, client_tls.certificate);
        curl_easy_setopt(curl, CURLOPT_SSLKEY, client_tls.key);
    }
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1 | client_tls.max_version);
}

static CURLcode perform(struct transfer *t, long *status) {
    const struct request *q = t->request;
    struct curl_slist *headers = NULL;
    CURL *curl = curl_easy_init();
    if (curl == NULL) {
        return CURLE_FAILED_INIT;
    }
    if (client_token != NULL && q->url == NULL) {
        char authorization[200];
        (void)snprintf(authorization, sizeof authorization, "Authorization: Bearer %s",
                       client_token);
        headers = curl_slist_append(headers, authorization);
    }
    for (size_t i = 0; q->headers != NULL && q->headers[i] != NULL; i++) {
        headers = curl_slist_append(headers, q->headers[i]);
    }
    curl_easy_setopt(curl, CURLOPT_URL,
                     text("%s%s", q->url != NULL ? q->url : the_daemon.url, q->path));
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)(1000 * (q->seconds > 0 ? q->seconds : 280)));
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_head);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, t);
    set_tls(curl);
    set_body(curl, t);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status);
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return t->ended ? CURLE_OK : code;
}

static void release_json(void *json) {
    json_decref(json);
}

const struct response *call(const struct request *request) {
    struct transfer t = {.request = request};
    long status = 0;
    CURLcode code = perform(&t, &status);
    struct response *r = keep(calloc(1, sizeof *r), free);
    *r = (struct response){
        .status = (int)status, .size = t.body.size, .head = "", .body = "", .code = code};
    if (t.head.data != NULL) {
        r->head = keep(t.head.data, free);
    }
    if (t.body.data != NULL) {
        r->body = keep(t.body.data, free);
    }
    const char *type = header_of(r, "Content-Type");
    if (type != NULL && (strncasecmp(type, "application/json", 16) == 0 ||
                         strcasecmp(type, "application/problem+json") == 0)) {
        r->json = json_loadb(r->body, r->size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, NULL);
    }
    if (r->json != NULL) {
        keep(r->json, release_json);
    }
    if (code == CURLE_OK && request->url == NULL) {
        answer_check(&(struct answer_seen){.method = request->method,
                                           .target = request->path,
                                           .status = status,
                                           .type = type,
                                           .json = r->json,
                                           .body = r->body,
                                           .size = r->size});
    }
    return r;
}

const struct response *call_or_fail(const struct request *request) {
    const struct response *r = call(request);
    if (r->status == 0 || r->code != CURLE_OK) {
        fail_msg("%s %.300s: %s", request->method, request->path, curl_easy_strerror(r->code));
    }
    return r;
}

#define FORMATTED(out, format)                                                                     \
    const char *out;                                                                               \
    do {                                                                                           \
        va_list args_;                                                                             \
        va_start(args_, format);                                                                   \
        out = vtext(format, args_);                                                                \
        va_end(args_);                                                                             \
    } while (0)

const struct response *call_get(const char *path, ...) {
    FORMATTED(at, path);
    return call_or_fail(&(struct request){.method = "GET", .path = at});
}

const struct response *call_get_with(const char *header, const char *path, ...) {
    FORMATTED(at, path);
    return call_bytes("GET", at, HEADERS(header), NULL, 0);
}

const struct response *call_delete(const char *path, ...) {
    FORMATTED(at, path);
    return call_or_fail(&(struct request){.method = "DELETE", .path = at});
}

const struct response *call_empty(const char *method, const char *path, ...) {
    FORMATTED(at, path);
    return call_or_fail(&(struct request){.method = method, .path = at});
}

const struct response *call_json(const char *method, const char *path, const char *json, ...) {
    FORMATTED(body, json);
    return call_or_fail(
        &(struct request){.method = method, .path = path, .body = quoted("%s", body)});
}

const struct response *call_bytes(const char *method, const char *path, const char *const *headers,
                                  const char *body, size_t size) {
    return call_or_fail(&(struct request){
        .method = method, .path = path, .headers = headers, .body = body, .size = size});
}

const struct response *call_text(const char *method, const char *path, const char *header,
                                 const char *body) {
    return call_bytes(method, path, HEADERS(header), body, 0);
}

const struct response *call_upload_bytes(const char *path, const char *body, size_t size,
                                         const char *extra) {
    return call_or_fail(&(struct request){.method = "PUT",
                                          .path = path,
                                          .headers = HEADERS(extra),
                                          .body = body,
                                          .size = size,
                                          .upload = true});
}

const struct response *call_typed(const char *path, const char *type, const char *accept,
                                  const char *body) {
    const char *const headers[] = {text("Content-Type: %s", type), text("Accept: %s", accept),
                                   NULL};
    return call_bytes("POST", path, headers, body, strlen(body));
}

const struct response *call_upload(const char *path, const char *body) {
    return call_upload_bytes(path, body, 0, NULL);
}

const struct response *upload_file(const char *dataset, const char *file) {
    size_t size;
    const char *bytes =
        read_whole(strchr(file, '/') != NULL ? file : text("tests/data/%s", file), &size);
    return status_check(call_upload_bytes(text("/v1/datasets/%s", dataset), bytes, size, NULL),
                        201);
}

const char *upload_rows(const char *dataset) {
    const char *rows = "id,length,weight,sex,class\n";
    for (int i = 0; i < 40; i++) {
        rows = text("%s%d,%d,%d,%s,%s\n", rows, i, i * 7 % 11, 1 + i % 2, i % 3 ? "f" : "m",
                    i * 7 % 11 + i % 3 > 5 ? "a" : "b");
    }
    const struct response *r = call_upload(text("/v1/datasets/%s", dataset), rows);
    assert_int_equal(r->status, 201);
    return rows;
}
