/* Graphs and characters: exact limits, and messages of errors. */
#include "text/paths.h"
#include "text/tokens.h"
#include "unit/core/support.h"

/* Writes n edges between the nodes 2i and 2i + 1, or always the same edge. */
static char *edges(size_t n, bool different, size_t *length) {
    char *text = xcalloc(n, 20);
    *length = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t node = different ? 2 * i : 0;
        *length += (size_t)snprintf(text + *length, 20, "%zu-%zu ", node, node + 1);
    }
    return text;
}

static dn_status begin(size_t n, bool different, unsigned path_labels, char message[128]) {
    size_t length;
    char *text = edges(n, different, &length);
    dni_paths paths = {.length = path_labels};
    dn_error err = {0};
    dn_status status = dni_paths_begin(&paths, text, length, &err);
    (void)snprintf(message, 128, "%.120s", err.message);
    dni_paths_done(&paths);
    free(text);
    return status;
}

/* A path of one label is a node: 50,000 edges have 100,000 nodes. */
static void the_number_of_paths_is_exact(void **unused) {
    (void)unused;
    char message[128];
    OK(begin(DN_MAX_PATHS / 2, true, 1, message));
    assert_int_equal(begin(DN_MAX_PATHS / 2 + 1, true, 1, message), DN_ERR_DATA);
    assert_string_equal(message, "the graph has more than 100000 paths of up to 1 labels");
    /* with two labels there are two nodes and two directions for each edge */
    OK(begin(DN_MAX_PATHS / 4, true, 2, message));
    assert_int_equal(begin(DN_MAX_PATHS / 4 + 1, true, 2, message), DN_ERR_DATA);
}

static void the_number_of_edges_is_exact(void **unused) {
    (void)unused;
    char message[128];
    OK(begin(DN_MAX_PATHS, false, 2, message));
    assert_int_equal(begin(DN_MAX_PATHS + 1, false, 2, message), DN_ERR_DATA);
    assert_string_equal(message, "the graph has more than 100000 edges");
}

/* A label may have 256/length - 1 bytes. */
static void the_length_of_labels_is_exact(void **unused) {
    (void)unused;
    for (unsigned length = 1; length <= DN_MAX_PATH_LABELS; length++) {
        const size_t most = 256 / length - 1;
        for (size_t n = most; n <= most + 1; n++) {
            char text[600];
            const size_t size =
                (size_t)snprintf(text, sizeof text, "%0*d-%0*d", (int)n, 1, (int)n, 2);
            dni_paths paths = {.length = length};
            assert_int_equal(dni_paths_begin(&paths, text, size, NULL),
                             n == most ? DN_OK : DN_ERR_DATA);
            size_t longest = 0;
            for (size_t k; n == most && (k = dni_paths_next(&paths)) > 0;) {
                longest = k > longest ? k : longest;
            }
            assert_int_equal(longest, n > most ? 0 : length == 1 ? n : 2 * n + 1);
            dni_paths_done(&paths);
        }
    }
}

static void the_number_of_characters_is_exact(void **unused) {
    (void)unused;
    char *text = xcalloc(DN_MAX_CHARACTERS + 2, 2);
    uint32_t *code = xcalloc(DN_MAX_CHARACTERS, sizeof *code);
    size_t n = 0;
    for (size_t i = 0; i <= DN_MAX_CHARACTERS; i++) {
        memcpy(text + 2 * i, "\xc3\xa9", 2); /* é */
    }
    OK(dni_characters(text, 2 * DN_MAX_CHARACTERS, code, &n, NULL));
    assert_int_equal(n, DN_MAX_CHARACTERS);
    assert_int_equal(code[DN_MAX_CHARACTERS - 1], 0xe9);
    assert_int_equal(dni_characters(text, 2 * DN_MAX_CHARACTERS + 2, code, &n, NULL), DN_ERR_DATA);
    assert_int_equal(dni_characters(text, 2 * DN_MAX_CHARACTERS + 2, NULL, &n, NULL), DN_ERR_DATA);
    /* a truncated character counts as a character */
    OK(dni_characters(text, 2 * DN_MAX_CHARACTERS - 1, code, &n, NULL));
    assert_int_equal(n, DN_MAX_CHARACTERS);
    assert_int_equal(code[DN_MAX_CHARACTERS - 1], 0xfffd);
    free(text);
    free(code);
}

/* Column and row are added to an error of the text (DN_ERR_DATA), not to other errors. */
static void errors_name_column_and_row(void **unused) {
    (void)unused;
    dn_error err = {0};
    dn_error_set(&err, DN_ERR_MEMORY, "no memory");
    assert_int_equal(dni_text_error_at(DN_ERR_MEMORY, "note", 7, &err), DN_ERR_MEMORY);
    assert_string_equal(err.message, "no memory");
    dn_error_clear(&err);
    dn_error_set(&err, DN_ERR_DATA, "wrong");
    assert_int_equal(dni_text_error_at(DN_ERR_DATA, "note", 7, &err), DN_ERR_DATA);
    assert_string_equal(err.message, "column \"note\", row 7: wrong");
    assert_string_equal(err.field, "note");
    assert_int_equal(err.row, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_number_of_paths_is_exact),
                                       cmocka_unit_test(the_number_of_edges_is_exact),
                                       cmocka_unit_test(the_length_of_labels_is_exact),
                                       cmocka_unit_test(the_number_of_characters_is_exact),
                                       cmocka_unit_test(errors_name_column_and_row)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
