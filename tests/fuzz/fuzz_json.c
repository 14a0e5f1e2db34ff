/* Reads JSON with the incremental reader, and compares the tokens with Jansson's result and with
 * the tokens of the same text in pieces; reads the body also as a table. Byte 0 of the input
 * chooses where the body is cut. */
#include "base/json/json_write.h"
#include "formats/json/json_reader.h"
#include "fuzz/support.h"

#include <jansson.h>

/* Appends the tokens to one text, with numbers in their shortest form. *ours_alone is set to true
 * where the rules of Jansson differ. */
static bool tokens(const char *body, size_t size, uint64_t seed, struct buf *out,
                   bool *ours_alone) {
    struct json_reader r;
    struct json_token token = {.kind = JSON_TOKEN_MORE};
    char *piece = NULL;
    size_t at = 0;
    json_reader_init(&r);
    while (token.kind == JSON_TOKEN_MORE) {
        if (at < size) {
            size_t n = size - at;
            if (seed != 0) {
                const size_t most = 1 + fuzz_random(&seed) % 64;
                n = n < most ? n : 1 + fuzz_random(&seed) % most;
            }
            free(piece);
            piece = fuzz_copy(body + at, n);
            json_reader_feed(&r, piece, n);
            at += n;
        } else {
            json_reader_close(&r);
        }
        for (;;) {
            double numbers[4];
            const size_t n = json_reader_numbers(&r, numbers, 4);
            for (size_t i = 0; i < n; i++) {
                char form[DN_NUMBER_SIZE];
                dn_number_format(numbers[i], form);
                buf_printf(out, "n %s\n", form);
            }
            if (json_reader_next(&r, &token) < JSON_TOKEN_BEGIN_ARRAY) {
                break;
            }
            if (token.kind == JSON_TOKEN_NUMBER) {
                char form[DN_NUMBER_SIZE] = "not finite";
                if (token.finite) {
                    dn_number_format(token.number, form);
                }
                *ours_alone |= !token.finite;
                buf_printf(out, "n %s\n", form);
            } else {
                buf_printf(out, "%d ", (int)token.kind);
                if (token.kind == JSON_TOKEN_KEY || token.kind == JSON_TOKEN_STRING) {
                    json_escape(out, token.text, token.length);
                }
                buf_putc(out, '\n');
            }
        }
    }
    if (token.kind == JSON_TOKEN_FAULT) {
        struct problem problem = {0};
        json_reader_problem(&r, &problem);
        problem_write(&problem, "", NULL, out);
        *ours_alone |= strstr(buf_cstr(out), "nested deeper") != NULL;
        problem_done(&problem);
    }
    free(piece);
    json_reader_done(&r);
    return token.kind == JSON_TOKEN_END;
}

static void put_jansson(json_t *v, struct buf *out) {
    char form[DN_NUMBER_SIZE];
    const char *key = NULL;
    json_t *item = NULL;
    size_t i = 0;
    if (json_is_object(v)) {
        buf_printf(out, "%d \n", (int)JSON_TOKEN_BEGIN_OBJECT);
        json_object_foreach(v, key, item) {
            buf_printf(out, "%d ", (int)JSON_TOKEN_KEY);
            json_escape(out, key, strlen(key));
            buf_putc(out, '\n');
            put_jansson(item, out);
        }
        buf_printf(out, "%d \n", (int)JSON_TOKEN_END_OBJECT);
    } else if (json_is_array(v)) {
        buf_printf(out, "%d \n", (int)JSON_TOKEN_BEGIN_ARRAY);
        json_array_foreach(v, i, item) {
            put_jansson(item, out);
        }
        buf_printf(out, "%d \n", (int)JSON_TOKEN_END_ARRAY);
    } else if (json_is_string(v)) {
        buf_printf(out, "%d ", (int)JSON_TOKEN_STRING);
        json_escape(out, json_string_value(v), json_string_length(v));
        buf_putc(out, '\n');
    } else if (json_is_number(v)) {
        dn_number_format(json_number_value(v), form);
        buf_printf(out, "n %s\n", form);
    } else {
        buf_printf(out, "%d \n",
                   (int)(json_is_null(v)   ? JSON_TOKEN_NULL
                         : json_is_true(v) ? JSON_TOKEN_TRUE
                                           : JSON_TOKEN_FALSE));
    }
}

static void against_jansson(const char *body, size_t size, uint64_t seed) {
    struct buf whole = {0}, cut = {0}, theirs = {0};
    bool ours_alone = memchr(body, '\0', size) != NULL,
         again = ours_alone; /* Jansson ignores a NUL after a number: it accepts [10\0] */
    const bool well = tokens(body, size, 0, &whole, &ours_alone);
    CHECK(tokens(body, size, seed | 1, &cut, &again) == well && again == ours_alone);
    CHECK(whole.size == cut.size &&
          (whole.size == 0 || memcmp(whole.data, cut.data, whole.size) == 0));
    json_error_t error;
    json_t *tree =
        json_loadb(body, size, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_REJECT_DUPLICATES,
                   &error);
    if (tree != NULL) {
        put_jansson(tree, &theirs);
        CHECK(ours_alone || (well && whole.size == theirs.size &&
                             memcmp(whole.data, theirs.data, whole.size) == 0));
    } else {
        CHECK(!well || ours_alone || json_error_code(&error) == json_error_duplicate_key);
    }
    json_decref(tree);
    buf_done(&whole);
    buf_done(&cut);
    buf_done(&theirs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) {
        return 0;
    }
    const char *body = (const char *)data + 1;
    against_jansson(body, size - 1, (uint64_t)data[0] << 8);
    const bool inferred =
        memchr(body, '{', size - 1) == NULL ||
        memchr(body, '[', (size_t)((const char *)memchr(body, '{', size - 1) - body)) != NULL;
    fuzz_check_table(&(struct table_options){.format = &format_json}, body, size - 1,
                     (uint64_t)data[0] << 8, inferred);
    return 0;
}
