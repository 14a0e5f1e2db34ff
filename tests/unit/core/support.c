#include "unit/core/support.h"

static dn_status polls_stop(const dn_run *run) {
    struct polls *p = run->ctx;
    return ++p->n == p->stop_at ? DN_ERR_STOPPED : DN_OK;
}

dn_run polls_run(struct polls *p) {
    dn_run run = dn_run_default();
    run.stop = polls_stop;
    run.ctx = p;
    return run;
}

void *xcalloc(size_t n, size_t size) {
    void *p = calloc(n == 0 ? 1 : n, size);
    assert_non_null(p);
    return p;
}

static int csv_by_bytes(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int csv_by_value(const void *a, const void *b) {
    double x = atof(*(char *const *)a), y = atof(*(char *const *)b);
    return (x > y) - (x < y);
}

char *csv_copy(const char *text) {
    char *copy = xcalloc(strlen(text) + 1, 1);
    memcpy(copy, text, strlen(text));
    return copy;
}

void csv_classify(struct csv *t) {
    char **sorted = xcalloc(t->n, sizeof *sorted);
    bool numbers = true;
    for (size_t i = 0; i < t->n; i++) {
        char *end;
        sorted[i] = t->labels[i];
        (void)strtod(t->labels[i], &end);
        numbers = numbers && *end == '\0';
    }
    qsort(sorted, t->n, sizeof *sorted, numbers ? csv_by_value : csv_by_bytes);
    t->classes = xcalloc(t->n, sizeof *t->classes);
    for (size_t i = 0; i < t->n; i++) {
        if (i == 0 || strcmp(sorted[i], sorted[i - 1]) != 0) {
            t->classes[t->K++] = sorted[i];
        }
    }
    t->target = xcalloc(t->n, sizeof *t->target);
    for (size_t i = 0; i < t->n; i++) {
        while (strcmp(t->classes[(size_t)t->target[i]], t->labels[i]) != 0) {
            t->target[i] += 1;
        }
    }
    free(sorted);
}

/* Reads the file. Returns NULL if it does not exist. */
static struct csv *csv_load(const char *path) {
    FILE *f = fopen(path, "r");
    if (f == NULL) {
        return NULL;
    }
    struct csv *t = xcalloc(1, sizeof *t);
    size_t room = 4096, size = 65536;
    char *line = xcalloc(size, 1);
    t->labels = xcalloc(room, sizeof *t->labels);
    while (fgets(line, (int)size, f) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        size_t fields = 1, j = 0;
        for (const char *c = line; *c != '\0'; c++) {
            fields += *c == ',';
        }
        if (t->d == 0) {
            t->d = fields - 1;
            t->names = xcalloc(fields, sizeof *t->names);
            t->x = xcalloc(room * t->d, sizeof *t->x);
            for (char *field = strtok(line, ","); field != NULL; field = strtok(NULL, ",")) {
                t->names[j++] = csv_copy(field);
            }
            continue;
        }
        assert_true(t->n < room && fields == t->d + 1);
        for (char *field = strtok(line, ","); field != NULL; field = strtok(NULL, ","), j++) {
            if (j < t->d) {
                t->x[t->n * t->d + j] = strtod(field, NULL);
            } else {
                t->labels[t->n] = csv_copy(field);
            }
        }
        t->n++;
    }
    fclose(f);
    free(line);
    csv_classify(t);
    return t;
}

void csv_free(struct csv *t) {
    if (t == NULL) {
        return;
    }
    for (size_t i = 0; i < t->n; i++) {
        free(t->labels[i]);
    }
    for (size_t j = 0; j <= t->d; j++) {
        free(t->names[j]);
    }
    free(t->labels);
    free(t->names);
    free(t->classes);
    free(t->target);
    free(t->x);
    free(t);
}

struct csv *csv_named(const char *name) {
    char path[1024];
    if (strcmp(name, "pima") == 0) {
        const char *shared = getenv("DISCERN_SHARED");
        snprintf(path, sizeof path, "%s/data/pima.csv", shared == NULL ? "../shared" : shared);
        return csv_load(path);
    }
    snprintf(path, sizeof path, "tests/data/%s.csv", name);
    struct csv *t = csv_load(path);
    assert_non_null(t);
    return t;
}

struct table *table_of(const struct csv *t) {
    struct table *table = xcalloc(1, sizeof *table);
    table->columns = xcalloc(t->d + 1, sizeof *table->columns);
    table->views = xcalloc(t->d + 1, sizeof *table->views);
    table->numbers = xcalloc(t->d * t->n, sizeof(double));
    table->codes = xcalloc(t->n, sizeof(uint32_t));
    table->start = xcalloc(t->K + 1, sizeof(uint32_t));
    table->inputs = xcalloc(t->d, sizeof(size_t));
    for (size_t j = 0; j < t->d; j++) {
        table->columns[j] = (dn_table_column){.name = t->names[j], .type = DN_NUMERIC};
        table->views[j] = (dn_column_view){.type = DN_NUMERIC,
                                           .n_rows = t->n,
                                           .number = table->numbers + j * t->n};
        for (size_t i = 0; i < t->n; i++) {
            table->numbers[j * t->n + i] = t->x[i * t->d + j];
        }
        table->inputs[j] = j;
    }
    size_t length = 0;
    for (size_t k = 0; k < t->K; k++) {
        length += strlen(t->classes[k]);
    }
    table->bytes = xcalloc(length + 1, 1);
    for (size_t k = 0; k < t->K; k++) {
        memcpy(table->bytes + table->start[k], t->classes[k], strlen(t->classes[k]));
        table->start[k + 1] = table->start[k] + (uint32_t)strlen(t->classes[k]);
    }
    for (size_t i = 0; i < t->n; i++) {
        table->codes[i] = (uint32_t)t->target[i];
    }
    table->columns[t->d] = (dn_table_column){.name = t->names[t->d], .type = DN_CATEGORICAL};
    table->views[t->d] =
        (dn_column_view){.type = DN_CATEGORICAL,
                         .n_rows = t->n,
                         .code = table->codes,
                         .strings = {.n = t->K, .start = table->start, .bytes = table->bytes}};
    OK(dn_table_source_from_columns(table->columns, table->views, t->d + 1, t->n, &table->source,
                                    NULL));
    return table;
}

void columns_table_free(struct table *table) {
    dn_table_source_free(table->source);
    free(table->columns);
    free(table->views);
    free(table->numbers);
    free(table->codes);
    free(table->start);
    free(table->bytes);
    free(table->inputs);
    free(table);
}

dn_train_request table_request(const struct csv *t, const struct table *table,
                               const dn_params *params) {
    return (dn_train_request){.source = table->source,
                              .params = params,
                              .target = t->d,
                              .features = {.columns = table->inputs,
                                           .n_columns = t->d,
                                           .standardize = true}};
}

struct csv *csv_clouds(size_t n, size_t d, size_t K) {
    struct csv *t = xcalloc(1, sizeof *t);
    uint64_t state = 12345;
    t->n = n;
    t->d = d;
    t->names = xcalloc(d + 1, sizeof *t->names);
    t->x = xcalloc(n * d, sizeof *t->x);
    t->labels = xcalloc(n, sizeof *t->labels);
    for (size_t j = 0; j <= d; j++) {
        char name[32];
        snprintf(name, sizeof name, j < d ? "x%zu" : "class", j);
        t->names[j] = csv_copy(name);
    }
    for (size_t i = 0; i < n; i++) {
        char label[32];
        snprintf(label, sizeof label, "c%02zu", i * 7 % K);
        t->labels[i] = csv_copy(label);
        for (size_t j = 0; j < d; j++) {
            double sum = -6; /* the sum of twelve uniform numbers is nearly normal */
            for (int k = 0; k < 12; k++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                sum += (double)(state >> 11) * 0x1p-53;
            }
            t->x[i * d + j] = (double)(j + 1) * (sum + (i * 7 % K == j ? 1 : 0)) + 10;
        }
    }
    csv_classify(t);
    return t;
}

json_t *golden_load(void) {
    json_error_t error;
    json_t *root = json_load_file("tests/data/golden.json", 0, &error);
    assert_non_null(root);
    return root;
}

size_t golden_numbers(const json_t *value, double *out) {
    if (!json_is_array(value)) {
        assert_true(json_is_number(value));
        *out = json_number_value(value);
        return 1;
    }
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        n += golden_numbers(json_array_get(value, i), out + n);
    }
    return n;
}

