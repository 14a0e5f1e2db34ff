/* Query parameters of an upload: header, delimiter, missing, types, label; and media types. */
#include "wire/table_options.h"
#include "base/utf8.h"
#include "wire/cell.h"

#include <stdlib.h>
#include <string.h>

static bool type_parse(const char *text, size_t n, dn_column_type *out) {
    char name[16];
    if (n >= sizeof name) {
        return false;
    }
    memcpy(name, text, n);
    name[n] = '\0';
    return dn_column_type_parse(name, out);
}

/* One piece of the list: the type follows the last colon, so that a name may have one. */
static bool override_parse(const char *piece, size_t n, struct type_override *out, struct problem *problem) {
    char shown[TEXT_SHOWN];
    size_t colon = n;
    while (colon > 0 && piece[colon - 1] != ':') {
        colon--;
    }
    if (colon < 2) {
        return problem_set(problem, PROBLEM_BAD_REQUEST, "parameter \"types\" must be a list of name:type (got %s)",
                           text_show(piece, n, shown));
    }
    if (!type_parse(piece + colon, n - colon, &out->type)) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "parameter \"types\": a type must be numeric, boolean, categorical or text (got %s)",
                           text_show(piece + colon, n - colon, shown));
    }
    out->name = piece;
    out->length = colon - 1;
    out->used = false;
    return true;
}

bool table_types_parse(const char *text, struct type_override **out, size_t *n, struct problem *problem) {
    size_t count = 0, capacity = 1;
    for (const char *p = text; p != NULL && *p != '\0'; p++) {
        capacity += *p == ',';
    }
    struct type_override *list = calloc(capacity, sizeof *list);
    if (list == NULL) {
        return problem_set(problem, PROBLEM_UNAVAILABLE, "no memory left");
    }
    for (const char *p = text; p != NULL && *p != '\0';) {
        const size_t length = strcspn(p, ",");
        if (!override_parse(p, length, &list[count], problem)) {
            free(list);
            return false;
        }
        for (size_t i = 0; i < count; i++) {
            if (list[i].length == list[count].length && memcmp(list[i].name, list[count].name, list[i].length) == 0) {
                char shown[TEXT_SHOWN];
                text_show(list[i].name, list[i].length, shown);
                free(list);
                return problem_set(problem, PROBLEM_BAD_REQUEST, "parameter \"types\" names the column %s twice", shown);
            }
        }
        count++;
        p += length + (p[length] == ',');
    }
    *out = list;
    *n = count;
    return true;
}

static bool set_header(struct wire_table_options *options, const char *value, struct problem *problem) {
    char shown[TEXT_SHOWN];
    if (strcmp(value, "auto") == 0) {
        options->header = WIRE_HEADER_AUTO;
    } else if (strcmp(value, "true") == 0) {
        options->header = WIRE_HEADER_YES;
    } else if (strcmp(value, "false") == 0) {
        options->header = WIRE_HEADER_NO;
    } else {
        return problem_set(problem, PROBLEM_BAD_REQUEST, "parameter \"header\" must be auto, true or false (got %s)",
                           text_show(value, strlen(value), shown));
    }
    return true;
}

static bool set_delimiter(struct wire_table_options *options, const char *value, struct problem *problem) {
    static const struct {
        const char *text;
        char delimiter;
    } known[] = {{",", ','},    {";", ';'},         {"\t", '\t'},  {"|", '|'},    {"comma", ','},
                 {"tab", '\t'}, {"semicolon", ';'}, {"\\t", '\t'}, {"pipe", '|'}, {"auto", '\0'}};
    char shown[TEXT_SHOWN];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(value, known[i].text) == 0) {
            options->delimiter = known[i].delimiter;
            return true;
        }
    }
    return problem_set(problem, PROBLEM_BAD_REQUEST,
                       "parameter \"delimiter\" must be a comma, a semicolon, a tab or | (or comma, semicolon, tab, pipe; got %s)",
                       text_show(value, strlen(value), shown));
}

static bool set_label(struct wire_table_options *options, const char *value, struct problem *problem) {
    const size_t n = strlen(value);
    if (n == 0 || n > WIRE_MAX_NAME) {
        return problem_set(problem, PROBLEM_BAD_REQUEST, "parameter \"label\" must be a name of 1 to %d bytes (got %zu)", WIRE_MAX_NAME, n);
    }
    options->label = value;
    return true;
}

static bool set_missing(struct wire_table_options *options, const char *value, struct problem *problem) {
    struct missing tokens;
    if (!missing_init(&tokens, value, problem)) {
        return false;
    }
    options->missing = value;
    return true;
}

static bool set_types(struct wire_table_options *options, const char *value, struct problem *problem) {
    struct type_override *list = NULL;
    size_t n = 0;
    if (!table_types_parse(value, &list, &n, problem)) {
        return false;
    }
    free(list);
    options->types = value;
    return true;
}

bool wire_table_option(struct wire_table_options *options, const char *name, const char *value, struct problem *problem) {
    static const struct {
        const char *name;
        bool (*set)(struct wire_table_options *options, const char *value, struct problem *problem);
    } known[] = {
        {"header", set_header}, {"delimiter", set_delimiter}, {"missing", set_missing}, {"types", set_types}, {"label", set_label}};
    char shown[TEXT_SHOWN];
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i].name) == 0) {
            return known[i].set(options, value, problem);
        }
    }
    return problem_set(problem, PROBLEM_BAD_REQUEST, "unknown query parameter %s: there are header, delimiter, missing, types, label",
                       text_show(name, strlen(name), shown));
}

bool wire_table_format(const char *media_type, enum wire_format *out) {
    static const struct {
        const char *media_type;
        enum wire_format format;
    } known[] = {{"", WIRE_SNIFF}, {"text/csv", WIRE_CSV}, {"text/tab-separated-values", WIRE_TSV}, {"application/json", WIRE_JSON}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(media_type, known[i].media_type) == 0) {
            *out = known[i].format;
            return true;
        }
    }
    return false;
}
