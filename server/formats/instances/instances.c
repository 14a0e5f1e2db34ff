/* The matrix of instances and the sparse entries. instances_inputs.c finds the input of a name or a
 * cell, instances_value.c checks values. The readers are in the folders of the formats. */
#include "formats/instances/instances.h"
#include "base/memory/array.h"
#include "formats/instances/row_notes.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void instance_rows_done(struct instance_rows *in) {
    free(in->raw);
    free(in->row_start);
    free(in->feature);
    free(in->entry);
    free(in->label);
    kept_rows_done(&in->kept);
    row_notes_free(in->notes);
    *in = (struct instance_rows){0};
}

bool instance_rows_place(const struct instance_rows *in, size_t i, struct buf *out) {
    if (in->place != NULL) {
        buf_printf(out, "%s/%zu", in->place, i);
    }
    return in->place != NULL;
}

dn_raw_rows instance_rows_view(const struct instance_rows *in, size_t first, size_t n) {
    const dn_raw_rows all = {.n = in->n,
                             .value = in->raw,
                             .row_start = in->row_start,
                             .feature = in->feature,
                             .entry = in->entry};
    return dn_raw_part(all, in->n_inputs, first, n);
}

void instance_rows_keep_labelled(struct instance_rows *in) {
    size_t n = 0, n_entries = 0;
    for (size_t i = 0; i < in->n; i++) {
        const size_t from = in->row_start != NULL ? in->row_start[i] : 0,
                     end = in->row_start != NULL ? in->row_start[i + 1] : 0;
        if (in->label[i] == SIZE_MAX) {
            continue;
        }
        memmove(in->raw + n * in->n_inputs, in->raw + i * in->n_inputs,
                in->n_inputs * sizeof *in->raw);
        in->label[n] = in->label[i];
        if (end > from) {
            memmove(in->feature + n_entries, in->feature + from,
                    (end - from) * sizeof *in->feature);
            memmove(in->entry + n_entries, in->entry + from, (end - from) * sizeof *in->entry);
        }
        n_entries += end - from;
        n++;
        if (in->row_start != NULL) {
            /* row_start[n] is not read again if n <= i; if n == i + 1, its value does not change */
            in->row_start[n] = n_entries;
        }
    }
    in->n = n;
}

/* ---- begin and end ---- */
bool instances_init(struct instances *in, const dn_model *model,
                    const struct instance_schema *schema, bool labelled, struct problem *problem) {
    *in = (struct instances){.model = model,
                             .encoder = dn_model_encoder(model),
                             .classes = dn_model_classes(model),
                             .labelled = labelled,
                             .target = dn_model_target(model),
                             .problem = problem,
                             .max_bytes = INSTANCES_MAX_BYTES};
    if (schema == NULL) {
        schema = in->own_schema = instance_schema_new(model, NULL);
    }
    if (schema != NULL) {
        in->marks = schema->reading.marks;
        in->comma = schema->comma;
    }
    const size_t n_inputs = schema != NULL ? schema->n_inputs : 0;
    in->schema = schema;
    in->missing = schema != NULL ? &schema->reading.missing : NULL;
    in->comment = schema != NULL ? schema->reading.comment : '\0';
    in->trims = schema != NULL && schema->reading.trimmed;
    in->n_inputs = in->rows.n_inputs = n_inputs;
    in->named = malloc((n_inputs + 1) * sizeof *in->named);
    if (schema == NULL || in->named == NULL) {
        return problem_no_memory(problem);
    }
    memset(in->named, 0, (n_inputs + 1) * sizeof *in->named);
    return true;
}

bool instances_use_options(struct instances *in, const struct instances_options *options) {
    in->options = options;
    in->takes_extra = !options->refuse_extra;
    in->missing = options->missing != NULL ? options->missing : in->missing;
    in->comment = options->has_comment ? options->comment : in->comment;
    if (options->marks != NULL) {
        marks_replace(&in->marks, options->marks);
        in->marks_given = options->marks->decimal != '\0' || options->marks->has_thousands;
        in->comma = options->marks->decimal != '\0' ? NULL : in->comma;
    }
    if (options->target != NULL) {
        in->target = options->target;
    }
    return options->keep == NULL || instances_keep(in, options->keep);
}

