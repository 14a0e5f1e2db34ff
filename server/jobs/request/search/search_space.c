/* Expands the candidates of a search. */
#include "jobs/request/search/search_space.h"

#include "base/json/json_write.h"
#include "jobs/request/params.h"

#include <discern/discern.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_VALUES = 1000,  /* of a list or range */
    MOST_MEMBERS = 100,  /* of an object */
    USUAL_VALUES = 10,   /* of a range without "n" */
    RANDOM_VALUES = 1000 /* the same, if combinations are drawn */
};

/* The values of one member, each as JSON text. */
struct values {
    const char **text; /* [n] */
    size_t n, room;
};

/* A member of params or features. */
struct axis {
    const char *key;
    struct values values;
    bool feature; /* of features; otherwise of params */
    bool path;    /* a parameter with a complexity: varies fastest */
};

/* The object that is being expanded. */
struct item {
    const json_t *object;
    const dn_algorithm *algorithm;
    struct axis *axes; /* [n_axes] the slowest first */
    size_t n_axes;
    double n; /* combinations */
};

struct space {
    const struct search_space_options *options;
    struct arena *arena;
    struct problem *problem;
    const dn_algorithm *algorithm;
};

/* The values that "auto" stands for. */
struct usual_range {
    const char *param;
    double from, to;
    bool log;
    int n;
};
static const struct usual_range usual_ranges[] = {
    {"lambda", 1e-6, 1, true, 13},
    {"C", 0.01, 1000, true, 11},
    {"k", 1, 61, false, 11},
    {"smoothing", 1e-3, 10, true, 9},
    {"variance_floor", 1e-9, 1, true, 10},
    {"shrinkage", 0, 0.9, false, 10},
};

static bool no_memory(struct space *s) {
    return problem_no_memory(s->problem);
}

/* ---- values ---- */

/* Adds a copy of the text, unless the list has it already. */
static bool add_value(struct space *s, struct values *v, const char *text, const char *pointer) {
    for (size_t i = 0; i < v->n; i++) {
        if (strcmp(v->text[i], text) == 0) {
            return true;
        }
    }
    if (v->n >= MOST_VALUES) {
        return json_fault(s->problem, pointer, NULL, "has more than %d values", MOST_VALUES);
    }
    if (v->n == v->room) {
        const size_t room = v->room == 0 ? 8 : 2 * v->room;
        const char **grown = arena_alloc(s->arena, room * sizeof *grown);
        if (grown == NULL) {
            return no_memory(s);
        }
        if (v->n > 0) {
            memcpy(grown, v->text, v->n * sizeof *grown);
        }
        v->text = grown;
        v->room = room;
    }
    v->text[v->n] = arena_strdup(s->arena, text);
    return v->text[v->n++] != NULL || no_memory(s);
}

static bool add_number(struct space *s, struct values *v, double number, const char *pointer) {
    char text[DN_NUMBER_SIZE + 1];
    text[json_double_format(number, text)] = '\0';
    return add_value(s, v, text, pointer);
}

static bool add_plain(struct space *s, struct values *v, const json_t *value, const char *pointer) {
    struct buf text = {0};
    struct json_writer w = json_writer_of(&text);
    json_put_value(value, &w);
    const bool good =
        buf_cstr(&text) != NULL ? add_value(s, v, buf_cstr(&text), pointer) : no_memory(s);
    buf_done(&text);
    return good;
}

/* Adds n numbers from `from` to `to`; for an integer parameter rounded, without repetition. */
static bool add_range(struct space *s, struct values *v, const struct usual_range *range,
                      bool integer, const char *pointer) {
    for (int i = 0; i < range->n; i++) {
        const double t = (double)i / (range->n - 1);
        double x = range->log ? exp(log(range->from) * (1 - t) + log(range->to) * t)
                              : range->from * (1 - t) + range->to * t;
        char text[32]; /* 12 digits: 0.001, not 0.0010000000000000002 */
        (void)snprintf(text, sizeof text, "%.12g", x);
        x = i == 0 ? range->from : i == range->n - 1 ? range->to : strtod(text, NULL);
        if (!add_number(s, v, integer ? round(x) : x, pointer)) {
            return false;
        }
    }
    return true;
}