void assert_close(const double *u, const double *v, size_t n, double tolerance) {
    double most = 0, off = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(v[i]));
        assert_true(isfinite(u[i]));
        off = fmax(off, fabs(u[i] - v[i]));
    }
    if (!(off <= tolerance * most)) {
        fail_msg("off by %.3g of %.3g, allowed is %.3g of it", off, most, tolerance);
    }
}

void assert_near(double u, double v, double tolerance) {
    assert_close(&u, &v, 1, tolerance);
}

double *standardised(const double *x, size_t n, size_t d, double *mean, double *deviation) {
    double *z = xcalloc(n * d, sizeof *z);
    for (size_t j = 0; j < d; j++) {
        double m = 0, s = 0;
        for (size_t i = 0; i < n; i++) {
            m += x[i * d + j] / (double)n;
        }
        for (size_t i = 0; i < n; i++) {
            s += (x[i * d + j] - m) * (x[i * d + j] - m) / (double)n;
        }
        s = s > 1e-24 * (1 + m * m) ? sqrt(s) : 1;
        for (size_t i = 0; i < n; i++) {
            z[i * d + j] = (x[i * d + j] - m) / s;
        }
        if (mean != NULL) {
            mean[j] = m;
        }
        if (deviation != NULL) {
            deviation[j] = s;
        }
    }
    return z;
}

