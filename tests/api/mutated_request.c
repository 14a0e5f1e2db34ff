#include "mutated_request.h"

#include "api/api.h"
#include "http/protocol/coding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define PICK(g, array) ((array)[draw(g, COUNT(array))])

/* ---- random numbers: splitmix64 ---- */

struct generator {
    uint64_t state;
    struct mutated_request *out;
    const struct http_route *route;
    struct buf lines, body, target;
    const char *version, *line_end, *host;
    bool chunked;
    char type[80];
};

static size_t draw(struct generator *g, size_t n) {
    uint64_t z = g->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (size_t)((z ^ (z >> 31)) % n);
}

static bool one_in(struct generator *g, size_t n) {
    return draw(g, n) == 0;
}

/* ---- the target ---- */

static const char *segment_value(struct generator *g, const char *name) {
    static const char *const datasets[] = {"iris", "iris", "d1", "d2", "gone", "a%20b", "x@2"},
                             *const models[] = {"m", "m", "m", "gone", "n", "%C3%A9"},
                             *const numbers[] = {"1", "1",   "2",
                                                 "0", "-1",  "999999",
                                                 "x", "1e3", "9007199254740992"},
                             *const algorithms[] = {"logistic", "svm", "nothing"},
                             *const others[] = {"invalid", "index", "security", "nothing"};
    return strncmp(name, "dataset", 7) == 0                                  ? PICK(g, datasets)
           : strncmp(name, "model", 5) == 0                                  ? PICK(g, models)
           : strncmp(name, "version", 7) == 0 || strncmp(name, "id", 2) == 0 ? PICK(g, numbers)
           : strncmp(name, "algorithm", 9) == 0                              ? PICK(g, algorithms)
                                                                             : PICK(g, others);
}

static void put_query(struct generator *g) {
    static const char *const values[] = {"",
                                         "1",
                                         "0",
                                         "-1",
                                         "true",
                                         "false",
                                         "auto",
                                         "a,b",
                                         "label",
                                         "scores",
                                         "NaN",
                                         "%C3%A9",
                                         "9999999999999999999",
                                         "1e999",
                                         "%22",
                                         "utf-8",
                                         "x:text",
                                         ";",
                                         ",",
                                         "newton",
                                         "label,probabilities",
                                         "0.5",
                                         "full",
                                         "%0A"};
    static const char *const others[] = {"sepal_length", "unknown", "limit", "a%00b", "%zz"};
    const char *const *names = g->route->query;
    size_t n = 0;
    while (names != NULL && names[n] != NULL) {
        n++;
    }
    for (size_t i = 0, most = one_in(g, 2) ? draw(g, 4) : 0; i < most; i++) {
        const char *name = n > 0 && !one_in(g, 20) ? names[draw(g, n)] : PICK(g, others);
        const char *value = strcmp(name, "wait") == 0 ? "0" : PICK(g, values);
        buf_printf(&g->target, "%c%s=%s", i == 0 ? '?' : '&', name, value);
        g->out->plain = g->out->plain && strchr(name, '%') == NULL;
    }
}

static void put_target(struct generator *g) {
    for (const char *c = g->route->path; *c != '\0'; c++) {
        if (*c == '{') {
            buf_puts(&g->target, segment_value(g, c + 1));
            c = strchr(c, '}');
        } else {
            buf_putc(&g->target, *c);
        }
    }
    put_query(g);
}

/* ---- the body ---- */

#define IRIS                                                                                       \
    "sepal_length,sepal_width,petal_length,petal_width,class\n5.1,3.5,1.4,0.2,setosa\n"            \
    "4.9,3,1.4,0.2,setosa\n7,3.2,4.7,1.4,versicolor\n6.4,3.2,4.5,1.5,versicolor\n"                 \
    "6.3,3.3,6,2.5,virginica\n5.8,2.7,5.1,1.9,virginica\n"
#define JOB                                                                                        \
    "{\"model\":\"m\",\"dataset\":\"iris\",\"target\":\"class\",\"algorithm\":\"logistic\","       \
    "\"params\":{\"max_iterations\":20},\"limits\":{\"seconds\":5}"