static bool read_range(struct space *s, struct values *v, const json_t *object, bool integer,
                       const char *pointer) {
    static const char *const known[] = {"from", "to", "scale", "n", NULL};
    static const char *const scales[] = {"linear", "log", NULL};
    struct usual_range range = {0};
    int64_t n = s->options->draws > 0 ? RANDOM_VALUES : USUAL_VALUES;
    size_t scale = 0;
    const size_t before = s->problem->n_errors + s->problem->n_dropped;
    json_refuse_unknown(object, known, pointer, s->problem);
    json_read_number(object, "from", true, pointer, &range.from, s->problem);
    json_read_number(object, "to", true, pointer, &range.to, s->problem);
    json_read_choice(object, "scale", false, pointer, scales, &scale, s->problem);
    json_read_int(object, "n", false, pointer, 2, MOST_VALUES, &n, s->problem);
    if (s->problem->n_errors + s->problem->n_dropped > before) {
        return false;
    }
    range.log = scale == 1;
    range.n = (int)n;
    if (!(range.from < range.to)) {
        return json_fault(s->problem, pointer, "to", "must be > from, which is %g, got %g",
                          range.from, range.to);
    }
    if (integer && (range.from != floor(range.from) || range.to != floor(range.to))) {
        return json_fault(s->problem, pointer, range.from != floor(range.from) ? "from" : "to",
                          "must be an integer, as the parameter is one");
    }
    if (range.log && !(range.from > 0)) {
        return json_fault(s->problem, pointer, "from", "must be > 0 with scale log, got %g",
                          range.from);
    }
    return add_range(s, v, &range, integer, pointer);
}

static bool is_range(const json_t *value) {
    return json_object_get(value, "from") != NULL || json_object_get(value, "to") != NULL;
}

/* Whether an array is one value, not a list of values: a parameter that is a list or a matrix, or a
 * list of bases. */
static bool is_one_value(const dn_param *param, const char *key, bool feature,
                         const json_t *array) {
    const json_t *first = json_array_get(array, 0);
    if (feature) {
        return strcmp(key, "basis") == 0 && !json_is_array(first);
    }
    if (param == NULL || param->type != DN_PARAM_LIST) {
        return false;
    }
    return param->matrix ? !json_is_array(json_array_get(first, 0)) && !json_is_string(first)
                         : json_is_number(first);
}

static bool add_values(struct space *s, struct values *v, const json_t *value, const char *name,
                       bool feature, const char *pointer);

/* Adds the combinations of the members of an object, such as a kernel. */
static bool add_product(struct space *s, struct values *v, const json_t *object, const char *name,
                        bool feature, const char *pointer) {
    struct values partial = {0};
    if (json_object_size(object) > MOST_MEMBERS) {
        return json_fault(s->problem, pointer, NULL, "has more than %d members", MOST_MEMBERS);
    }
    bool good = add_value(s, &partial, "{", pointer);
    for (void *at = json_object_iter((json_t *)(uintptr_t)object); at != NULL && good;
         at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
        const char *key = json_object_iter_key(at),
                   *full = arena_printf(s->arena, "%s.%s", name, key);
        struct values own = {0}, longer = {0};
        struct buf place = {0}, head = {0};
        json_pointer(&place, pointer, key);
        json_escape(&head, key, strlen(key));
        good = full != NULL && buf_cstr(&place) != NULL && buf_cstr(&head) != NULL;
        good =
            good ? add_values(s, &own, json_object_iter_value(at), full, feature, buf_cstr(&place))
                 : no_memory(s);
        for (size_t i = 0; i < partial.n && good; i++) {
            for (size_t k = 0; k < own.n && good; k++) {
                const char *text = arena_printf(s->arena, "%s%s%s:%s", partial.text[i],
                                                partial.text[i][1] != '\0' ? "," : "",
                                                buf_cstr(&head), own.text[k]);
                good = text != NULL ? add_value(s, &longer, text, pointer) : no_memory(s);
            }
        }
        buf_done(&place);
        buf_done(&head);
        partial = longer;
    }
    for (size_t i = 0; i < partial.n && good; i++) {
        const char *text = arena_printf(s->arena, "%s}", partial.text[i]);
        good = text != NULL ? add_value(s, v, text, pointer) : no_memory(s);
    }
    return good;
}