dn_status sum_in_ranges(const dn_run *run, const dn_rows *rows, const dn_sum *fn, double *out,
                        dn_error *err) {
    const unsigned level = 1;
    const size_t width = (size_t)1 << level, n_out = fn->n_out;
    size_t full = rows->n_blocks / width, rest = rows->n_blocks % width;
    double *totals = xcalloc((full + 1) * n_out, sizeof *totals),
           *partials = xcalloc(dn_pairwise_capacity(rows->n_blocks, n_out), sizeof(double));
    dn_status status = DN_OK;
    dn_pairwise sum;
    for (size_t r = full; r-- > 0;) {
        const size_t slot = run->n_slots - 1 - r % run->n_slots;
        dn_pairwise_init(&sum, n_out, partials);
        for (size_t i = r * width; i < (r + 1) * width; i++) {
            status = dn_run_sum_block(NULL, rows, i, slot, fn, dn_pairwise_next(&sum), err);
            if (status != DN_OK) {
                goto cleanup;
            }
            dn_pairwise_push(&sum, 0);
        }
        dn_pairwise_total(&sum, totals + r * n_out);
    }
    dn_pairwise_init(&sum, n_out, partials);
    for (size_t r = 0; r < full; r++) {
        memcpy(dn_pairwise_next(&sum), totals + r * n_out, n_out * sizeof *out);
        dn_pairwise_push(&sum, level);
    }
    for (size_t i = full * width; i < full * width + rest; i++) {
        status = dn_run_sum_block(NULL, rows, i, 0, fn, dn_pairwise_next(&sum), err);
        if (status != DN_OK) {
            goto cleanup;
        }
        dn_pairwise_push(&sum, 0);
    }
    dn_pairwise_total(&sum, out);
cleanup:
    free(totals);
    free(partials);
    return status;
}

dn_status each_in_reverse(const dn_run *run, const dn_rows *rows, dn_each_fn fn, void *arg,
                          dn_error *err) {
    for (size_t i = rows->n_blocks; i-- > 0;) {
        const size_t slot = run->n_slots - 1 - i % run->n_slots;
        dn_status status = dn_run_each_block(NULL, rows, i, slot, fn, arg, err);
        if (status != DN_OK) {
            return status;
        }
    }
    return DN_OK;
}

static void *memory_allocate(void *ctx, size_t size) {
    struct memory *m = ctx;
    if (++m->count == m->fail_at || size > m->left) {
        return NULL;
    }
    void *p = malloc(size);
    m->live += p != NULL;
    return p;
}

static void memory_release(void *ctx, void *p) {
    struct memory *m = ctx;
    m->live -= p != NULL;
    free(p);
}

static bool memory_charge(void *ctx, size_t size) {
    struct memory *m = ctx;
    if (++m->count == m->fail_at || size > m->left) {
        return false;
    }
    m->held += size;
    return true;
}

