/* Query parameters of an upload: header, delimiter, skip_rows, names, duplicates, missing, decimal,
 * thousands, strip, types, label, comment, on_error, zero_based, rows. */
#include "formats/table/table_options.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "formats/csv/csv_separator.h"
#include "formats/text/cell.h"
#include "formats/text/encoding.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Parses a type; "datetime(dmy)" is one with the order of its dates. */
static bool type_parse(const char *text, size_t n, struct type_override *out) {
    static const struct {
        const char *name;
        uint8_t orders;
    } dates[] = {{"datetime(ymd)", DN_DATE_YMD | DN_DATE_COMPACT},
                 {"datetime(dmy)", DN_DATE_DMY},
                 {"datetime(mdy)", DN_DATE_MDY}};
    char name[16];
    if (n >= sizeof name) {
        return false;
    }
    memcpy(name, text, n);
    name[n] = '\0';
    out->orders = DN_DATE_ANY | DN_DATE_COMPACT;
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
        if (strcmp(name, dates[i].name) == 0) {
            out->type = DN_DATETIME;
            out->orders = dates[i].orders;
            return true;
        }
    }
    /* only formats with sparse rows make sparse columns: `types` cannot declare one */
    return dn_column_type_parse(name, &out->type) && out->type != DN_SPARSE;
}

static const char *const type_names[] = {"numeric", "boolean", "categorical", "text", "datetime"};

/* Parses an item of the list. `name` (with room for the whole text) gets the name: the quoted text,
 * or everything before the last colon of the item. Returns the end of the item; NULL if the item is
 * invalid. */
static const char *override_parse(const char *item, char *name, size_t room,
                                  struct type_override *out, struct problem *problem) {
    char shown[TEXT_SHOWN];
    struct text behind;
    size_t n = 0;
    const char *end = list_item(item, name, room, &n, &behind);
    if (end != NULL && *item != '"') {
        size_t colon = n;
        while (colon > 0 && item[colon - 1] != ':') {
            colon--;
        }
        n = colon > 0 ? colon - 1 : 0;
        behind = (struct text){item + n, (size_t)(end - item) - n};
    }
    if (end == NULL || n == 0 || behind.n == 0 || behind.bytes[0] != ':') {
        problem_set(problem, PROBLEM_BAD_REQUEST,
                    "parameter \"types\" must be a list of name:type (got %s)",
                    text_show(item, end != NULL ? (size_t)(end - item) : strlen(item), shown));
        return NULL;
    }
    if (!type_parse(behind.bytes + 1, behind.n - 1, out)) {
        struct nearest near = nearest_to(behind.bytes + 1, behind.n - 1);
        for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
            nearest_offer(&near, type_names[i], strlen(type_names[i]));
        }
        problem_set(
            problem, PROBLEM_BAD_REQUEST,
            "parameter \"types\": a type must be numeric, boolean, categorical, text, datetime, "
            "datetime(dmy), datetime(mdy) or datetime(ymd) (got %s)%s",
            text_show(behind.bytes + 1, behind.n - 1, shown), near.hint);
        return NULL;
    }
    out->name = name;
    out->length = n;
    out->used = false;
    return end;
}

/* Checks that list[count] has another name than list[0 … count - 1]. Returns false if not and
 * sets problem. */
static bool check_new(const struct type_override *list, size_t count, struct problem *problem) {
    char shown[TEXT_SHOWN];
    for (size_t i = 0; i < count; i++) {
        if (list[i].length == list[count].length &&
            memcmp(list[i].name, list[count].name, list[i].length) == 0) {
            return problem_set(problem, PROBLEM_BAD_REQUEST,
                               "parameter \"types\" names the column %s twice",
                               text_show(list[i].name, list[i].length, shown));
        }
    }
    return true;
}

