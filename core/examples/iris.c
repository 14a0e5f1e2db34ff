/* Trains, evaluates, predicts, stores and loads a model with the functions for tables. Uses only
 * the library.
 *
 *   iris [FILE]     a CSV file of numbers whose last column is the class; default:
 *                   tests/data/iris.csv
 *
 * The library reads no files. This program reads simple CSV files: no quotes, no missing cells. */
#include <discern/discern.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 1000, MAX_COLUMNS = 16, MAX_CLASSES = 8, LINE_SIZE = 512, NAME_SIZE = 64 };

/* The table, stored by columns. */
struct table {
    size_t n_rows, n_inputs;               /* number of rows; number of columns without the class */
    char names[MAX_COLUMNS][NAME_SIZE];    /* names of the columns; the class is the last column */
    double numbers[MAX_COLUMNS][MAX_ROWS]; /* the inputs */
    uint32_t code[MAX_ROWS];               /* [n_rows] class of each row, as index into the class
                                            * names */
    char classes[MAX_CLASSES * NAME_SIZE]; /* the concatenated class names */
    uint32_t class_start[MAX_CLASSES + 1]; /* offset in `classes` of the start of each name */
    size_t n_classes;                      /* number of classes, numbered in order of first
                                            * appearance */
    dn_table_column columns[MAX_COLUMNS];  /* referenced by the source */
    dn_column_view views[MAX_COLUMNS];
};

/* Returns the index of a class; a new class is added. MAX_CLASSES: there are too many classes. */
static uint32_t class_index(struct table *table, const char *name) {
    size_t length = strlen(name);
    for (size_t k = 0; k < table->n_classes; k++) {
        const uint32_t *start = table->class_start + k;
        if (length == start[1] - start[0] && memcmp(table->classes + start[0], name, length) == 0) {
            return (uint32_t)k;
        }
    }
    if (table->n_classes == MAX_CLASSES || length >= NAME_SIZE) {
        return MAX_CLASSES;
    }
    uint32_t *start = table->class_start + table->n_classes;
    memcpy(table->classes + start[0], name, length);
    start[1] = start[0] + (uint32_t)length;
    return (uint32_t)table->n_classes++;
}

static int read_row(struct table *table, char *line) {
    char *cell = line;
    for (size_t j = 0; j < table->n_inputs; j++) {
        char *comma = strchr(cell, ',');
        if (comma == NULL ||
            !dn_number_parse(cell, (size_t)(comma - cell), &table->numbers[j][table->n_rows])) {
            return 0;
        }
        cell = comma + 1;
    }
    table->code[table->n_rows] = class_index(table, cell);
    return table->code[table->n_rows++] != MAX_CLASSES;
}

static int read_table(struct table *table, const char *path) {
    char line[LINE_SIZE];
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return 0;
    }
    int good = fgets(line, sizeof line, file) != NULL;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *name = strtok(line, ","); good && name != NULL; name = strtok(NULL, ",")) {
        good = table->n_inputs < MAX_COLUMNS && strlen(name) < NAME_SIZE;
        if (good) {
            memcpy(table->names[table->n_inputs++], name, strlen(name) + 1);
        }
    }
    good = good && table->n_inputs-- > 1;
    while (good && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        good = table->n_rows < MAX_ROWS && read_row(table, line);
    }
    fclose(file);
    return good && table->n_rows > 0;
}

/* Makes a source of the table's columns, with all rows in one chunk. */
static dn_status make_source(struct table *table, dn_table_source **out, dn_error *err) {
    dn_table_column *columns = table->columns;
    dn_column_view *views = table->views;
    for (size_t j = 0; j < table->n_inputs; j++) {
        columns[j] = (dn_table_column){.name = table->names[j], .type = DN_NUMERIC};
        views[j] = (dn_column_view){.type = DN_NUMERIC,
                                    .n_rows = table->n_rows,
                                    .number = table->numbers[j]};
    }
    columns[table->n_inputs] =
        (dn_table_column){.name = table->names[table->n_inputs], .type = DN_CATEGORICAL};
    views[table->n_inputs] =
        (dn_column_view){.type = DN_CATEGORICAL,
                         .n_rows = table->n_rows,
                         .code = table->code,
                         .strings = {table->n_classes, table->class_start, table->classes}};
    return dn_table_source_from_columns(columns, views, table->n_inputs + 1, table->n_rows, out,
                                        err);
}

