/* Permutation importance: which cells move for every column type, chunk border and slot;
 * importances against dn_model_evaluate on a table whose cells were moved by the test; refused
 * allocations. */
#include "unit/core/support.h"

#include "evaluate/permuted_source.h"
#include "unit/core/table/chunked.h"
#include <discern/importance.h>
#include <discern/metrics.h>

enum { N = 90, LABEL = 5, WEIGHT = 6, COLUMNS = 7 };

/* Rows of two classes and a column of every type. Column "signal" decides the class, "constant"
 * has one value. Some classes, categories and texts are missing. */
struct mixed {
    double signal[N], flag[N], entry[3 * N], weight[N];
    const char *kind[N], *note[N], *label[N];
    char notes[N][24];
    size_t row_start[N + 1];
    uint32_t index[3 * N];
    chunked_column columns[COLUMNS];
    chunked source;
    uint8_t role[N];
};

static void mixed_init(struct mixed *m, const size_t *borders, size_t n_chunks) {
    static const char *const kinds[] = {"red", "green", "blue", "a rare colour"};
    dni_random random;
    dni_random_init(&random, 7, 0);
    memset(m, 0, sizeof *m);
    for (size_t i = 0; i < N; i++) {
        m->signal[i] = dni_random_uniform(&random, -1, 1);
        m->flag[i] = dni_random_below(&random, 2) ? 1 : 0;
        m->weight[i] = i % 11 == 3 ? 0 : 1 + (double)(i % 3);
        const size_t kind = dni_random_below(&random, 20);
        m->kind[i] = kind == 0 ? NULL : kinds[kind == 1 ? 3 : kind % 3];
        snprintf(m->notes[i], sizeof m->notes[i], "word%zu plain", i % 13);
        m->note[i] = i % 9 == 4 ? NULL : m->notes[i];
        m->row_start[i + 1] = m->row_start[i];
        for (uint32_t j = 0; j < 3; j++) {
            if (dni_random_below(&random, 2)) {
                m->index[m->row_start[i + 1]] = 4 * j + 1;
                m->entry[m->row_start[i + 1]++] = dni_random_uniform(&random, 0, 2);
            }
        }
        m->label[i] = i % 10 == 6 ? NULL : m->signal[i] + 0.2 * m->flag[i] > 0 ? "yes" : "no";
        m->role[i] = m->label[i] == NULL || !(m->weight[i] > 0) ? DN_ROW_SKIP : DN_ROW_VALIDATE;
    }
    const chunked_column columns[] = {
        {.column = {.name = "signal", .type = DN_NUMERIC}, .number = m->signal},
        {.column = {.name = "flag", .type = DN_BOOLEAN}, .number = m->flag},
        {.column = {.name = "kind", .type = DN_CATEGORICAL}, .text = m->kind},
        {.column = {.name = "note", .type = DN_TEXT}, .text = m->note},
        {.column = {.name = "s", .type = DN_SPARSE, .width = 10},
         .number = m->entry,
         .row_start = m->row_start,
         .index = m->index},
        {.column = {.name = "class", .type = DN_CATEGORICAL}, .text = m->label},
        {.column = {.name = "weight", .type = DN_NUMERIC}, .number = m->weight}};
    memcpy(m->columns, columns, sizeof columns);
    chunked_init(&m->source, m->columns, COLUMNS, N, borders, n_chunks);
}

static const size_t one_chunk[] = {0, N}, three_chunks[] = {0, 1, 50, N},
                    seven_chunks[] = {0, 13, 14, 15, 40, 41, 80, N};

/* The texts of the cells of a column. */
struct cells {
    char text[N][120];
};