struct body {
    const char *type, *text;
};
static const struct body tables[] = {
    {"text/csv", IRIS},
    {"", IRIS},
    {"application/x-www-form-urlencoded", IRIS},
    {"text/tab-separated-values", "a\tb\n1\tx\n2\ty\n"},
    {"application/json", "[{\"a\":1,\"b\":\"x\"},{\"a\":2.5,\"b\":null}]"},
    {"application/json", "{\"columns\":[\"a\",\"b\"],\"rows\":[[1,true],[2,false]]}"},
    {"application/x-ndjson", "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n"},
    {"text/x-svmlight", "1 1:0.5 3:2 # c\n-1 2:1e-3\n"},
    {"text/x-arff", "@relation r\n@attribute a numeric\n@attribute b {x,y}\n@data\n1,x\n2,?\n"},
    {"multipart/form-data; boundary=cut",
     "--cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.csv\"\r\n"
     "Content-Type: text/csv\r\n\r\n" IRIS "\r\n--cut--\r\n"}};
static const struct body instances[] = {
    {"application/json", "{\"instances\":[[5.1,3.5,1.4,0.2],[6.3,2.8,5.1,1.5]]}"},
    {"application/json", "{\"instances\":[{\"sepal_length\":5.1,\"petal_width\":0.2}]}"},
    {"application/x-ndjson", "[5.1,3.5,1.4,0.2]\n{\"sepal_length\":5}\n"},
    {"text/csv", IRIS},
    {"text/csv", "5.1,3.5,1.4,0.2\n"},
    {"", "{\"dataset\":\"iris\"}"},
    {"text/x-svmlight", "1 1:5.1 2:3.5\n"}};
static const struct body objects[] = {
    {"application/json", JOB "}"},
    {"application/json", JOB ",\"validation\":{\"folds\":2},\"class_weight\":\"balanced\"}"},
    {"", "{\"model\":\"m\",\"dataset\":\"iris@1\",\"target\":\"class\",\"algorithm\":\"svm\"}"},
    {"application/json", "{\"description\":\"x\",\"tags\":[\"a\"]}"},
    {"application/json", "{\"version\":1}"},
    {"application/json", "{\"dataset\":\"iris\",\"repeats\":2,\"seed\":1}"},
    {"application/json", "{\"x\":\"sepal_length\",\"y\":\"petal_width\",\"steps\":5}"},
    {"application/json", "{}"}};

static void mutate_bytes(struct generator *g, struct buf *bytes) {
    static const char *const words[] = {"\"", "null",    "NaN",          "1e999",
                                        "[",  "]}",      "\xff",         ",",
                                        "\n", "{",       "\r\n",         "-0",
                                        "\\", "\\u0000", "\xef\xbb\xbf", "9007199254740993"};
    if (bytes->size == 0) {
        return;
    }
    const size_t at = draw(g, bytes->size), n = 1 + draw(g, bytes->size - at);
    struct buf made = {0};
    const char *word = PICK(g, words);
    switch (draw(g, 6)) {
    case 0: /* changes a bit */
        bytes->data[at] = (char)(bytes->data[at] ^ (1 << draw(g, 8)));
        return;
    case 1: /* cuts the end off */
        bytes->size = at;
        return;
    case 2: /* removes a part */
        buf_append(&made, bytes->data, at);
        buf_append(&made, bytes->data + at + n, bytes->size - at - n);
        break;
    case 3: /* repeats a part */
        buf_append(&made, bytes->data, at + n);
        buf_append(&made, bytes->data + at, bytes->size - at);
        break;
    case 4: /* a NUL */
        bytes->data[at] = '\0';
        return;
    default: /* inserts a word */
        buf_append(&made, bytes->data, at);
        buf_puts(&made, word);
        buf_append(&made, bytes->data + at, bytes->size - at);
    }
    buf_done(bytes);
    *bytes = made;
}

static void put_body(struct generator *g) {
    const bool table = g->route->body == HTTP_BODY_STREAM;
    const bool rows = strstr(g->route->operation, "predict") != NULL ||
                      strncmp(g->route->operation, "evaluate", 8) == 0 ||
                      strncmp(g->route->operation, "transform", 9) == 0;
    const size_t kind = one_in(g, 10) ? draw(g, 3) : table ? 0 : rows ? 1 : 2;
    const struct body body = kind == 0   ? PICK(g, tables)
                             : kind == 1 ? PICK(g, instances)
                                         : PICK(g, objects);
    buf_puts(&g->body, body.text);
    (void)snprintf(g->type, sizeof g->type, "%s", body.type);
    for (size_t i = 0, n = one_in(g, 3) ? 1 + draw(g, 4) : 0; i < n; i++) {
        mutate_bytes(g, &g->body);
    }
}