static dn_status train(const struct table *table, const dn_table_source *source,
                       dn_train_result *result, dn_error *err) {
    size_t inputs[MAX_COLUMNS];
    for (size_t j = 0; j < table->n_inputs; j++) {
        inputs[j] = j;
    }
    dn_params *params;
    dn_status status = dn_params_new(dn_algorithm_find("logistic"), &params, err);
    if (status != DN_OK) {
        return status;
    }
    status = dn_params_set_number(params, "lambda", 0.001, err);
    if (status == DN_OK) {
        dn_train_request request = {.source = source,
                                    .params = params,
                                    .target = table->n_inputs,
                                    .features = {.columns = inputs,
                                                 .n_columns = table->n_inputs,
                                                 .standardize = true},
                                    .holdout = 0.2};
        dn_run run = dn_run_default(); /* no limits, one thread, no callbacks */
        run.seed = 7;
        status = dn_train(&request, &run, result, err);
    }
    dn_params_free(params);
    return status;
}

static void show(const dn_train_result *result) {
    const dn_report *report = &result->report;
    printf("trained on %zu rows: %s after %zu iterations, objective %.6f\n", result->n_train,
           report->converged ? "converged" : "not converged", report->iterations,
           report->objective);
    for (size_t i = 0; i < report->n_warnings; i++) {
        printf("warning: %s\n", report->warnings[i].text);
    }
    printf("accuracy %.4f on the training rows", result->train->accuracy);
    if (result->validation != NULL) {
        printf(", %.4f on %zu rows held out", result->validation->accuracy, result->n_validation);
    }
    printf("\n");
}

/* Stores the model, loads it again, and predicts the first row with the loaded model. */
static dn_status predict_again(const struct table *table, const dn_model *model, dn_error *err) {
    void *bytes;
    size_t size;
    dn_model *loaded;
    dn_status status = dn_model_write(model, &bytes, &size, err);
    if (status != DN_OK) {
        return status;
    }
    status = dn_model_read(bytes, size, &loaded, err);
    free(bytes);
    if (status != DN_OK) {
        return status;
    }
    const dn_classes *classes = dn_model_classes(loaded);
    double raw[MAX_COLUMNS], probabilities[MAX_CLASSES];
    double *workspace = malloc((dn_model_workspace(loaded) + 1) * sizeof *workspace);
    size_t label;
    if (workspace == NULL) {
        status = dn_error_set(err, DN_ERR_MEMORY, "no memory for the workspace");
    } else {
        for (size_t j = 0; j < table->n_inputs; j++) {
            raw[j] = table->numbers[j][0];
        }
        dn_model_predict(loaded, dn_raw_numbers(raw, 1), workspace,
                         &(dn_prediction){.label = &label, .probabilities = probabilities});
        printf("a model of %zu bytes predicts for the first row:\n", size);
        for (size_t k = 0; k < classes->n; k++) {
            const uint32_t *start = classes->names.start + k;
            printf("  %c %-12.*s %.4f\n", k == label ? '*' : ' ', (int)(start[1] - start[0]),
                   classes->names.bytes + start[0], probabilities[k]);
        }
    }
    free(workspace);
    dn_model_unref(loaded);
    return status;
}

int main(int argc, char **argv) {
    static struct table table;
    const char *path = argc > 1 ? argv[1] : "tests/data/iris.csv";
    dn_error err;
    dn_error_clear(&err);
    if (!read_table(&table, path)) {
        fprintf(stderr, "%s: not a table of numbers with a class at the end of each line\n", path);
        return EXIT_FAILURE;
    }
    dn_table_source *source = NULL;
    dn_train_result result = {0};
    dn_status status = make_source(&table, &source, &err);
    if (status == DN_OK) {
        status = train(&table, source, &result, &err);
    }
    if (status == DN_OK) {
        show(&result);
        status = predict_again(&table, result.model, &err);
    }
    dn_train_result_done(&result);
    dn_table_source_free(source);
    if (status != DN_OK) {
        fprintf(stderr, "%s: %s\n", dn_status_name(status), err.message);
    }
    return status == DN_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