static void write_cell(const dn_column_view *view, size_t i, char *out, size_t size) {
    if (view->type == DN_SPARSE) {
        size_t at = 0;
        out[0] = '\0';
        for (size_t k = view->row_start[i]; k < view->row_start[i + 1]; k++) {
            at +=
                (size_t)snprintf(out + at, size - at, "%u:%.17g ", view->index[k], view->number[k]);
        }
    } else if (view->type == DN_NUMERIC || view->type == DN_BOOLEAN) {
        snprintf(out, size, "%.17g", view->number[i]);
    } else if (view->code[i] == DN_CODE_MISSING) {
        snprintf(out, size, "(missing)");
    } else {
        const uint32_t *start = view->strings.start + view->code[i];
        assert_true(view->code[i] < view->strings.n);
        snprintf(out, size, "\"%.*s\"", (int)(start[1] - start[0]), view->strings.bytes + start[0]);
    }
}

static void assert_distinct(const dn_strings *strings) {
    for (size_t i = 0; i < strings->n; i++) {
        for (size_t j = 0; j < i; j++) {
            const size_t a = strings->start[i + 1] - strings->start[i],
                         b = strings->start[j + 1] - strings->start[j];
            assert_false(a == b && memcmp(strings->bytes + strings->start[i],
                                          strings->bytes + strings->start[j], a) == 0);
        }
    }
}

/* Reads the chunks from the last to the first, on alternating slots. */
static void read_cells(const dn_table_source *source, size_t column, struct cells *out) {
    *out = (struct cells){0};
    for (size_t c = source->n_chunks; c-- > 0;) {
        dn_column_view view;
        OK(source->column(source, c, column, c % source->n_slots, &view, NULL));
        assert_int_equal(view.type, source->columns[column].type);
        assert_int_equal(view.n_rows, source->chunk_first_row[c + 1] - source->chunk_first_row[c]);
        if (view.type == DN_CATEGORICAL) {
            assert_distinct(&view.strings);
        }
        for (size_t i = 0; i < view.n_rows; i++) {
            write_cell(&view, i, out->text[source->chunk_first_row[c] + i], sizeof *out->text);
        }
    }
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(a, b);
}

/* Asserts that the rows with a role have the same cells in some other order, and that all other
 * rows are unchanged. */
static void assert_moved(const struct cells *before, const struct cells *after,
                         const uint8_t *role) {
    struct cells a = {0}, b = {0};
    size_t n = 0, changed = 0;
    for (size_t i = 0; i < N; i++) {
        changed += strcmp(before->text[i], after->text[i]) != 0;
        if (role[i] == DN_ROW_SKIP) {
            assert_string_equal(before->text[i], after->text[i]);
            continue;
        }
        memcpy(a.text[n], before->text[i], sizeof *a.text);
        memcpy(b.text[n++], after->text[i], sizeof *b.text);
    }
    qsort(a.text, n, sizeof *a.text, compare_texts);
    qsort(b.text, n, sizeof *b.text, compare_texts);
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(a.text[i], b.text[i]);
    }
    assert_true(changed > N / 5);
}

static void cells_move(void **state) {
    (void)state;
    static const struct {
        const size_t *borders;
        size_t n;
    } tables[] = {{one_chunk, 1}, {three_chunks, 3}, {seven_chunks, 7}};
    const dn_run run = dn_run_default();
    static struct mixed m;
    static struct cells before, first[LABEL], after;
    for (size_t t = 0; t < 3; t++) {
        mixed_init(&m, tables[t].borders, tables[t].n);
        for (size_t j = 0; j < LABEL; j++) {
            dni_permuted p;
            dni_random random;
            dni_random_init(&random, 3, 512);
            OK(dni_permuted_open(&p, &m.source.source, j, m.role, DN_ROW_VALIDATE, &run, NULL));
            read_cells(&m.source.source, j, &before);
            read_cells(&p.table, j, &after);
            assert_memory_equal(&before, &after, sizeof before);
            dni_permuted_shuffle(&p, &random);
            read_cells(&p.table, j, &after);
            assert_moved(&before, &after, m.role);
            if (t == 0) {
                first[j] = after;
            }
            assert_memory_equal(&first[j], &after, sizeof after); /* chunks do not matter */
            for (size_t other = 0; other < COLUMNS; other++) {
                if (other != j) {
                    read_cells(&m.source.source, other, &before);
                    read_cells(&p.table, other, &after);
                    assert_memory_equal(&before, &after, sizeof before);
                }
            }
            read_cells(&p.table, j, &before);
            dni_permuted_shuffle(&p, &random); /* a second order differs */
            read_cells(&p.table, j, &after);
            assert_moved(&before, &after, m.role);
            dni_permuted_close(&p);
        }
        chunked_done(&m.source);
    }
}

