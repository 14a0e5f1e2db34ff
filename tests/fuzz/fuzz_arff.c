/* Reads the body as an ARFF table and as ARFF instances. Byte 0 of the input chooses the options,
 * byte 1 where the body is cut into pieces; the other bytes are the body. */
#include "fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static dn_model *model;
    if (size < 2) {
        return 0;
    }
    const struct table_options options = {.format = data[0] & 1 ? &format_arff : NULL,
                                          .on_error = data[0] & 2 ? TABLE_SKIP : TABLE_REJECT,
                                          .types = data[0] & 4 ? "a:text,b:boolean" : NULL};
    char *body = fuzz_copy(data + 2, size - 2);
    fuzz_check_table(&options, body, size - 2, data[1], false);

    if (model == NULL) {
        model = fuzz_model();
    }
    struct instance_rows in = {0};
    struct problem problem = {0};
    const struct instances_options how = {.format = &format_arff, .labelled = (data[0] & 8) != 0};
    const bool well = instances_read(body, size - 2, &how, model, &in, &problem);
    CHECK(well == (problem.type == PROBLEM_NONE));
    CHECK(!well || in.n > 0);
    problem_done(&problem);
    instance_rows_done(&in);
    free(body);
    return 0;
}