bool table_types_parse(const char *text, struct type_override **out, size_t *n,
                       struct problem *problem) {
    const size_t size = text != NULL ? strlen(text) : 0;
    size_t count = 0, capacity = 1;
    for (size_t i = 0; i < size; i++) {
        capacity += text[i] == ',';
    }
    /* the names are stored after the list in the same memory */
    struct type_override *list = calloc(1, capacity * sizeof *list + size + 1);
    if (list == NULL) {
        return problem_no_memory(problem);
    }
    char *names = (char *)(list + capacity);
    for (const char *p = text; p != NULL && *p != '\0'; count++) {
        p = override_parse(p, names, size, &list[count], problem);
        if (p == NULL || !check_new(list, count, problem)) {
            free(list);
            return false;
        }
        names += list[count].length;
        p += *p == ',';
    }
    *out = list;
    *n = count;
    return true;
}

bool table_names_parse(const char *list, struct text **out, size_t *n, struct problem *problem) {
    const size_t size = strlen(list);
    size_t count = 0, capacity = 1;
    for (size_t i = 0; i < size; i++) {
        capacity += list[i] == ',';
    }
    /* the names are stored after the array in the same memory */
    struct text *names = malloc(capacity * sizeof *names + size + 1);
    if (names == NULL) {
        return problem_no_memory(problem);
    }
    char *into = (char *)(names + capacity);
    bool well = size > 0 && list[size - 1] != ',';
    for (const char *p = list; well && *p != '\0'; count++) {
        struct text behind;
        size_t length = 0;
        const char *end = list_item(p, into, size, &length, &behind);
        names[count] = end != NULL ? text_trim(into, length) : (struct text){0};
        well = names[count].n > 0 && behind.n == 0;
        into += length;
        p = well && *end == ',' ? end + 1 : end;
    }
    if (!well) {
        free(names);
        return problem_set(
            problem, PROBLEM_BAD_REQUEST,
            "parameter \"names\" must be a list of names, separated by commas; a name "
            "with a comma is written in quotes (name %zu is empty or has no closing "
            "quote)",
            count > 0 ? count : 1);
    }
    *out = names;
    *n = count;
    return true;
}

static bool set_names(struct table_options *options, const char *value, struct problem *problem) {
    struct text *names = NULL;
    size_t n = 0;
    if (!table_names_parse(value, &names, &n, problem)) {
        return false;
    }
    free(names);
    options->names = value;
    return true;
}

static bool set_duplicates(struct table_options *options, const char *value,
                           struct problem *problem) {
    char shown[TEXT_SHOWN];
    options->rename = strcmp(value, "rename") == 0;
    return options->rename || strcmp(value, "reject") == 0 ||
           problem_set(problem, PROBLEM_BAD_REQUEST,
                       "parameter \"duplicates\" must be reject or rename (got %s)",
                       text_show(value, strlen(value), shown));
}

static bool set_encoding(struct table_options *options, const char *value,
                         struct problem *problem) {
    char shown[TEXT_SHOWN];
    options->encoding = encoding_find(value, strlen(value));
    return options->encoding != NULL ||
           problem_set(problem, PROBLEM_BAD_REQUEST,
                       "parameter \"encoding\" must be " ENCODING_RULE " (got %s)",
                       text_show(value, strlen(value), shown));
}

/* Parses a number of at most seven digits. Returns -1 if the text is none. */
static long parse_count(const char *text) {
    const size_t n = strlen(text);
    return n > 0 && n <= 7 && strspn(text, "0123456789") == n ? strtol(text, NULL, 10) : -1;
}

static bool set_header(struct table_options *options, const char *value, struct problem *problem) {
    char shown[TEXT_SHOWN];
    const long lines = parse_count(value);
    options->header_lines = lines > 0 ? lines : 0;
    if (strcmp(value, "auto") == 0) {
        options->header = TABLE_HEADER_AUTO;
    } else if (strcmp(value, "true") == 0 || (lines > 0 && lines <= TABLE_MAX_HEADER_LINES)) {
        options->header = TABLE_HEADER_YES;
    } else if (strcmp(value, "false") == 0 || lines == 0) {
        options->header = TABLE_HEADER_NO;
    } else {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "parameter \"header\" must be auto, true, false or the number of header "
                           "lines, 0 … %d (got %s)",
                           TABLE_MAX_HEADER_LINES, text_show(value, strlen(value), shown));
    }
    return true;
}

/* Checks that the comment character is not the delimiter. */
static bool check_comment(const struct table_options *options, struct problem *problem) {
    return options->comment == '\0' || options->comment != options->delimiter ||
           problem_set(problem, PROBLEM_BAD_REQUEST,
                       "parameter \"comment\" must not be the delimiter (got \"%c\" for both)",
                       options->comment);
}