/* ---- importances ---- */
static dn_model *train(const struct mixed *m, const char *algorithm) {
    static const size_t inputs[] = {4, 0, 1, 3, 2};
    dn_train_result result;
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find(algorithm), &p, NULL));
    const dn_train_request request = {.source = &m->source.source,
                                      .params = p,
                                      .target = LABEL,
                                      .features = {.columns = inputs, .n_columns = 5}};
    OK(dn_train(&request, NULL, &result, NULL));
    dn_model *model = dn_model_ref(result.model);
    dn_train_result_done(&result);
    dn_params_free(p);
    return model;
}

static double evaluate(const dn_model *model, const dn_table_source *source, size_t metric,
                       const char *weight) {
    dn_metrics *metrics;
    OK(dn_model_evaluate(model, source, &(dn_evaluate_options){.weight = weight}, NULL, &metrics,
                         NULL));
    const double value = dn_metric_value(metrics, metric);
    dn_metrics_free(metrics);
    return value;
}

/* Moves the numbers of the column "signal" of the rows with a role to the order of the source. */
static void move_signal(struct mixed *m, const dn_table_source *permuted) {
    double moved[N];
    for (size_t c = 0; c < permuted->n_chunks; c++) {
        dn_column_view view;
        OK(permuted->column(permuted, c, 0, 0, &view, NULL));
        memcpy(moved + permuted->chunk_first_row[c], view.number, view.n_rows * sizeof *moved);
    }
    memcpy(m->signal, moved, sizeof moved);
}

/* The mean and the deviation of "signal", by three tables with moved numbers. */
static void by_tables(const dn_model *model, size_t metric, double sign, const char *weight,
                      uint64_t seed, double *mean, double *deviation) {
    static struct mixed m, moved;
    const dn_run run = dn_run_default();
    double worse[3], squares = 0;
    *mean = 0;
    for (size_t r = 0; r < 3; r++) {
        dni_permuted p;
        dni_random random;
        mixed_init(&m, three_chunks, 3);
        mixed_init(&moved, three_chunks, 3);
        for (size_t i = 0; i < N && weight == NULL; i++) {
            m.role[i] = m.label[i] == NULL ? DN_ROW_SKIP : DN_ROW_VALIDATE;
        }
        OK(dni_permuted_open(&p, &m.source.source, 0, m.role, DN_ROW_VALIDATE, &run, NULL));
        /* "signal" is input 1 of the model */
        dni_random_init(&random, seed, 512 + (1ULL << 32) + (r << 16));
        for (size_t k = 0; k <= r; k++) {
            if (k == r) {
                dni_permuted_shuffle(&p, &random);
            } else { /* each order starts from the one before */
                dni_random earlier;
                dni_random_init(&earlier, seed, 512 + (1ULL << 32) + (k << 16));
                dni_permuted_shuffle(&p, &earlier);
            }
        }
        move_signal(&moved, &p.table);
        worse[r] = sign * (evaluate(model, &m.source.source, metric, weight) -
                           evaluate(model, &moved.source.source, metric, weight));
        *mean += worse[r] / 3;
        dni_permuted_close(&p);
        chunked_done(&m.source);
        chunked_done(&moved.source);
    }
    for (size_t r = 0; r < 3; r++) {
        squares += (worse[r] - *mean) * (worse[r] - *mean);
    }
    *deviation = sqrt(squares / 3);
}