static void encode_body(struct generator *g) {
    const enum coding coding = one_in(g, 2) ? CODING_GZIP : CODING_DEFLATE;
    struct encoder *encoder = encoder_new(coding, CODING_FAST);
    struct buf coded = {0};
    if (encoder == NULL) {
        abort();
    }
    encoder_put(encoder, g->body.size > 0 ? g->body.data : "", g->body.size, true, &coded);
    encoder_free(encoder);
    buf_done(&g->body);
    g->body = coded;
    buf_printf(&g->lines, "Content-Encoding: %s%s", coding_name(coding), g->line_end);
    if (one_in(g, 4)) {
        mutate_bytes(g, &g->body);
    }
}

/* ---- the header ---- */

static void put_usual_lines(struct generator *g) {
    static const char *const accepts[] = {"application/json", "text/csv", "*/*",
                                          "application/x-ndjson", "text/html;q=0.5, */*;q=0.1"},
                             *const usual[] = {
                                 "If-None-Match: *",
                                 "If-Match: \"d1-1\"",
                                 "If-None-Match: W/\"x\"",
                                 "X-Request-Id: fuzz-1",
                                 "Last-Event-ID: 1",
                                 "Last-Event-ID: x",
                                 "Origin: http://localhost",
                                 "User-Agent: fuzz",
                                 "X-Forwarded-For: 10.0.0.1, 192.0.2.7",
                                 "Forwarded: for=192.0.2.7;proto=https;host=a.example",
                                 "Authorization: Bearer dsc_x",
                                 "Cookie: a=b",
                                 "Idempotency-Key: \"k1\"",
                                 "Idempotency-Key: k2"};
    buf_printf(&g->lines, "Host: %s%s", g->host, g->line_end);
    if (one_in(g, 3)) {
        buf_printf(&g->lines, "Accept: %s%s", PICK(g, accepts), g->line_end);
    }
    if (one_in(g, 4)) {
        buf_printf(&g->lines, "Accept-Encoding: gzip, deflate;q=0.5%s", g->line_end);
    }
    for (size_t i = 0, n = draw(g, 3); i < n; i++) {
        buf_printf(&g->lines, "%s%s", PICK(g, usual), g->line_end);
    }
    if (g->type[0] != '\0') {
        buf_printf(&g->lines, "Content-Type: %s%s", g->type, g->line_end);
    }
}

static void mutate_header(struct generator *g) {
    static const char *const lines[] = {"Host: localhost",
                                        "Host: evil.example",
                                        "Host: localhost:abc",
                                        "Host : localhost",
                                        "No colon at all",
                                        ": empty",
                                        "Na me: x",
                                        "X-Long: ",
                                        "X-A: b\r\n folded",
                                        "X-A: \x01\x7f",
                                        "X-B: \xff\xfe",
                                        "Content-Length: 5",
                                        "Content-Length: 0",
                                        "Content-Length: -1",
                                        "Content-Length: +3",
                                        "Content-Length: 0x10",
                                        "Content-Length: 3, 3",
                                        "Content-Length: 99999999999999999999",
                                        "Transfer-Encoding: chunked",
                                        "Transfer-Encoding: identity",
                                        "Transfer-Encoding: gzip, chunked",
                                        "Transfer-Encoding: chunked, chunked",
                                        "Transfer-Encoding: x",
                                        "Expect: 100-continue",
                                        "Expect: something",
                                        "Content-Encoding: br",
                                        "Content-Encoding: gzip, gzip",
                                        "Content-Range: bytes 0-1/2",
                                        "Range: bytes=0-1",
                                        "Origin: https://evil.example",
                                        "Origin: null",
                                        "X-Forwarded-For: unknown, \"",
                                        "Forwarded: for=\"[::1]:x\";host=",
                                        "Content-Type: text/csv; charset=\"",
                                        "Content-Type: multipart/form-data",
                                        "Accept: nothing/at-all",
                                        "Connection: keep-alive, upgrade",
                                        "Upgrade: h2c",
                                        "Trailer: X-A"};
    const size_t i = draw(g, COUNT(lines));
    buf_puts(&g->lines, lines[i]);
    for (size_t k = 0, n = strncmp(lines[i], "X-Long", 6) == 0 ? draw(g, 40000) : 0; k < n; k++) {
        buf_putc(&g->lines, 'a');
    }
    buf_puts(&g->lines, g->line_end);
    g->out->plain = false;
}