static bool set_comment(struct table_options *options, const char *value, struct problem *problem) {
    char shown[TEXT_SHOWN];
    if (strlen(value) != 1 || !ispunct((unsigned char)value[0]) || value[0] == '"') {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "parameter \"comment\" must be one ASCII character that is no letter, "
                           "digit, space or quote (got %s)%s",
                           text_show(value, strlen(value), shown),
                           value[0] == '\0' ? "; # is written %23 in a URL" : "");
    }
    options->comment = value[0];
    return check_comment(options, problem);
}

static bool set_on_error(struct table_options *options, const char *value,
                         struct problem *problem) {
    char shown[TEXT_SHOWN];
    static const char *const names[] = {
        [TABLE_REJECT] = "reject", [TABLE_SKIP] = "skip", [TABLE_REPAIR] = "repair"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(value, names[i]) == 0) {
            options->on_error = (enum table_on_error)i;
            return true;
        }
    }
    return problem_set(problem, PROBLEM_BAD_REQUEST,
                       "parameter \"on_error\" must be reject, skip or repair (got %s)",
                       text_show(value, strlen(value), shown));
}

static bool set_allow_type_change(struct table_options *options, const char *value,
                                  struct problem *problem) {
    char shown[TEXT_SHOWN];
    options->allow_type_change = strcmp(value, "true") == 0;
    return options->allow_type_change || strcmp(value, "false") == 0 ||
           problem_set(problem, PROBLEM_BAD_REQUEST,
                       "parameter \"allow_type_change\" must be true or false (got %s)",
                       text_show(value, strlen(value), shown));
}

static bool set_decimal(struct table_options *options, const char *value, struct problem *problem) {
    return marks_set_decimal(&options->marks, value, problem);
}

static bool set_thousands(struct table_options *options, const char *value,
                          struct problem *problem) {
    return marks_set_thousands(&options->marks, value, problem);
}

static bool set_strip(struct table_options *options, const char *value, struct problem *problem) {
    return marks_set_strip(&options->marks, value, problem);
}

static bool set_zero_based(struct table_options *options, const char *value,
                           struct problem *problem) {
    char shown[TEXT_SHOWN];
    options->zero_based = strcmp(value, "true") == 0;
    return options->zero_based || strcmp(value, "false") == 0 ||
           problem_set(problem, PROBLEM_BAD_REQUEST,
                       "parameter \"zero_based\" must be true or false (got %s)",
                       text_show(value, strlen(value), shown));
}

static bool set_delimiter(struct table_options *options, const char *value,
                          struct problem *problem) {
    static const struct {
        const char *text;
        char delimiter;
    } known[] = {{"comma", ','}, {"semicolon", ';'},    {"tab", '\t'}, {"\\t", '\t'},
                 {"pipe", '|'},  {"space", CSV_BLANKS}, {"auto", '\0'}};
    char shown[TEXT_SHOWN];
    if (strlen(value) == 1 && csv_delimiter_allowed(value[0])) {
        options->delimiter = value[0];
        return check_comment(options, problem);
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(value, known[i].text) == 0) {
            options->delimiter = known[i].delimiter;
            return check_comment(options, problem);
        }
    }
    return problem_set(problem, PROBLEM_BAD_REQUEST,
                       "parameter \"delimiter\" must be a comma, a semicolon, a tab or | (or "
                       "comma, semicolon, tab, pipe), space for runs of blanks, or another ASCII "
                       "punctuation character that is no quote, point, plus or minus (got %s)",
                       text_show(value, strlen(value), shown));
}

static bool set_skip_rows(struct table_options *options, const char *value,
                          struct problem *problem) {
    char shown[TEXT_SHOWN];
    const long rows = parse_count(value);
    options->skip_rows = rows;
    return (rows >= 0 && rows <= TABLE_MAX_SKIP) ||
           problem_set(problem, PROBLEM_BAD_REQUEST,
                       "parameter \"skip_rows\" must be the number of lines before the table, "
                       "0 … %d (got %s)",
                       TABLE_MAX_SKIP, text_show(value, strlen(value), shown));
}

