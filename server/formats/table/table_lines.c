#include "formats/table/table_lines.h"

static void on_fault(void *arg, int64_t line, int64_t column, const char *text) {
    table_fatal(arg, line, column, "%s", text);
}

enum table_begin table_lines_begin(struct table *t, void *state,
                                   bool (*line)(void *arg, const char *bytes, size_t n,
                                                int64_t line),
                                   bool (*wrong)(void *arg, const char *bytes, size_t n,
                                                 int64_t line, int64_t column, const char *text)) {
    if (state == NULL) {
        table_no_memory(t);
        return TABLE_BEGIN_REFUSED;
    }
    t->state = state;
    text_lines_init(t->state, TABLE_MAX_ROW,
                    &(struct text_lines_handler){.line = line,
                                                 .wrong = t->options.on_error == TABLE_SKIP ? wrong
                                                                                            : NULL,
                                                 .fault = on_fault,
                                                 .arg = t});
    return TABLE_BEGUN;
}

/* If memory is exhausted, sets the problem; otherwise the problem is set already. */
static bool stopped(struct table *t) {
    const struct text_lines *lines = t->state;
    t->refused = true;
    return lines->no_memory ? table_no_memory(t) : false;
}

bool table_lines_feed(struct table *t, const char *bytes, size_t n) {
    return (text_lines_feed(t->state, bytes, n) && !t->refused) || stopped(t);
}

bool table_lines_end(struct table *t) {
    return (text_lines_end(t->state) && !t->refused) || stopped(t);
}
