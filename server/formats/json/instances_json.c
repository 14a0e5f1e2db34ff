/* Reads instances as JSON: {"instances": […]}, the array alone, or a table {"columns": […],
 * "rows": [[…]]}, where "columns" must come first, as in uploads. instances_json_row.c reads a
 * single instance. */
#include "formats/json/instances_json.h"
#include "base/memory/array.h"
#include "formats/json/format_json.h"

#include "base/json/json.h"

#include <stdlib.h>
#include <string.h>

static void rows(struct json_reading *r) {
    while (json_next(r) != JSON_TOKEN_END_ARRAY && !json_over(r)) {
        json_row(r);
    }
}

/* ---- columns ---- */
static void column_fault(struct json_reading *r, const char *what) {
    struct buf pointer = {0};
    buf_printf(&pointer, "/columns/%zu", r->n_columns);
    instances_fault(r->in, buf_cstr(&pointer), 0, 0, "%s", what);
    buf_done(&pointer);
}

static void add_column(struct json_reading *r, const char *name, size_t n) {
    struct instances *in = r->in;
    struct slot slot;
    const char *why = instances_claim(in, text_trim(name, n), r->n_columns, &slot);
    if (in->stopped) {
        return;
    }
    if (r->n_columns == r->columns_capacity &&
        !array_grow(&r->column, &r->columns_capacity, 16, sizeof *r->column)) {
        instances_no_memory(in);
        return;
    }
    /* a feature of a sparse input that is given twice is reported for each row */
    if (why != NULL) {
        column_fault(r, why);
    }
    r->column[r->n_columns++] = slot;
}

/* Reads the "name" of a column object. Other members are ignored, so that a client can send the
 * description of a dataset. */
static bool read_name(struct json_reading *r, struct buf *name) {
    bool named = false;
    while (json_next(r) == JSON_TOKEN_KEY && !json_over(r)) {
        const bool wanted = text_is((struct text){r->token.text, r->token.length}, "name");
        json_next(r);
        if (wanted) {
            named = r->token.kind == JSON_TOKEN_STRING;
            buf_clear(name);
            buf_append(name, named ? r->token.text : "", named ? r->token.length : 0);
        }
        json_skip(r);
    }
    return named && !json_over(r);
}

static void columns(struct json_reading *r) {
    struct buf name = {0};
    while (json_next(r) != JSON_TOKEN_END_ARRAY && !json_over(r)) {
        if (r->token.kind == JSON_TOKEN_STRING) {
            add_column(r, r->token.text, r->token.length);
        } else if (r->token.kind == JSON_TOKEN_BEGIN_OBJECT && read_name(r, &name) &&
                   !name.failed) {
            add_column(r, name.size > 0 ? name.data : "", name.size);
        } else if (name.failed) {
            instances_no_memory(r->in);
        } else if (!json_over(r)) {
            column_fault(r, "a column must be a name, or an object with a name");
            r->in->stopped = true; /* the next columns would have wrong numbers */
        }
    }
    buf_done(&name);
}

/* ---- the document ---- */
struct members {
    bool instances, columns, rows; /* these members were read */
    bool alone;                    /* the body is one instance, not an object with instances */
};

/* Begins the array of a member. A value of another kind is a fault and is skipped. */
static bool begin_array(struct json_reading *r, const char *pointer) {
    if (json_next(r) != JSON_TOKEN_BEGIN_ARRAY && !json_over(r)) {
        instances_fault(r->in, pointer, 0, 0, "\"%s\" must be an array", pointer + 1);
        json_skip(r);
    }
    return r->token.kind == JSON_TOKEN_BEGIN_ARRAY && !json_over(r);
}

/* Reads rows in the order of "columns". If there was a fault, the rows are skipped. */
static void listed_rows(struct json_reading *r, const struct members *m) {
    r->prefix = r->in->rows.place = "/rows";
    if (!m->columns) {
        instances_fault(r->in, "/rows", 0, 0, "\"columns\" must come before \"rows\"");
    }
    if (r->in->problem->type != PROBLEM_NONE) {
        json_next(r);
        json_skip(r);
        return;
    }
    instances_check_keep(r->in, "/columns");
    if (begin_array(r, "/rows")) {
        while (json_next(r) != JSON_TOKEN_END_ARRAY && !json_over(r)) {
            json_listed_row(r);
        }
    }
}