void instances_use_marks(struct instances *in, char delimiter) {
    if (delimiter == ',' && in->schema->reading.delimiter != ',' && !in->marks_given) {
        in->doubts_all = in->marks.decimal == ',' || in->marks.thousands == '.';
        in->doubts = in->comma;
        in->marks.decimal = in->marks.thousands = '\0';
        in->comma = NULL;
    }
    in->marked = in->doubts_all || in->doubts != NULL || in->comma != NULL || marks_any(&in->marks);
}

void instances_done(struct instances *in) {
    instance_rows_done(&in->rows);
    instance_schema_free(in->own_schema);
    free(in->named);
    free(in->keep_slot);
    free(in->cell);
    names_done(&in->names);
    dn_text_work_free(in->words);
    buf_done(&in->why);
}

/* ---- faults ---- */
void instances_no_memory(struct instances *in) {
    problem_done(in->problem);
    problem_no_memory(in->problem);
    in->stopped = true;
}

void instances_warn(struct instances *in, const char *text) {
    if (!row_notes_need(&in->rows.notes, in->n_inputs) || !row_notes_warn(in->rows.notes, text)) {
        instances_no_memory(in);
    }
}

void instances_fault(struct instances *in, const char *pointer, int64_t line, int64_t column,
                     const char *format, ...) {
    struct buf text = {0};
    va_list args;
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    const char *detail = buf_cstr(&text);
    if (line > 0) {
        problem_add_line(in->problem, PROBLEM_INVALID_INSTANCES, line, column, "%s",
                         detail != NULL ? detail : "");
    } else {
        problem_add(in->problem, PROBLEM_INVALID_INSTANCES, pointer, "%s",
                    detail != NULL ? detail : "");
    }
    buf_done(&text);
    in->stopped |= in->problem->n_errors + in->problem->n_dropped >= INSTANCES_MAX_FAULTS;
}

const char *instances_why(struct instances *in) {
    const char *why = buf_cstr(&in->why);
    return why != NULL ? why : "";
}

void instances_fault_cell(struct instances *in, struct slot slot, int64_t line, int64_t column,
                          const char *why) {
    char shown[SLOT_SHOWN];
    instances_fault(in, NULL, line, column, "instance %zu, column %s: %s", (size_t)in->n_begun - 1,
                    instances_show(in, slot, shown), why);
}

/* ---- the matrix ---- */
static bool refuse_size(struct instances *in) {
    instances_fault(in, NULL, 0, 0,
                    "the instances need more than %zu MiB of memory: send fewer at a time",
                    in->max_bytes >> 20);
    in->stopped = true;
    return false;
}

/* Bytes of a row without its sparse entries. */
static size_t row_bytes(const struct instances *in) {
    const size_t n_kept = in->keep != NULL ? in->keep->names.n : 0;
    return (in->n_inputs + 1) * sizeof(double) + sizeof(size_t) +
           n_kept * sizeof(struct kept_value);
}

/* Whether the memory may grow to so many rows and entries. Returns false if reading stops. */
static bool may_hold(struct instances *in, size_t n_rows, size_t n_entries) {
    const size_t entry = sizeof *in->rows.entry + sizeof *in->rows.feature;
    struct problem why = {0};
    if (in->options == NULL || in->options->hold == NULL ||
        in->options->hold(in->options->arg, n_rows * row_bytes(in) + n_entries * entry, &why)) {
        return true;
    }
    problem_done(in->problem);
    problem_move(in->problem, &why);
    in->stopped = true;
    return false;
}

