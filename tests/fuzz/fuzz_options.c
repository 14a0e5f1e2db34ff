/* Parses the input as the query parameters that say how a table is read, or as the arguments of a
 * command. Byte 0 of the input chooses the parameter; above 127 the rest are arguments, separated
 * by line ends. */
#include "base/options/options.h"
#include "formats/table/table_options.h"
#include "fuzz/support.h"

static void check_parameter(const char *name, const char *value) {
    struct table_options options = {0};
    struct problem problem = {0};
    if (table_option_parse(&options, name, value, &problem)) {
        struct type_override *types = NULL;
        struct text *names = NULL;
        size_t n = 0;
        if (table_types_parse(options.types, &types, &n, &problem)) {
            free(types);
        }
        problem_done(&problem);
        problem = (struct problem){0};
        if (options.names != NULL && table_names_parse(options.names, &names, &n, &problem)) {
            free(names);
        }
    } else {
        CHECK(problem.type == PROBLEM_BAD_REQUEST);
    }
    problem_done(&problem);
    problem = (struct problem){0};
    struct missing *missing = malloc(sizeof *missing);
    CHECK(missing != NULL);
    if (missing_init(missing, value, &problem)) {
        CHECK(missing->n <= MISSING_STANDARD + MISSING_MAX);
        (void)cell_says(missing, value, strlen(value));
    }
    problem_done(&problem);
    free(missing);
}

struct values {
    const char *text, *choice;
    struct option_list list;
    int64_t whole, bytes;
    double seconds;
    bool flag;
};

static void check_arguments(char *text) {
    static const struct option_row rows[] = {
        {"text", OPTION_STRING, offsetof(struct values, text), "a", 0, 0, NULL, "T", "h", "g"},
        {"list", OPTION_LIST, offsetof(struct values, list), NULL, 0, 0, NULL, "L", "h", "g"},
        {"whole", OPTION_INT, offsetof(struct values, whole), "4", 1, 256, NULL, "N", "h", "g"},
        {"bytes", OPTION_SIZE, offsetof(struct values, bytes), "64M", 0, 1e15, NULL, "B", "h", "g"},
        {"time", OPTION_SECONDS, offsetof(struct values, seconds), "5s", 0, 3600, NULL, "S", "h",
         "g"},
        {"flag", OPTION_FLAG, offsetof(struct values, flag), NULL, 0, 0, NULL, NULL, "h", "g"},
        {"choice", OPTION_CHOICE, offsetof(struct values, choice), "text", 0, 0, "text|json", "C",
         "h", "g"}};
    enum { N_ROWS = sizeof rows / sizeof rows[0], MOST = 32 };
    char *argv[MOST + 2] = {"discernd"};
    int argc = 1;
    for (char *at = text, *end; at != NULL && argc < MOST; at = end) {
        end = strchr(at, '\n');
        if (end != NULL) {
            *end++ = '\0';
        }
        argv[argc++] = at;
    }
    struct values values = {0};
    struct problem problem = {0};
    if (options_read_arguments(rows, N_ROWS, argc, argv, &values, &problem)) {
        CHECK(values.whole >= 1 && values.whole <= 256 && values.bytes >= 0);
        CHECK(values.seconds >= 0 && values.seconds <= 3600 && values.choice != NULL);
        CHECK(values.list.n <= OPTION_LIST_MAX);
    } else {
        CHECK(problem.type != PROBLEM_NONE);
    }
    problem_done(&problem);
    options_free(rows, N_ROWS, &values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = {"encoding",   "decimal",   "thousands",  "strip",
                                        "header",     "delimiter", "skip_rows",  "names",
                                        "duplicates", "missing",   "types",      "label",
                                        "comment",    "on_error",  "zero_based", "rows"};
    if (size < 1) {
        return 0;
    }
    char *text = calloc(1, size);
    CHECK(text != NULL);
    memcpy(text, data + 1, size - 1);
    if (data[0] & 128) {
        check_arguments(text);
    } else {
        check_parameter(names[data[0] & 15], text);
    }
    free(text);
    return 0;
}