static bool add_array(struct space *s, struct values *v, const json_t *array, const char *name,
                      bool feature, const char *pointer) {
    const size_t n = json_array_size(array);
    bool good = true;
    if (n == 0) {
        good = json_fault(s->problem, pointer, NULL, "must have at least one value");
    } else if (n > MOST_VALUES) {
        good = json_fault(s->problem, pointer, NULL, "has more than %d values", MOST_VALUES);
    }
    for (size_t i = 0; i < n && good; i++) {
        const json_t *value = json_array_get(array, i);
        struct buf place = {0};
        json_pointer_index(&place, pointer, i);
        if (buf_cstr(&place) == NULL) {
            good = no_memory(s);
        } else if (json_is_array(value) || json_is_string(value)) {
            good = add_plain(s, v, value, buf_cstr(&place)); /* "auto" is the value itself */
        } else {
            good = add_values(s, v, value, name, feature, buf_cstr(&place));
        }
        buf_done(&place);
    }
    return good;
}

/* Adds the values that one member stands for.
 *
 *   name  of a parameter, "kernel.width" of a member of one; of a member of features */
static bool add_values(struct space *s, struct values *v, const json_t *value, const char *name,
                       bool feature, const char *pointer) {
    const dn_param *param = feature ? NULL : dn_algorithm_param(s->algorithm, name);
    const bool integer = param != NULL && param->type == DN_PARAM_INTEGER;
    if (json_is_object(value) && is_range(value)) {
        return read_range(s, v, value, integer, pointer);
    }
    if (json_is_object(value)) {
        return add_product(s, v, value, name, feature, pointer);
    }
    if (json_is_array(value) && !is_one_value(param, name, feature, value)) {
        return add_array(s, v, value, name, feature, pointer);
    }
    if (param != NULL && json_is_string(value) && strcmp(json_string_value(value), "auto") == 0) {
        for (size_t i = 0; i < sizeof usual_ranges / sizeof *usual_ranges; i++) {
            if (strcmp(usual_ranges[i].param, name) == 0) {
                return add_range(s, v, &usual_ranges[i], integer, pointer);
            }
        }
    }
    return add_plain(s, v, value, pointer);
}

/* ---- axes ---- */

static int ascending(const void *a, const void *b) {
    const double x = strtod(*(const char *const *)a, NULL),
                 y = strtod(*(const char *const *)b, NULL);
    return (x > y) - (x < y);
}

static int descending(const void *a, const void *b) {
    return ascending(b, a);
}

/* Orders the numbers of a parameter with a complexity from simple to complex models. */
static void order_path(struct axis *axis, const dn_param *param) {
    for (size_t i = 0; i < axis->values.n; i++) {
        const char first = axis->values.text[i][0];
        if (first != '-' && (first < '0' || first > '9')) {
            return;
        }
    }
    axis->path = axis->values.n > 1;
    if (!axis->path) {
        return;
    }
    qsort(axis->values.text, axis->values.n, sizeof *axis->values.text,
          param->complexity > 0 ? ascending : descending);
}

static bool add_axes(struct space *s, struct item *item, const json_t *object, bool feature,
                     const char *pointer) {
    bool good = true;
    for (void *at = json_object_iter((json_t *)(uintptr_t)object); at != NULL;
         at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
        const char *key = json_object_iter_key(at);
        const json_t *value = json_object_iter_value(at);
        struct axis *axis = &item->axes[item->n_axes];
        struct buf place = {0};
        json_pointer(&place, pointer, key);
        if (buf_cstr(&place) == NULL) {
            return no_memory(s);
        }
        *axis = (struct axis){.key = arena_strdup(s->arena, key), .feature = feature};
        if (axis->key == NULL) {
            good = no_memory(s);
        } else if (feature && (strcmp(key, "include") == 0 || strcmp(key, "exclude") == 0 ||
                               strcmp(key, "datetime") == 0)) {
            good = json_fault(s->problem, buf_cstr(&place), NULL,
                              "must be given in \"features\" of the job: all candidates have the "
                              "same inputs");
        } else if (add_values(s, &axis->values, value, key, feature, buf_cstr(&place))) {
            const dn_param *param = feature ? NULL : dn_algorithm_param(s->algorithm, key);
            if (param != NULL && param->complexity != 0) {
                order_path(axis, param);
            }
            item->n *= (double)axis->values.n;
            item->n_axes++;
        } else {
            good = false;
        }
        buf_done(&place);
    }
    return good;
}