static void mutate_target(struct generator *g) {
    static const char *const ends[] = {"%",  "%zz",  "%00", "/%2F", "//",
                                       " x", "\xff", "#f",  "?a%",  ";"};
    struct buf made = {0};
    switch (draw(g, 5)) {
    case 0:
        buf_puts(&g->target, PICK(g, ends));
        break;
    case 1:
        buf_printf(&made, "http://localhost%.*s", (int)g->target.size, g->target.data);
        break;
    case 2:
        buf_puts(&made, one_in(g, 2) ? "*" : "nowhere");
        break;
    case 3: /* many parameters */
        for (size_t i = 0, n = draw(g, 4000); i < n; i++) {
            buf_puts(&g->target, i == 0 ? "?a=" : "&b");
        }
        break;
    default:
        mutate_bytes(g, &g->target);
    }
    if (made.size > 0) {
        buf_done(&g->target);
        g->target = made;
    }
    g->out->plain = false;
}

static void mutate_start(struct generator *g) {
    static const char *const methods[] = {"GET",
                                          "HEAD",
                                          "POST",
                                          "PUT",
                                          "PATCH",
                                          "DELETE",
                                          "OPTIONS",
                                          "TRACE",
                                          "get",
                                          "BREW",
                                          "VERYLONGMETHODNAMEINDEED"};
    static const char *const versions[] = {"HTTP/1.0", "HTTP/1.1 ", "HTTP/2.0",
                                           "HTTP/1.",  "http/1.1",  ""};
    if (one_in(g, 3)) {
        g->version = PICK(g, versions);
    } else {
        (void)snprintf(g->out->method, sizeof g->out->method, "%s", PICK(g, methods));
    }
    g->out->plain = false;
}

/* ---- the message ---- */

static void put_chunks(struct generator *g, bool broken, struct buf *out) {
    static const char *const sizes[] = {"zz",      "-1", "ffffffffffffffffff", "0x3", "",
                                        "3;a=\"b", " 3"};
    for (size_t at = 0; at < g->body.size;) {
        const size_t left = g->body.size - at, n = 1 + draw(g, left < 40 ? left : 40);
        if (broken && one_in(g, 4)) {
            buf_printf(out, "%s\r\n", PICK(g, sizes));
        } else {
            buf_printf(out, one_in(g, 9) ? "%zX;ext=1\r\n" : "%zx\r\n", n);
        }
        buf_append(out, g->body.data + at, n);
        buf_puts(out, broken && one_in(g, 4) ? "\n" : "\r\n");
        at += n;
    }
    if (broken && one_in(g, 2)) {
        return; /* without the last chunk */
    }
    buf_puts(out, one_in(g, 8) ? "0\r\nX-Trailer: a\r\n\r\n" : "0\r\n\r\n");
}

static void put_message(struct generator *g) {
    struct buf *out = &g->out->bytes;
    const bool has_body = g->body.size > 0 || g->type[0] != '\0';
    const bool broken = g->chunked && one_in(g, 8);
    buf_printf(out, "%s %.*s %s%s", g->out->method, (int)g->target.size,
               g->target.size > 0 ? g->target.data : "", g->version, g->line_end);
    buf_append(out, g->lines.data, g->lines.size);
    if (has_body && g->chunked) {
        buf_printf(out, "Transfer-Encoding: chunked%s", g->line_end);
        g->out->plain = g->out->plain && !broken;
    } else if (has_body) {
        size_t length = g->body.size;
        if (one_in(g, 25)) {
            length = one_in(g, 2) ? length + draw(g, 50) : draw(g, length + 1);
            g->out->plain = g->out->plain && length == g->body.size;
        }
        buf_printf(out, "Content-Length: %zu%s", length, g->line_end);
    }
    if (g->out->n_requests == 1) {
        buf_printf(out, "Connection: close%s", g->line_end);
    }
    buf_puts(out, g->line_end);
    if (has_body && g->chunked) {
        put_chunks(g, broken, out);
    } else if (has_body) {
        buf_append(out, g->body.data, g->body.size);
    }
    if (g->out->n_requests == 2) {
        buf_printf(out, "GET /healthz HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", g->host);
    }
}

