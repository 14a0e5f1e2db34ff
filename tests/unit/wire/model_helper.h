/* For the tests of instances: a model trained on a small table, through this module's own reader. */
#ifndef TESTS_WIRE_MODEL_HELPER_H
#define TESTS_WIRE_MODEL_HELPER_H

#include "table_helper.h"

/* Logistic regression of the last column on the others. The body must fit one chunk. multiclass, unseen: NULL and DN_UNSEEN_ZEROS are the defaults. */
static inline dn_model *model_train_as(const struct wire_table_options *options, const char *body, const char *multiclass,
                                       dn_unseen_rule unseen) {
    struct table t = table_read_options(options, body);
    struct wire_schema schema = {0};
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
    assert_true(wire_schema_parse(t.columns, &schema, &problem));
    for (size_t j = 0; j < schema.n; j++) {
        columns[j] = (dn_table_column){schema.columns[j].name, schema.columns[j].type};
        inputs[j] = j;
        assert_int_equal(dn_column_chunk_new(&chunks[j], NULL), DN_OK);
        assert_int_equal(dn_column_chunk_decode(chunks[j], t.blobs[j].bytes, t.blobs[j].size, schema.columns[j].type, &views[j], &error),
                         DN_OK);
    }
    assert_int_equal(dn_table_source_from_columns(columns, views, schema.n, (size_t)t.rows[0], &source, &error), DN_OK);
    assert_int_equal(dn_params_new(dn_algorithm_find("logistic"), &params, &error), DN_OK);
    assert_int_equal(dn_params_set_number(params, "lambda", 0.1, &error), DN_OK);
    if (multiclass != NULL) {
        assert_int_equal(dn_params_set_word(params, "multiclass", multiclass, &error), DN_OK);
    }
    const dn_train_request request = {.source = source,
                                      .params = params,
                                      .target = schema.n - 1,
                                      .features = {.columns = inputs, .n_columns = schema.n - 1, .unseen = unseen}};
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
    wire_schema_done(&schema);
    table_done(&t);
    return model;
}

static inline dn_model *model_train(const struct wire_table_options *options, const char *body) {
    return model_train_as(options, body, NULL, DN_UNSEEN_ZEROS);
}

/* Two numbers, a category, a boolean; three classes of strings. */
static inline dn_model *model_mixed_as(const char *multiclass, dn_unseen_rule unseen) {
    return model_train_as(&(struct wire_table_options){0},
                          "length,width,colour,old,kind\n"
                          "1.5,2,red,true,a\n2.5,1,blue,false,b\n3,7,red,true,c\n,2,,,a\n"
                          "1,2.5,green,false,a\n2,1.5,blue,true,b\n3.5,6,red,false,c\n",
                          multiclass, unseen);
}

static inline dn_model *model_mixed(void) {
    return model_mixed_as(NULL, DN_UNSEEN_ZEROS);
}

/* Two numbers; classes of numbers. */
static inline dn_model *model_numeric(void) {
    return model_train(&(struct wire_table_options){0}, "x,y,class\n0.5,2,0\n1.5,1,1\n2.5,0,7.5\n0.25,2,0\n1.25,1,1\n2.25,0.5,7.5\n");
}

/* One number; true and false. */
static inline dn_model *model_boolean(void) {
    return model_train(&(struct wire_table_options){.types = "sick:boolean"}, "fever,sick\n36.5,false\n39.5,true\n37,0\n40,1\n");
}

#endif
