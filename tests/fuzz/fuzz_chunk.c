/* Decodes any bytes as a column chunk of any type. A chunk that is accepted must have all its
 * offsets and codes within its bounds, and must be the same after it was encoded and decoded again.
 * Byte 0 of the input is the type. */
#include "fuzz/support.h"

#include <math.h>

static void check_rows(const dn_column_view *view) {
    CHECK(view->row_start[0] == 0);
    for (size_t i = 0; i < view->n_rows; i++) {
        CHECK(view->row_start[i] <= view->row_start[i + 1]);
        for (size_t k = view->row_start[i]; k < view->row_start[i + 1]; k++) {
            CHECK(isfinite(view->number[k]) &&
                  (k == view->row_start[i] || view->index[k] > view->index[k - 1]));
        }
    }
}

static void check_view(const dn_column_view *view, dn_column_type type) {
    CHECK(view->type == type);
    if (type == DN_SPARSE) {
        check_rows(view);
        return;
    }
    if (type == DN_NUMERIC || type == DN_BOOLEAN) {
        for (size_t i = 0; i < view->n_rows; i++) {
            const double x = view->number[i];
            CHECK(!isinf(x) && (type == DN_NUMERIC || isnan(x) || x == 0 || x == 1));
        }
        return;
    }
    for (size_t k = 0; k < view->strings.n; k++) {
        CHECK(view->strings.start[k] <= view->strings.start[k + 1]);
    }
    volatile unsigned char sum = 0; /* reads every byte, so that the sanitizer checks the bounds */
    for (size_t k = 0; view->strings.n > 0 && k < view->strings.start[view->strings.n]; k++) {
        sum = (unsigned char)(sum + (unsigned char)view->strings.bytes[k]);
    }
    for (size_t i = 0; i < view->n_rows; i++) {
        CHECK(view->code[i] == DN_CODE_MISSING || view->code[i] < view->strings.n);
    }
}

static void add_cell(dn_column_builder *builder, const dn_column_view *view, size_t i) {
    if (view->type == DN_SPARSE) {
        const size_t first = view->row_start[i];
        CHECK(dn_column_builder_entries(builder, view->index + first, view->number + first,
                                        view->row_start[i + 1] - first, NULL) == DN_OK);
    } else if (view->type == DN_NUMERIC || view->type == DN_BOOLEAN) {
        CHECK(isnan(view->number[i])
                  ? dn_column_builder_missing(builder, NULL) == DN_OK
                  : dn_column_builder_number(builder, view->number[i], NULL, 0, NULL) == DN_OK);
    } else if (view->code[i] == DN_CODE_MISSING) {
        CHECK(dn_column_builder_missing(builder, NULL) == DN_OK);
    } else {
        const uint32_t from = view->strings.start[view->code[i]],
                       n = view->strings.start[view->code[i] + 1] - from;
        CHECK(dn_column_builder_string(builder, n > 0 ? view->strings.bytes + from : "", n, NULL) ==
              DN_OK);
    }
}

static void check_same(const dn_column_view *a, const dn_column_view *b) {
    CHECK(a->n_rows == b->n_rows);
    if (a->type == DN_SPARSE) {
        const size_t n = a->row_start[a->n_rows];
        CHECK(memcmp(a->row_start, b->row_start, (a->n_rows + 1) * sizeof *a->row_start) == 0);
        CHECK(memcmp(a->index, b->index, n * sizeof *a->index) == 0 &&
              memcmp(a->number, b->number, n * sizeof *a->number) == 0);
        return;
    }
    for (size_t i = 0; i < a->n_rows; i++) {
        if (a->type == DN_NUMERIC || a->type == DN_BOOLEAN) {
            CHECK(a->number[i] == b->number[i] || (isnan(a->number[i]) && isnan(b->number[i])));
            continue;
        }
        CHECK((a->code[i] == DN_CODE_MISSING) == (b->code[i] == DN_CODE_MISSING));
        if (a->code[i] != DN_CODE_MISSING) {
            const uint32_t *s = a->strings.start + a->code[i], *t = b->strings.start + b->code[i];
            CHECK(s[1] - s[0] == t[1] - t[0] &&
                  (s[1] == s[0] ||
                   memcmp(a->strings.bytes + s[0], b->strings.bytes + t[0], s[1] - s[0]) == 0));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) {
        return 0;
    }
    const dn_column_type type = data[0] & 4 ? DN_SPARSE : (dn_column_type)(data[0] & 3);
    dn_column_chunk *chunk = NULL, *again = NULL;
    dn_column_builder *builder = NULL;
    dn_column_view view, second;
    dn_error error;
    dn_error_clear(&error);
    char *bytes = fuzz_copy(data + 1, size - 1);
    CHECK(dn_column_chunk_new(&chunk, NULL) == DN_OK &&
          dn_column_chunk_new(&again, NULL) == DN_OK &&
          dn_column_builder_new(&builder, NULL) == DN_OK);
    const dn_status status = dn_column_chunk_decode(chunk, bytes, size - 1, type, &view, &error);
    CHECK(status == DN_OK || error.message[0] != '\0');
    if (status == DN_OK) {
        void *encoded = NULL;
        size_t n = 0;
        check_view(&view, type);
        for (size_t i = 0; i < view.n_rows; i++) {
            add_cell(builder, &view, i);
        }
        CHECK(dn_column_builder_encode(builder, &encoded, &n, NULL) == DN_OK);
        if (view.n_rows > 0 || type != DN_SPARSE) { /* a sparse chunk without rows cannot be encoded
                                                     * and decoded */
            CHECK(dn_column_chunk_decode(again, encoded, n, type, &second, NULL) == DN_OK);
            check_same(&view, &second);
        }
        free(encoded);
    }
    dn_column_builder_free(builder);
    dn_column_chunk_free(chunk);
    dn_column_chunk_free(again);
    free(bytes);
    return 0;
}