/* Puts the axes of paths last. */
static void move_paths(struct item *item) {
    size_t n = 0;
    for (size_t i = 0; i < item->n_axes; i++) {
        if (!item->axes[i].path) {
            const struct axis axis = item->axes[i];
            memmove(item->axes + n + 1, item->axes + n, (i - n) * sizeof axis);
            item->axes[n++] = axis;
        }
    }
}

static bool read_item(struct space *s, const json_t *object, const char *pointer,
                      struct item *item) {
    static const char *const known[] = {"algorithm", "params", "features", NULL};
    const json_t *params = NULL, *features = NULL;
    *item = (struct item){.object = object, .n = 1};
    if (!json_read_root(object, pointer, s->problem)) {
        return false;
    }
    bool good = json_refuse_unknown(object, known, pointer, s->problem);
    item->algorithm = jobs_algorithm_read(object, pointer, s->problem);
    json_read_object(object, "params", false, pointer, &params, s->problem);
    json_read_object(object, "features", false, pointer, &features, s->problem);
    if (!good || item->algorithm == NULL || s->problem->type != PROBLEM_NONE) {
        return false;
    }
    if ((item->algorithm->flags & DN_ALGORITHM_TARGET) == 0) {
        return json_fault(s->problem, pointer, "algorithm",
                          "%s has no target: a search compares predictions with one",
                          item->algorithm->id);
    }
    const size_t n = json_object_size(params) + json_object_size(features);
    if (n > MOST_MEMBERS) {
        return json_fault(s->problem, pointer, NULL, "has more than %d members", MOST_MEMBERS);
    }
    item->axes = arena_alloc(s->arena, (n + 1) * sizeof *item->axes);
    if (item->axes == NULL) {
        return no_memory(s);
    }
    s->algorithm = item->algorithm;
    struct buf place = {0};
    buf_printf(&place, "%s/features", pointer);
    good = buf_cstr(&place) != NULL ? add_axes(s, item, features, true, buf_cstr(&place))
                                    : no_memory(s);
    buf_clear(&place);
    buf_printf(&place, "%s/params", pointer);
    good = (buf_cstr(&place) != NULL ? add_axes(s, item, params, false, buf_cstr(&place))
                                     : no_memory(s)) &&
           good;
    buf_done(&place);
    move_paths(item);
    return good;
}

/* ---- combinations ---- */

static void write_part(const struct item *item, const size_t *digit, bool feature,
                       struct json_writer *w) {
    json_kv_begin_object(w, feature ? "features" : "params");
    for (size_t i = 0; i < item->n_axes; i++) {
        if (item->axes[i].feature == feature) {
            json_kv_raw(w, item->axes[i].key, item->axes[i].values.text[digit[i]]);
        }
    }
    json_end_object(w);
}

/* Writes the combination with these digits, an index for each axis. */
static bool write_point(struct space *s, const struct item *item, const size_t *digit,
                        struct search_point *out) {
    struct buf text = {0};
    struct json_writer w = json_writer_of(&text);
    json_begin_object(&w);
    json_kv_string(&w, "algorithm", item->algorithm->id);
    write_part(item, digit, false, &w);
    write_part(item, digit, true, &w);
    json_end_object(&w);
    out->text = buf_cstr(&text) != NULL ? arena_strdup(s->arena, buf_cstr(&text)) : NULL;
    buf_done(&text);
    return out->text != NULL || no_memory(s);
}

/* Sets the digits of combination `index`, < 2^53. */
static void set_digits(const struct item *item, size_t index, size_t *digit) {
    for (size_t i = item->n_axes; i-- > 0;) {
        digit[i] = index % item->axes[i].values.n;
        index /= item->axes[i].values.n;
    }
}