static size_t metric_number(const char *name) {
    size_t i = 0;
    while (strcmp(dn_metric_name(i), name) != 0) {
        i++;
    }
    return i;
}

static void against_tables(void **state) {
    (void)state;
    static const struct {
        const char *metric, *weight;
        double sign;
    } cases[] = {{"accuracy", NULL, 1},
                 {"log_loss", NULL, -1},
                 {"roc_auc", "weight", 1},
                 {"error", "weight", -1},
                 {"hinge", NULL, -1}};
    static struct mixed m;
    mixed_init(&m, three_chunks, 3);
    dn_model *model = train(&m, "logistic");
    dn_run run = dn_run_default(), scattered = scattered_run();
    run.seed = scattered.seed = 11;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const dn_importance_options options = {.repeats = 3,
                                               .metric = cases[c].metric,
                                               .weight = cases[c].weight};
        dn_importance *out, *again;
        double mean, deviation;
        OK(dn_model_importance(model, &m.source.source, &options, &run, &out, NULL));
        OK(dn_model_importance(model, &m.source.source, &options, &scattered, &again, NULL));
        assert_int_equal(out->n_inputs, 5);
        assert_true(out->base == evaluate(model, &m.source.source, metric_number(cases[c].metric),
                                          cases[c].weight));
        assert_memory_equal(out->mean, again->mean, 5 * sizeof *out->mean);
        assert_memory_equal(out->deviation, again->deviation, 5 * sizeof *out->mean);
        by_tables(model, metric_number(cases[c].metric), cases[c].sign, cases[c].weight, 11, &mean,
                  &deviation);
        assert_near(out->mean[1], mean, 1e-12);
        assert_near(out->deviation[1], deviation, 1e-12);
        for (size_t i = 0; i < 5; i++) { /* the column that decides the class is the first */
            assert_true(i == 1 || out->mean[i] < out->mean[1] / 2);
        }
        dn_importance_free(out);
        dn_importance_free(again);
    }
    dn_model_unref(model);
    chunked_done(&m.source);
}

/* Counts the reports, which must be numbered from 1 to the number of evaluations. */
static void count_report(const dn_run *run, const dn_progress *progress) {
    size_t *n = run->ctx;
    assert_int_equal(progress->iteration, ++*n);
    assert_int_equal(progress->max_iterations, 1 + 5 * 2);
}

static void reports(void **state) {
    (void)state;
    static struct mixed m;
    mixed_init(&m, seven_chunks, 7);
    dn_model *model = train(&m, "naive_bayes");
    const dn_importance_options twice = {.repeats = 2};
    dn_run run = dn_run_default();
    size_t n = 0;
    run.progress = count_report;
    run.ctx = &n;
    dn_importance *out;
    OK(dn_model_importance(model, &m.source.source, &twice, &run, &out, NULL));
    assert_int_equal(n, 1 + 5 * 2);
    dn_importance_free(out);
    dn_model_unref(model);
    chunked_done(&m.source);
}

/* A column with one value changes nothing. */
static void constant_column(void **state) {
    (void)state;
    static struct mixed m;
    mixed_init(&m, seven_chunks, 7);
    dn_model *model = train(&m, "naive_bayes");
    for (size_t i = 0; i < N; i++) {
        m.kind[i] = "red";
    }
    dn_importance *out;
    OK(dn_model_importance(model, &m.source.source, NULL, NULL, &out, NULL));
    assert_true(out->mean[4] == 0 && out->deviation[4] == 0);
    assert_true(out->mean[1] > 0.05 && out->deviation[1] > 0);
    dn_importance_free(out);
    dn_model_unref(model);
    chunked_done(&m.source);
}