static bool set_label(struct table_options *options, const char *value, struct problem *problem) {
    const size_t n = strlen(value), sharp = value[0] == '#';
    const bool digits = n > sharp && strspn(value + sharp, "0123456789") == n - sharp;
    const long at = digits ? parse_count(value + sharp) : 0;
    const bool may = at >= 1 && at <= TABLE_MAX_COLUMNS;
    if (sharp && digits && !may) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "parameter \"label\": the position of a column must be 1 … %d (got "
                           "%.100s)",
                           TABLE_MAX_COLUMNS, value);
    }
    options->label_at = digits && !may ? TABLE_MAX_COLUMNS + 1 : at;
    if (n == 0 || n > TABLE_MAX_NAME) {
        return problem_set(problem, PROBLEM_BAD_REQUEST,
                           "parameter \"label\" must be a name of 1 to %d bytes (got %zu)",
                           TABLE_MAX_NAME, n);
    }
    options->label = digits && sharp ? NULL : value;
    return true;
}

static bool set_missing(struct table_options *options, const char *value, struct problem *problem) {
    struct missing tokens;
    if (!missing_init(&tokens, value, problem)) {
        return false;
    }
    options->missing = value;
    return true;
}

static bool set_types(struct table_options *options, const char *value, struct problem *problem) {
    struct type_override *list = NULL;
    size_t n = 0;
    if (!table_types_parse(value, &list, &n, problem)) {
        return false;
    }
    free(list);
    options->types = value;
    return true;
}

static bool set_rows(struct table_options *options, const char *value, struct problem *problem) {
    char shown[TEXT_SHOWN];
    const size_t n = strlen(value);
    const long rows =
        n > 0 && n <= 4 && strspn(value, "0123456789") == n ? strtol(value, NULL, 10) : 0;
    options->rows = rows;
    return (rows >= 1 && rows <= TABLE_MAX_PREVIEW) ||
           problem_set(problem, PROBLEM_BAD_REQUEST, "parameter \"rows\" must be 1 … %d (got %s)",
                       TABLE_MAX_PREVIEW, text_show(value, n, shown));
}

/* initial: the value that has the same meaning as leaving out the parameter; "" if there is no such
 * value; NULL: the option is stored only when it is given. */
static const struct option {
    const char *name;
    bool (*set)(struct table_options *options, const char *value, struct problem *problem);
    const char *initial;
} known_options[] = {
    {"encoding", set_encoding, NULL},
    {"header", set_header, "auto"},
    {"delimiter", set_delimiter, "auto"},
    {"skip_rows", set_skip_rows, NULL},
    {"names", set_names, NULL},
    {"duplicates", set_duplicates, NULL},
    {"missing", set_missing, ""},
    {"decimal", set_decimal, NULL},
    {"thousands", set_thousands, NULL},
    {"strip", set_strip, NULL},
    {"types", set_types, ""},
    {"label", set_label, ""},
    {"comment", set_comment, ""},
    {"on_error", set_on_error, "reject"},
    {"zero_based", set_zero_based, "false"},
    {"rows", set_rows, ""},
    {"allow_type_change", set_allow_type_change, "false"},
};

static const struct option *find_option(const char *name) {
    for (size_t i = 0; i < sizeof known_options / sizeof known_options[0]; i++) {
        if (strcmp(name, known_options[i].name) == 0) {
            return &known_options[i];
        }
    }
    return NULL;
}

bool table_option_exists(const char *name) {
    return find_option(name) != NULL;
}

const char *table_option_initial(const char *name) {
    const struct option *option = find_option(name);
    return option != NULL ? option->initial : "";
}

bool table_option_parse(struct table_options *options, const char *name, const char *value,
                        struct problem *problem) {
    char shown[TEXT_SHOWN];
    const struct option *option = find_option(name);
    return option != NULL
               ? option->set(options, value, problem)
               : problem_set(problem, PROBLEM_BAD_REQUEST,
                             "unknown query parameter %s: there are encoding, header, delimiter, "
                             "skip_rows, missing, decimal, thousands, strip, types, label, "
                             "comment, on_error, zero_based",
                             text_show(name, strlen(name), shown));
}