static bool rows_grow(struct instances *in) {
    struct instance_rows *rows = &in->rows;
    const size_t width = in->n_inputs > 0 ? in->n_inputs : 1, most = in->max_bytes / row_bytes(in);
    if (rows->capacity >= most) {
        return refuse_size(in);
    }
    size_t capacity = rows->capacity > 0 ? 2 * rows->capacity : 1;
    capacity = capacity > most ? most : capacity;
    if (!may_hold(in, capacity, rows->entry_capacity)) {
        return false;
    }
    bool grown = array_resize(&rows->raw, capacity * width, sizeof *rows->raw);
    grown = grown && (!in->labelled || array_resize(&rows->label, capacity, sizeof *rows->label));
    const bool first = rows->row_start == NULL;
    grown = grown && (!in->schema->entries ||
                      array_resize(&rows->row_start, capacity + 1, sizeof *rows->row_start));
    grown = grown && (in->keep == NULL || kept_rows_resize(&rows->kept, capacity));
    if (!grown) {
        instances_no_memory(in);
        return false;
    }
    if (in->schema->entries && first) {
        rows->row_start[0] = 0;
    }
    rows->capacity = capacity;
    return true;
}

void instances_clear(struct instances *in) {
    in->rows.n = 0;
    in->n_entries = 0;
    kept_rows_clear(&in->rows.kept);
}

/* Passes the rows to options->block, unless there was a fault: then the rows are not used. */
static bool give_block(struct instances *in) {
    const size_t first = (size_t)in->n_begun - in->rows.n;
    if (in->problem->type == PROBLEM_NONE &&
        !in->options->block(in->options->arg, &in->rows, first, in->problem)) {
        in->stopped = true;
    }
    instances_clear(in);
    return !in->stopped;
}

static bool in_blocks(const struct instances *in) {
    return in->options != NULL && in->options->block != NULL;
}

double *instances_row(struct instances *in) {
    struct instance_rows *rows = &in->rows;
    if (rows->notes != NULL) {
        row_notes_row_end(rows->notes); /* of the row before */
    }
    const bool full = rows->n >= in->schema->block_rows || instances_is_full(in);
    if (!in->stopped && full && in_blocks(in) && !give_block(in)) {
        return NULL;
    }
    if (in->stopped || (rows->n == rows->capacity && !rows_grow(in))) {
        return NULL;
    }
    double *row = rows->raw + rows->n * in->n_inputs;
    /* After a fault the values of a block are not used: its cells stay unset, since rows may have
     * many. */
    const bool wanted = !in_blocks(in) || in->problem->type == PROBLEM_NONE;
    for (size_t i = 0; wanted && i < in->n_inputs; i++) {
        row[i] = (double)NAN;
    }
    if (in->labelled) {
        rows->label[rows->n] = SIZE_MAX;
    }
    if (in->keep != NULL) {
        kept_rows_begin(&rows->kept, rows->n);
    }
    rows->n++;
    in->n_begun++;
    return row;
}

/* ---- sparse entries ---- */
static bool entries_grow(struct instances *in) {
    struct instance_rows *rows = &in->rows;
    const size_t each = sizeof *rows->entry + sizeof *rows->feature, most = in->max_bytes / each;
    if (rows->entry_capacity >= most) {
        return refuse_size(in);
    }
    size_t capacity = rows->entry_capacity > 0 ? 2 * rows->entry_capacity : 256;
    capacity = capacity > most ? most : capacity;
    if (!may_hold(in, rows->capacity, capacity)) {
        return false;
    }
    if (!array_resize(&rows->feature, capacity, sizeof *rows->feature) ||
        !array_resize(&rows->entry, capacity, sizeof *rows->entry)) {
        instances_no_memory(in);
        return false;
    }
    rows->entry_capacity = capacity;
    return true;
}

void instances_put_feature(struct instances *in, size_t feature, double value) {
    if (in->stopped || (in->n_entries == in->rows.entry_capacity && !entries_grow(in))) {
        return;
    }
    in->rows.feature[in->n_entries] = (uint32_t)feature;
    in->rows.entry[in->n_entries++] = value;
}

