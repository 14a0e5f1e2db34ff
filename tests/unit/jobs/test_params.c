/* Parameters as JSON: members stand in the object of their owner, what does not matter is not
 * shown, null stands for its word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "jobs/request/params.h"
#include <string.h>

static const char *const shapes[] = {"flat", "bent", "lumpy", NULL}, *const shares[] = {"equal",
                                                                                        NULL};

static const dn_param table[] = {
    {.name = "C",
     .type = DN_PARAM_NUMBER,
     .default_number = 1,
     .maximum = 9,
     .word = "hard",
     .null_word = "hard"},
    {.name = "shape", .type = DN_PARAM_CHOICE, .default_choice = "flat", .choices = shapes},
    {.name = "shape.bend",
     .type = DN_PARAM_NUMBER,
     .default_choice = "auto",
     .maximum = 9,
     .word = "auto"},
    {.name = "other", .type = DN_PARAM_INTEGER, .default_number = 7, .maximum = 9},
    {.name = "shape.lumps",
     .type = DN_PARAM_LIST,
     .default_choice = "equal",
     .maximum = 9,
     .choices = shares},
    {.name = "shape.even", .type = DN_PARAM_BOOLEAN},
    {.name = "shapely",
     .type = DN_PARAM_BOOLEAN,
     .default_number = 1}, /* begins alike and is no member */
    {.name = "idle", .type = DN_PARAM_BOOLEAN},
};

static bool applies(const dn_params *p, size_t i) {
    const char *name = p->algorithm->params[i].name, *shape = dn_params_word(p, "shape");
    return strcmp(name, "shape.bend") == 0    ? strcmp(shape, "flat") != 0
           : strcmp(name, "shape.lumps") == 0 ? strcmp(shape, "lumpy") == 0
                                              : strcmp(name, "idle") != 0;
}

static const dn_algorithm shaped = {.id = "shaped",
                                    .params = table,
                                    .n_params = sizeof table / sizeof table[0],
                                    .applies = applies};

static void written(const dn_params *p, const char *expected) {
    struct buf text = {0};
    jobs_params_write(p, &text);
    assert_string_equal(buf_cstr(&text), expected);
    buf_done(&text);
}

static void members_are_gathered(void **state) {
    (void)state;
    const double lumps[] = {0.5, 2};
    dn_params *p;
    assert_int_equal(dn_params_new(&shaped, &p, NULL), DN_OK);
    written(p,
            "{\"C\":1,\"shape\":{\"type\":\"flat\",\"even\":false},\"other\":7,\"shapely\":true}");
    assert_int_equal(dn_params_set_word(p, "shape", "lumpy", NULL), DN_OK);
    assert_int_equal(dn_params_set_word(p, "C", "hard", NULL), DN_OK);
    written(p, "{\"C\":null,\"shape\":{\"type\":\"lumpy\",\"bend\":\"auto\",\"lumps\":\"equal\","
               "\"even\":false},\"other\":7,\"shapely\":true}");
    assert_int_equal(dn_params_set_list(p, "shape.lumps", lumps, 2, NULL), DN_OK);
    assert_int_equal(dn_params_set_number(p, "shape.bend", 0.25, NULL), DN_OK);
    written(p, "{\"C\":null,\"shape\":{\"type\":\"lumpy\",\"bend\":0.25,\"lumps\":[0.5,2],\"even\":"
               "false},\"other\":7,\"shapely\":true}");
    dn_params_free(p);
}

static void members_know_their_types(void **state) {
    (void)state;
    const uint64_t expected[] = {0, 0, 6, 0, 4, 7, 0, 0};
    const char *const names[] = {NULL, NULL, "bend", NULL, "lumps", "even", NULL, NULL};
    for (size_t i = 0; i < shaped.n_params; i++) {
        assert_int_equal(jobs_param_choices(&shaped, i), expected[i]);
        assert_int_equal(jobs_param_is_object(&shaped, table[i].name), i == 1);
        assert_int_equal(jobs_param_belongs(&table[i], "shape"), names[i] != NULL);
        if (names[i]) {
            assert_string_equal(jobs_param_member(&table[i]), names[i]);
        } else {
            assert_null(jobs_param_member(&table[i]));
        }
    }
}

static void places_are_nested(void **state) {
    (void)state;
    char text[JOBS_POINTER_SIZE];
    jobs_param_pointer("shape.bend", text);
    assert_string_equal(text, "/params/shape/bend");
    jobs_param_pointer("C", text);
    assert_string_equal(text, "/params/C");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_gathered),
        cmocka_unit_test(members_know_their_types),
        cmocka_unit_test(places_are_nested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