/* ---- errors ---- */
static void refused_memory(void **state) {
    (void)state;
    static struct mixed m;
    mixed_init(&m, three_chunks, 3);
    dn_model *model = train(&m, "logistic");
    const dn_importance_options options = {.repeats = 1};
    size_t refused = 0;
    for (size_t at = 1;; at++) {
        refusing memory;
        dn_importance *out = NULL;
        dn_run run = dn_run_default();
        refusing_init(&memory, at);
        run.allocator = &memory.allocator;
        const dn_status status =
            dn_model_importance(model, &m.source.source, &options, &run, &out, NULL);
        assert_int_equal(memory.live, 0);
        if (memory.refused == 0) {
            OK(status);
            dn_importance_free(out);
            break;
        }
        if (status == DN_OK) { /* evaluation works without the memory, only slower */
            dn_importance_free(out);
            continue;
        }
        assert_int_equal(status, DN_ERR_BUDGET);
        assert_null(out);
        refused++;
    }
    assert_true(refused > 30); /* every allocation of every column was refused once */
    dn_model_unref(model);
    chunked_done(&m.source);
}

static void stops_and_failures(void **state) {
    (void)state;
    static struct mixed m;
    mixed_init(&m, three_chunks, 3);
    dn_model *model = train(&m, "logistic");
    const dn_importance_options options = {.repeats = 1};
    for (size_t at = 1;; at += 5) {
        struct polls polls = {.stop_at = at};
        const dn_run run = polls_run(&polls);
        dn_importance *out = NULL;
        const dn_status status =
            dn_model_importance(model, &m.source.source, &options, &run, &out, NULL);
        if (status == DN_OK) {
            assert_true(polls.n < at);
            dn_importance_free(out);
            break;
        }
        assert_int_equal(status, DN_ERR_STOPPED);
        assert_null(out);
    }
    size_t failures = 0;
    for (size_t at = 1;; at += 3) { /* the source fails at this read */
        dn_importance *out = NULL;
        m.source.fail_at = at;
        m.source.calls = 0;
        const dn_status status =
            dn_model_importance(model, &m.source.source, &options, NULL, &out, NULL);
        if (status == DN_OK) {
            dn_importance_free(out);
            break;
        }
        assert_int_equal(status, DN_ERR_SOURCE);
        assert_null(out);
        failures++;
    }
    assert_true(failures > 10);
    dn_model_unref(model);
    chunked_done(&m.source);
}

static void arguments(void **state) {
    (void)state;
    static struct mixed m;
    dn_importance *out = NULL;
    dn_error err;
    mixed_init(&m, one_chunk, 1);
    dn_model *model = train(&m, "logistic");
    const dn_table_source *source = &m.source.source;
    assert_int_equal(dn_model_importance(NULL, source, NULL, NULL, &out, &err), DN_ERR_ARGUMENT);
    assert_int_equal(dn_model_importance(model, NULL, NULL, NULL, &out, &err), DN_ERR_ARGUMENT);
    assert_int_equal(dn_model_importance(model, source, NULL, NULL, NULL, &err), DN_ERR_ARGUMENT);
    dn_error_clear(&err);
    assert_int_equal(dn_model_importance(model, source, &(dn_importance_options){.metric = "gini"},
                                         NULL, &out, &err),
                     DN_ERR_ARGUMENT);
    assert_string_equal(err.field, "metric");
    assert_string_equal(err.message, "there is no metric \"gini\"");
    dn_error_clear(&err);
    assert_int_equal(dn_model_importance(model, source, &(dn_importance_options){.target = "kinds"},
                                         NULL, &out, &err),
                     DN_ERR_DATA);
    assert_null(out);
    dn_importance_free(NULL);
    dn_model_unref(model);
    chunked_done(&m.source);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cells_move),
                                       cmocka_unit_test(against_tables),
                                       cmocka_unit_test(constant_column),
                                       cmocka_unit_test(reports),
                                       cmocka_unit_test(refused_memory),
                                       cmocka_unit_test(stops_and_failures),
                                       cmocka_unit_test(arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