static int compare_sizes(const void *a, const void *b) {
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static void cut(struct generator *g) {
    struct mutated_request *out = g->out;
    out->n_cuts = one_in(g, 3) ? 1 + draw(g, MUTATED_CUTS) : 0;
    for (size_t i = 0; i < out->n_cuts; i++) {
        out->cuts[i] = draw(g, out->bytes.size + 1);
    }
    qsort(out->cuts, out->n_cuts, sizeof out->cuts[0], compare_sizes);
}

static void mutate(struct generator *g) {
    switch (draw(g, 5)) {
    case 0:
        mutate_start(g);
        break;
    case 1:
        mutate_target(g);
        break;
    case 2:
    case 3:
        mutate_header(g);
        break;
    default:
        g->line_end = "\n";
        g->out->plain = false;
    }
}

/* Each twentieth request makes the dataset and the model again, which others delete. */
static bool restore(uint64_t number, struct mutated_request *out) {
    if (number % 10 != 0) {
        return false;
    }
    const bool upload = number % 20 == 0;
    const char *body = upload ? IRIS : JOB "}", *target = upload ? "/v1/datasets/iris" : "/v1/jobs";
    (void)snprintf(out->method, sizeof out->method, upload ? "PUT" : "POST");
    buf_puts(&out->target, target);
    (void)buf_cstr(&out->target);
    buf_printf(&out->bytes,
               "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: "
               "%zu\r\n\r\n%s",
               out->method, target, strlen(body), body);
    return true;
}

void mutated_request_make(uint64_t number, struct mutated_request *out) {
    *out = (struct mutated_request){.n_requests = 1, .plain = true};
    if (restore(number, out)) {
        return;
    }
    struct generator g = {.state = number * UINT64_C(0xd1342543de82ef95) + 1,
                          .out = out,
                          .version = "HTTP/1.1",
                          .line_end = "\r\n",
                          .host = "localhost"};
    g.route = &api_routes[draw(&g, api_n_routes)];
    (void)snprintf(out->method, sizeof out->method, "%s",
                   strcmp(g.route->method, "GET") == 0 && one_in(&g, 8) ? "HEAD" : g.route->method);
    out->n_requests += one_in(&g, 6);
    g.chunked = one_in(&g, 3);
    put_target(&g);
    if (g.route->body != HTTP_BODY_NONE || one_in(&g, 20)) {
        put_body(&g);
    }
    const size_t n_mutations = one_in(&g, 3) ? 1 + draw(&g, 3) : 0;
    for (size_t i = 0; i < n_mutations; i++) {
        mutate(&g);
        if (i == 0) {
            put_usual_lines(&g);
        }
    }
    if (n_mutations == 0) {
        put_usual_lines(&g);
    }
    if (g.body.size > 0 && one_in(&g, 6)) {
        encode_body(&g);
    }
    if (g.body.size > 0 && one_in(&g, 12)) {
        buf_printf(&g.lines, "Expect: 100-continue%s", g.line_end);
    }
    put_message(&g);
    buf_append(&out->target, g.target.data, g.target.size);
    (void)buf_cstr(&out->target);
    out->is_stream = strstr(g.route->path, "/events") != NULL;
    for (size_t i = 0, n = one_in(&g, 12) ? 1 + draw(&g, 3) : 0; i < n; i++) {
        mutate_bytes(&g, &out->bytes);
        out->plain = false;
    }
    cut(&g);
    out->early_close = one_in(&g, 30);
    buf_done(&g.lines);
    buf_done(&g.body);
    buf_done(&g.target);
}

void mutated_request_done(struct mutated_request *request) {
    buf_done(&request->bytes);
    buf_done(&request->target);
}
