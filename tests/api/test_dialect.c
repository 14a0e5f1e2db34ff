/* The dialect that on_error=repair of an upload detects (quote, escape, delimiter of several
 * characters) goes with the dataset and its models: rows are appended, predicted and evaluated in it
 * without options. Rows in the usual dialect are read too. */
#include "lib/api.h"

#include <string.h>

/* A table in a dialect. The texts of the second column contain the delimiter and the quote. */
struct dialect {
    const char *name, *delimiter;
    char quote, escape;
    const char *note; /* member of the notes */
};
static const struct dialect dialects[] = {
    {"apostrophe", ";", '\'', '\'', "\"delimiter\":\";\",\"quote\":\"'\""},
    {"double", "||", '"', '"', "\"delimiter\":\"||\""},
    {"blank", ", ", '"', '"', "\"delimiter\":\", \""},
    {"escape", ",", '"', '\\', "\"delimiter\":\",\",\"escape\":\"\\\\\""},
    {"both", "||", '\'', '\'', "\"delimiter\":\"||\",\"quote\":\"'\""},
};
static const struct dialect usual = {"usual", ",", '"', '"', ""};
static const char *const towns[] = {"New, York", "the \"old\" one", "St. John's", "Ulm"};

static const char *cell(const struct dialect *d, const char *bytes) {
    const char *out = text("%c", d->quote);
    for (; *bytes != '\0'; bytes++) {
        out = *bytes == d->quote ? text("%s%c%c", out, d->escape, d->quote)
                                 : text("%s%c", out, *bytes);
    }
    return text("%s%c", out, d->quote);
}

/* Rows from..to-1. header: the names come first; y: with the target. */
static const char *rows(const struct dialect *d, int from, int to, bool header, bool y) {
    const char *s = d->delimiter,
               *out = header ? text("id%stown%sx%s\n", s, s, y ? text("%sy", s) : "") : "";
    for (int i = from; i < to; i++) {
        out = text("%sk%d%s%s%s%d%s\n", out, i, s, cell(d, towns[i % 4]), s, i % 10,
                   y ? text("%s%s", s, i % 10 > 4 ? "yes" : "no") : "");
    }
    return out;
}

static const struct response *post(const char *path, const char *body) {
    return call(&(struct request){.method = "POST", .path = path, .body = body, .upload = true});
}

static void test_appends(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
        const struct dialect *d = &dialects[i];
        const char *url = text("/v1/datasets/%s", d->name), *more = text("%s/rows", url);
        const struct response *r =
            status_check(call_upload(text("%s?on_error=repair", url), rows(d, 0, 40, true, true)),
                         201);
        if (strstr(r->body, d->note) == NULL) {
            fail_msg("%s is not in %s", d->note, r->body);
        }
        status_check(post(more, rows(d, 40, 44, true, true)), 201);
        status_check(post(more, rows(d, 44, 48, false, true)), 201);
        status_check(post(more, rows(&usual, 48, 52, true, true)), 201);
        status_check(post(more, rows(&usual, 52, 56, false, true)), 201);
        r = status_check(post(text("%s?on_error=repair", more), rows(d, 56, 60, false, true)), 201);
        assert_int_equal(whole_at(r, "/rows"), 60);
        /* all parts together are the table in the usual dialect */
        const char *same = text("/v1/datasets/usual-%s", d->name);
        status_check(call_upload(same, rows(&usual, 0, 60, true, true)), 201);
        r = call_get_with("Accept: text/csv", "%s/rows", url);
        const char *got = text("%s", status_check(r, 200)->body);
        r = call_get_with("Accept: text/csv", "%s/rows", same);
        assert_string_equal(got, status_check(r, 200)->body);
        problem_check(post(more, text("%sk2%s%cUlm%s3%sno\n", rows(d, 0, 2, false, true),
                                      d->delimiter, d->quote, d->delimiter, d->delimiter)),
                      422, "invalid-dataset");
    }
}

static void test_models(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof dialects / sizeof dialects[0]; i++) {
        const struct dialect *d = &dialects[i];
        const char *model = text("/v1/models/%s", d->name);
        job_train("{'model':'%s','dataset':'%s','target':'y','algorithm':'logistic',"
                  "'features':{'exclude':['id']}}",
                  d->name, d->name);
        const char *headers[] = {"Content-Type: text/csv", NULL};
        const char *bodies[] = {rows(d, 0, 8, true, false), rows(&usual, 0, 8, true, false),
                                rows(d, 0, 8, true, true), rows(&usual, 0, 8, false, true),
                                rows(d, 0, 8, false, true)};
        const char *first = NULL;
        for (size_t k = 0; k < sizeof bodies / sizeof bodies[0]; k++) {
            const struct response *r = call_bytes("POST", text("%s/predict", model), headers,
                                                  bodies[k], strlen(bodies[k]));
            const char *from = strstr(status_check(r, 200)->body, "\"predictions\"");
            assert_null(strstr(r->body, "\"unseen\""));
            assert_int_equal(count_at(r, "/predictions"), 8);
            const char *ends = strchr(from, ']');
            const char *list = text("%.*s", (int)(ends - from), from);
            first = first == NULL ? list : first;
            assert_string_equal(list, first);
        }
        for (size_t k = 2; k < sizeof bodies / sizeof bodies[0]; k++) {
            const struct response *r = call_bytes("POST", text("%s/evaluate", model), headers,
                                                  bodies[k], strlen(bodies[k]));
            assert_int_equal(whole_at(status_check(r, 200), "/rows"), 8);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST(test_appends), TEST(test_models)};
    return RUN(tests);
}