static void fault_member(struct json_reading *r, struct text key, const char *before,
                         const char *after) {
    char shown[TEXT_SHOWN];
    struct buf name = {0}, pointer = {0};
    buf_append(&name, key.bytes, key.n);
    const char *text = buf_cstr(&name);
    if (text != NULL) {
        json_pointer(&pointer, "", text);
    }
    instances_fault(r->in, buf_cstr(&pointer), 0, 0, "%s%s%s", before,
                    text_show(key.bytes, key.n, shown), after);
    buf_done(&name);
    buf_done(&pointer);
}

/* Reports an unknown member. Most often the whole body is a single instance. */
static void other_member(struct json_reading *r, struct text key, struct members *m) {
    char shown[TEXT_SHOWN];
    if (!m->alone && !m->instances && !m->columns &&
        instances_find(r->in, key.bytes, key.n, SIZE_MAX).input != SIZE_MAX) {
        m->alone = true;
        instances_fault(r->in, "", 0, 0,
                        "the body is one instance (%s is a column of the model): send "
                        "{\"instances\":[{…}]}, or one instance on each line as "
                        "application/x-ndjson",
                        text_show(key.bytes, key.n, shown));
    } else if (!m->alone && !r->in->stopped) {
        fault_member(r, key, "unknown member ",
                     ": there are only \"instances\", or \"columns\" and \"rows\", or \"dataset\" "
                     "alone");
    }
    json_next(r);
    json_skip(r);
}

static void member(struct json_reading *r, struct members *m) {
    const struct text key = {r->token.text, r->token.length};
    const char *const names[] = {"instances", "columns", "rows"};
    bool *const seen[] = {&m->instances, &m->columns, &m->rows};
    size_t which = 0;
    while (which < 3 && !text_is(key, names[which])) {
        which++;
    }
    if (which == 3 || m->alone) {
        other_member(r, key, m);
        return;
    }
    if (*seen[which]) {
        fault_member(r, key, "member ", " comes twice");
        json_next(r);
        json_skip(r);
        return;
    }
    *seen[which] = true;
    if (which == 0 && begin_array(r, "/instances")) {
        rows(r);
    } else if (which == 1 && begin_array(r, "/columns")) {
        columns(r);
    } else if (which == 2) {
        listed_rows(r, m);
    }
}

/* Checks which members the document has. */
static void judge_members(struct json_reading *r, const struct members *m) {
    if (m->alone) {
        return;
    }
    if (m->instances && (m->columns || m->rows)) {
        instances_fault(r->in, "", 0, 0,
                        "there must be either \"instances\", or \"columns\" and \"rows\"");
    } else if (m->columns && !m->rows) {
        instances_fault(r->in, "/rows", 0, 0, "\"rows\" is missing");
    } else if (!m->instances && !m->rows) {
        instances_fault(r->in, "/instances", 0, 0,
                        "\"instances\" is missing: the body must be as {\"instances\":[{…}]}");
    }
}

static void document(struct json_reading *r) {
    struct members m = {0};
    if (json_next(r) == JSON_TOKEN_BEGIN_ARRAY) {
        r->prefix = r->in->rows.place = "";
        rows(r);
    } else if (r->token.kind == JSON_TOKEN_BEGIN_OBJECT) {
        while (json_next(r) == JSON_TOKEN_KEY && !json_over(r)) {
            member(r, &m);
        }
        if (!json_over(r)) {
            judge_members(r, &m);
        }
    } else if (!json_over(r)) {
        instances_fault(r->in, "", 0, 0,
                        "the body must be an object with \"instances\", or an array");
    }
    if (!json_over(r)) {
        json_next(r); /* reads the end of the body, or a fault */
    }
}

static bool read_json(struct instances *in, const char *body, size_t size,
                      struct instance_rows *out) {
    struct json_reading r = {.in = in, .prefix = "/instances"};
    json_reader_init(&r.json);
    /* NaN and Infinity are reported as faults of their values, not as faults of JSON */
    r.json.allow_not_finite = true;
    json_reader_feed(&r.json, body, size);
    json_reader_close(&r.json);
    in->rows.place = r.prefix;
    document(&r);
    if (r.token.kind == JSON_TOKEN_FAULT) {
        json_reader_problem(&r.json, in->problem);
    }
    const bool well = instances_finish(in, r.prefix, out);
    json_reading_done(&r);
    return well;
}

static bool sniff(const char *body, size_t size) {
    return size > 0 && (body[0] == '{' || body[0] == '[') && !instances_json_is_lines(body, size);
}

const struct instances_reader json_instances = {.sniff = sniff, .read = read_json};