static void memory_discharge(void *ctx, size_t size) {
    struct memory *m = ctx;
    assert_true(size <= m->held);
    m->held -= size;
}

dn_allocator memory_allocator(struct memory *m, bool budgeted) {
    return (dn_allocator){.allocate = memory_allocate,
                          .release = memory_release,
                          .charge = memory_charge,
                          .discharge = memory_discharge,
                          .ctx = m,
                          .budgeted = budgeted};
}

double estimated_memory(const dn_params *p, size_t n_rows, size_t n_features, size_t n_classes,
                        size_t n_slots) {
    return p->algorithm->memory(p, &(dn_fit_shape){.n_rows = n_rows,
                                                   .n_features = n_features,
                                                   .n_classes = n_classes,
                                                   .n_slots = n_slots,
                                                   .n_entries = (double)INFINITY});
}

dn_params *params_of(const char *solver, double lambda) {
    dn_params *p;
    OK(dn_params_new(dn_algorithm_find("logistic"), &p, NULL));
    OK(dn_params_set_word(p, "solver", solver, NULL));
    OK(dn_params_set_number(p, "lambda", lambda, NULL));
    if (strcmp(solver, "auto") == 0 || strcmp(solver, "lbfgs") == 0) {
        OK(dn_params_set_number(p, "tolerance", 1e-9, NULL));
    }
    return p;
}

dn_status fit_input(const dn_params *p, const dn_fit_input *input, const dn_run *run,
                    struct fit *fit, dn_error *err) {
    dn_machine *machine = NULL;
    assert_ptr_equal(input->params, p);
    const dn_status status = dni_learner_fit(input, run, &machine, &fit->report, err);
    if (status == DN_OK) {
        fit->out = machine_view(machine);
    } else {
        assert_null(machine);
    }
    return status;
}

dn_status fit_rows(const dn_rows *rows, size_t K, const dn_params *p, const dn_run *run,
                   struct fit *fit, dn_error *err) {
    dn_fit_input input = {.rows = rows, .n_classes = K, .params = p};
    OK(dn_params_check(p, NULL));
    return fit_input(p, &input, run, fit, err);
}

void fit_done(struct fit *fit) {
    dn_machine_free(fit->out.machine);
    dn_report_done(&fit->report);
    *fit = (struct fit){0};
}

double reference_objective(const double *x, const double *target, const double *weight, size_t n,
                           size_t d, size_t K, const double *w, const double *w0, double lambda,
                           double *gradient) {
    size_t S = K == 2 ? 1 : K;
    double loss = 0, total = 0, g[64];
    memset(gradient, 0, S * (d + 1) * sizeof *gradient);
    for (size_t i = 0; i < n; i++) {
        double v = weight == NULL ? 1 : weight[i], most = K == 2 ? 0 : -(double)INFINITY, sum = 0;
        size_t truth = (size_t)target[i];
        for (size_t k = 0; k < S; k++) {
            g[k] = w0[k];
            for (size_t j = 0; j < d; j++) {
                g[k] += w[k * d + j] * x[i * d + j];
            }
            most = fmax(most, g[k]);
        }
        if (K == 2) {
            sum = exp(-most);
        }
        for (size_t k = 0; k < S; k++) {
            sum += exp(g[k] - most);
        }
        loss += v * (most + log(sum) - (K == 2 ? (truth == 1 ? g[0] : 0) : g[truth]));
        total += v;
        for (size_t k = 0; k < S; k++) {
            double r = v * (exp(g[k] - most) / sum - (K == 2 ? (truth == 1) : (truth == k)));
            for (size_t j = 0; j < d; j++) {
                gradient[k * (d + 1) + j] += r * x[i * d + j];
            }
            gradient[k * (d + 1) + d] += r;
        }
    }
    loss /= total;
    for (size_t k = 0; k < S; k++) {
        for (size_t j = 0; j <= d; j++) {
            gradient[k * (d + 1) + j] /= total;
            if (j < d) {
                gradient[k * (d + 1) + j] += 2 * lambda * w[k * d + j];
                loss += lambda * w[k * d + j] * w[k * d + j];
            }
        }
    }
    return loss;
}
