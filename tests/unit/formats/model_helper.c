#include "unit/formats/model_helper.h"

/* Trains a logistic regression of the last column on the other columns. The body must fit into one
 * chunk. Defaults: multiclass NULL, unseen DN_UNSEEN_ZEROS. */
static dn_model *model_train_as(const struct table_options *options, const char *body,
                                const char *multiclass, dn_unseen_rule unseen) {
    struct table_copy t = table_read_options(options, body);
    struct schema schema = {0};
    struct problem problem = {0};
    dn_table_column columns[16];
    dn_column_view views[16];
    dn_column_chunk *chunks[16];
    size_t inputs[16];
    dn_table_source *source = NULL;
    dn_params *params = NULL;
    dn_train_result result = {0};
    dn_error error;
    dn_error_clear(&error);
    if (!t.well) {
        fail_msg("%s", buf_cstr(&t.problem_text));
    }
    assert_int_equal(t.n_chunks, 1);
    assert_true(schema_parse(t.columns, &schema, &problem));
    for (size_t j = 0; j < schema.n; j++) {
        columns[j] =
            (dn_table_column){.name = schema.columns[j].name, .type = schema.columns[j].type};
        inputs[j] = j;
        assert_int_equal(dn_column_chunk_new(&chunks[j], NULL), DN_OK);
        assert_int_equal(dn_column_chunk_decode(chunks[j], t.blobs[j].bytes, t.blobs[j].size,
                                                schema.columns[j].type, &views[j], &error),
                         DN_OK);
    }
    assert_int_equal(dn_table_source_from_columns(columns, views, schema.n, (size_t)t.rows[0],
                                                  &source, &error),
                     DN_OK);
    assert_int_equal(dn_params_new(dn_algorithm_find("logistic"), &params, &error), DN_OK);
    assert_int_equal(dn_params_set_number(params, "lambda", 0.1, &error), DN_OK);
    if (multiclass != NULL) {
        assert_int_equal(dn_params_set_word(params, "multiclass", multiclass, &error), DN_OK);
    }
    const dn_train_request request = {.source = source,
                                      .params = params,
                                      .target = schema.n - 1,
                                      .features = {.columns = inputs,
                                                   .n_columns = schema.n - 1,
                                                   .unseen = unseen}};
    const dn_run run = dn_run_default();
    if (dn_train(&request, &run, &result, &error) != DN_OK) {
        fail_msg("%s", error.message);
    }
    dn_model *model = dn_model_ref(result.model);
    dn_train_result_done(&result);
    dn_params_free(params);
    dn_table_source_free(source);
    for (size_t j = 0; j < schema.n; j++) {
        dn_column_chunk_free(chunks[j]);
    }
    schema_done(&schema);
    table_done(&t);
    return model;
}

dn_model *model_wide(void) {
    enum { N = 6 };
    static const double x[N] = {1, 2, 3, 4, 5, 6}, y[N] = {0, 1, 2, 0, 1, 2},
                        value[] = {1, 2, -1, 0.5, 3, 1, 1};
    static const size_t row_start[N + 1] = {0, 1, 3, 4, 5, 6, 7}, inputs[] = {0, 1, 2};
    static const uint32_t place[] = {0, 1, 4, 2, 0, 1, 3},
                          code[N] = {0, 1, 2, 3, DN_CODE_MISSING, 1}, start[] = {0, 7, 10, 17, 22};
    static const dn_table_column columns[] = {
        {.name = "x", .type = DN_NUMERIC},
        {.name = "f", .type = DN_SPARSE, .width = 5, .first_index = 1},
        {.name = "words", .type = DN_TEXT},
        {.name = "kind", .type = DN_NUMERIC}};
    const dn_column_view views[] = {
        {.type = DN_NUMERIC, .n_rows = N, .number = x},
        {.type = DN_SPARSE, .n_rows = N, .number = value, .row_start = row_start, .index = place},
        {.type = DN_TEXT,
         .n_rows = N,
         .code = code,
         .strings = {.n = 4, .start = start, .bytes = "red sunseasun seahills"}},
        {.type = DN_NUMERIC, .n_rows = N, .number = y}};
    dn_table_source *source = NULL;
    dn_params *params = NULL;
    dn_train_result result = {0};
    assert_int_equal(dn_table_source_from_columns(columns, views, 4, N, &source, NULL), DN_OK);
    assert_int_equal(dn_params_new(dn_algorithm_find("logistic"), &params, NULL), DN_OK);
    assert_int_equal(dn_params_set_number(params, "lambda", 0.1, NULL), DN_OK);
    const dn_run run = dn_run_default();
    const dn_train_request request = {.source = source,
                                      .params = params,
                                      .target = 3,
                                      .features = {.columns = inputs, .n_columns = 3}};
    assert_int_equal(dn_train(&request, &run, &result, NULL), DN_OK);
    dn_model *model = dn_model_ref(result.model);
    dn_train_result_done(&result);
    dn_params_free(params);
    dn_table_source_free(source);
    return model;
}

static dn_model *model_train(const struct table_options *options, const char *body) {
    return model_train_as(options, body, NULL, DN_UNSEEN_ZEROS);
}

dn_model *model_mixed_as(const char *multiclass, dn_unseen_rule unseen) {
    return model_train_as(&(struct table_options){0},
                          "length,width,colour,old,kind\n"
                          "1.5,2,red,true,a\n2.5,1,blue,false,b\n3,7,red,true,c\n,2,,,a\n"
                          "1,2.5,green,false,a\n2,1.5,blue,true,b\n3.5,6,red,false,c\n",
                          multiclass, unseen);
}

dn_model *model_mixed(void) {
    return model_mixed_as(NULL, DN_UNSEEN_ZEROS);
}

dn_model *model_numeric(void) {
    return model_train(
        &(struct table_options){0},
        "x,y,class\n0.5,2,0\n1.5,1,1\n2.5,0,7.5\n0.25,2,0\n1.25,1,1\n2.25,0.5,7.5\n");
}

dn_model *model_boolean(void) {
    return model_train(&(struct table_options){.types = "sick:boolean"},
                       "fever,sick\n36.5,false\n39.5,true\n37,0\n40,1\n");
}

dn_model *model_one_text_column(void) {
    return model_train(&(struct table_options){0},
                       "place,kind\n\"a,b\",x\n\"c,d\",y\n\"a,b\",x\n\"c,d\",y\n");
}