static uint64_t next_random(uint64_t *state) { /* splitmix64, by Sebastiano Vigna, public domain */
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Compares the digits of two combinations of an item. */
static int compare_digits(const struct item *item, const size_t *a, const size_t *b) {
    size_t i = 0;
    while (i < item->n_axes && a[i] == b[i]) {
        i++;
    }
    return i == item->n_axes ? 0 : a[i] < b[i] ? -1 : 1;
}

/* Draws a combination that is not among those at digits[n * n_axes], which ascend, and inserts
 * it. The item has more than n combinations. */
static void draw_point(const struct item *item, size_t n, uint64_t *random, size_t *digits) {
    const size_t width = item->n_axes;
    size_t *new = digits + n *width, at = 0;
    bool again = true;
    while (again) {
        for (size_t k = 0; k < width; k++) {
            new[k] = (size_t)(next_random(random) % item->axes[k].values.n);
        }
        at = 0;
        while (at < n && compare_digits(item, digits + at * width, new) < 0) {
            at++;
        }
        again = at < n && compare_digits(item, digits + at * width, new) == 0;
    }
    for (size_t k = 0; k < width; k++) {
        const size_t digit = new[k];
        for (size_t i = n; i > at; i--) {
            digits[i * width + k] = digits[(i - 1) * width + k];
        }
        digits[at * width + k] = digit;
    }
}

/* Chooses the numbers of combinations of the items: all, or as even parts of the draws as they
 * allow. wanted: [n] */
static void divide_draws(const struct space *s, const struct item *items, size_t n,
                         size_t *wanted) {
    size_t left = s->options->draws;
    bool more = left > 0;
    for (size_t i = 0; i < n; i++) {
        wanted[i] = left > 0 ? 0 : (size_t)items[i].n;
    }
    while (more) {
        more = false;
        for (size_t i = 0; i < n && left > 0; i++) {
            if ((double)wanted[i] < items[i].n) {
                wanted[i]++;
                left--;
                more = true;
            }
        }
    }
}

static bool add_points(struct space *s, const struct item *item, size_t index, size_t wanted,
                       uint64_t *random, struct search_point *out) {
    const bool all = (double)wanted == item->n;
    size_t *digits =
        arena_alloc(s->arena, ((all ? 1 : wanted) * item->n_axes + 1) * sizeof *digits);
    if (digits == NULL) {
        return no_memory(s);
    }
    for (size_t i = 0; i < wanted && !all; i++) {
        draw_point(item, i, random, digits);
    }
    for (size_t i = 0; i < wanted; i++) {
        const size_t *digit = digits + (all ? 0 : i * item->n_axes);
        if (all) {
            set_digits(item, i, digits);
        }
        out[i].item = index;
        if (!write_point(s, item, digit, &out[i])) {
            return false;
        }
    }
    return true;
}

bool search_space_expand(const json_t *candidates, const char *parent,
                         const struct search_space_options *options, struct arena *arena,
                         struct search_point **out, size_t *out_n, struct problem *problem) {
    struct space s = {.options = options, .arena = arena, .problem = problem};
    const size_t n = json_array_size(candidates);
    uint64_t random = options->seed;
    double total = 0;
    bool good = true;
    struct item *items = arena_alloc(arena, (n + 1) * sizeof *items);
    if (items == NULL) {
        return no_memory(&s);
    }
    if (n == 0) {
        return json_fault(problem, parent, NULL, "must have at least one candidate");
    }
    for (size_t i = 0; i < n; i++) {
        struct buf pointer = {0};
        json_pointer_index(&pointer, parent, i);
        good = (buf_cstr(&pointer) != NULL
                    ? read_item(&s, json_array_get(candidates, i), buf_cstr(&pointer), &items[i])
                    : no_memory(&s)) &&
               good;
        buf_done(&pointer);
        total += items[i].n;
    }
    if (!good || problem->type != PROBLEM_NONE) {
        return false;
    }
    if (options->draws == 0 && total > SEARCH_SPACE_MOST) {
        return json_fault(problem, parent, NULL,
                          "has %.0f combinations, and a search tries at most %d: use fewer values, "
                          "or strategy random",
                          total, SEARCH_SPACE_MOST);
    }
    if (options->draws > 0 && options->draws < n) {
        return json_fault(problem, parent, NULL,
                          "has %zu objects, and only %zu trials are drawn: give more trials", n,
                          options->draws);
    }
    size_t n_points = 0, at = 0;
    size_t *wanted = arena_alloc(arena, (n + 1) * sizeof *wanted);
    if (wanted == NULL) {
        return no_memory(&s);
    }
    divide_draws(&s, items, n, wanted);
    for (size_t i = 0; i < n; i++) {
        n_points += wanted[i];
    }
    *out = arena_alloc(arena, (n_points + 1) * sizeof **out);
    if (*out == NULL) {
        return no_memory(&s);
    }
    for (size_t i = 0; i < n; i++) {
        if (!add_points(&s, &items[i], i, wanted[i], &random, *out + at)) {
            return false;
        }
        at += wanted[i];
    }
    *out_n = n_points;
    return true;
}