void instances_put_entry(struct instances *in, size_t i, size_t place, double number) {
    const size_t feature =
        place <= UINT32_MAX ? dn_encoder_sparse_feature(in->encoder, i, (uint32_t)place) : SIZE_MAX;
    if (feature != SIZE_MAX) {
        instances_put_feature(in, feature, number);
    }
}

/* Heap sort of n entries by feature: O(n log n) in the worst case, without further memory. */
static void sift(uint32_t *feature, double *entry, size_t at, size_t n) {
    const uint32_t f = feature[at];
    const double x = entry[at];
    for (size_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && feature[child + 1] > feature[child];
        if (feature[child] <= f) {
            break;
        }
        feature[at] = feature[child];
        entry[at] = entry[child];
        at = child;
    }
    feature[at] = f;
    entry[at] = x;
}

static void sort_entries(uint32_t *feature, double *entry, size_t n) {
    for (size_t i = n / 2; i-- > 0;) {
        sift(feature, entry, i, n);
    }
    for (size_t end = n; end-- > 1;) {
        const uint32_t f = feature[0];
        const double x = entry[0];
        feature[0] = feature[end];
        entry[0] = entry[end];
        feature[end] = f;
        entry[end] = x;
        sift(feature, entry, 0, end);
    }
}

size_t instances_row_end(struct instances *in) {
    struct instance_rows *rows = &in->rows;
    if (!in->schema->entries || in->stopped) {
        return SIZE_MAX;
    }
    const size_t from = rows->row_start[rows->n - 1], n = in->n_entries - from;
    uint32_t *feature = n > 0 ? rows->feature + from : NULL;
    double *entry = n > 0 ? rows->entry + from : NULL;
    size_t kept = 0, twice = SIZE_MAX, sorted = 1;
    while (sorted < n && feature[sorted] > feature[sorted - 1]) {
        sorted++;
    }
    if (sorted < n) {
        sort_entries(feature, entry, n);
    }
    for (size_t i = 0; i < n; i++) {
        twice = i > 0 && feature[i] == feature[i - 1] ? feature[i] : twice;
        feature[kept] = feature[i];
        entry[kept] = entry[i];
        /* entries of 0 were kept so far in order to find features that are given twice */
        kept += entry[i] != 0;
    }
    in->n_entries = from + kept;
    rows->row_start[rows->n] = in->n_entries;
    return twice;
}

void instances_row_drop(struct instances *in) {
    if (in->rows.notes != NULL) {
        row_notes_row_drop(in->rows.notes);
    }
    in->rows.n--;
    in->n_entries = in->schema->entries ? in->rows.row_start[in->rows.n] : 0;
}

/* ---- the end ---- */
void instances_check_named(struct instances *in, const char *pointer) {
    for (size_t i = 0;
         in->n_begun > 0 && !in->all_named && !in->stopped && i < in->n_inputs + in->labelled;
         i++) {
        if (in->named[i] == 0 && !instances_is_sparse(in, i) && !instances_follows(in, i)) {
            instances_fault_absent(in, pointer, i);
        }
    }
}

bool instances_finish(struct instances *in, const char *pointer, struct instance_rows *out) {
    if (in->n_begun == 0 && in->problem->type == PROBLEM_NONE) {
        instances_fault(in, pointer, 0, 0, "there are no instances: at least one is needed");
    }
    instances_check_named(in, pointer);
    if (in->n_begun > 0 && !in->stopped) {
        instances_check_keep(in, pointer);
    }
    if (in->problem->type != PROBLEM_NONE) {
        return false;
    }
    if (in->rows.notes != NULL) {
        row_notes_row_end(in->rows.notes);
    }
    if (in_blocks(in)) {
        const bool taken = give_block(in) && in->problem->type == PROBLEM_NONE;
        out->notes = in->rows.notes;
        in->rows.notes = NULL;
        return taken;
    }
    *out = in->rows;
    in->rows = (struct instance_rows){0};
    return true;
}
