/* Reads the input as a cell: as a number (compared with strtod), a number with marks, a date. What
 * is accepted must be the same value after it was written and read again. */
#include "formats/text/cell.h"
#include "formats/text/marks.h"
#include "fuzz/support.h"

#include <math.h>

static void check_number(const char *text, size_t n) {
    double value = 0, again = 0;
    char form[DN_NUMBER_SIZE], *end = NULL;
    if (!dn_number_parse(text, n, &value)) {
        return;
    }
    const double theirs = strtod(text, &end);
    CHECK(isfinite(value) && end == text + n && memcmp(&theirs, &value, sizeof value) == 0);
    const size_t length = dn_number_format(value, form);
    CHECK(length == strlen(form) && length < sizeof form);
    CHECK(dn_number_parse(form, length, &again) && memcmp(&again, &value, sizeof value) == 0);
    (void)number_is_exact(text, n, value);
}

static void check_datetime(const char *text, size_t n) {
    dn_datetime_form form = {0}, pattern = {0};
    char out[DN_DATETIME_SIZE], named[DN_DATETIME_FORM_SIZE];
    double seconds = 0, again = 0;
    (void)dn_datetime_fault(text, n);
    if (dn_datetime_form_parse(text, n, &pattern)) {
        CHECK(dn_datetime_form_write(&pattern, named) < sizeof named);
        CHECK(dn_datetime_form_parse(named, strlen(named), &form) &&
              dn_datetime_same(&form, &pattern));
        form = (dn_datetime_form){0};
    }
    if (!dn_datetime_add(text, n, DN_DATE_ANY, &form)) {
        return;
    }
    CHECK(dn_datetime_is_form(&form));
    while (!dn_datetime_is_decided(&form)) {
        form.orders = (uint8_t)(form.orders & (form.orders - 1));
    }
    CHECK(dn_datetime_parse(text, n, &form, &seconds) && isfinite(seconds));
    const size_t length = dn_datetime_format(seconds, &form, out);
    CHECK(length == strlen(out) && length < sizeof out);
    CHECK(dn_datetime_parse(out, length, &form, &again) && fabs(again - seconds) < 1e-3);
    for (int part = DN_PART_YEAR; part < DN_DATE_PARTS; part++) {
        char word[DN_DATE_PART_SIZE];
        if (dn_datetime_has_part(&form, (dn_date_part)part)) {
            CHECK(dn_date_part_format(seconds, &form, (dn_date_part)part, word) > 0);
        }
    }
}

static void check_marks(struct text t) {
    static const char decimals[] = {'\0', '.', ',', '.', ','},
                      thousands[] = {'\0', ',', '.', ' ', '\''};
    double value = 0;
    for (size_t i = 0; i < sizeof decimals; i++) {
        const struct marks marks = {.decimal = decimals[i],
                                    .thousands = thousands[i],
                                    .strip = "\xe2\x82\xac$%"};
        CHECK(!marks_number(&marks, t, &value) || isfinite(value));
    }
    const struct marks none = {0};
    (void)marks_form(&none, t, &value);
    (void)marks_is_comma(t);
    struct marks_signs signs = {0};
    (void)marks_signs_add(&signs, t);
    (void)marks_signs_add(&signs, t);
    CHECK(strlen(signs.text) < sizeof signs.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *bytes = fuzz_copy(data, size), shown[TEXT_SHOWN];
    char *text = calloc(1, size + 1);
    bool truth = false;
    CHECK(text != NULL);
    memcpy(text, bytes, size);
    const struct text t = text_trim(bytes, size);
    CHECK(strlen(text_show(bytes, size, shown)) < sizeof shown);
    (void)text_boolean(t, &truth);
    double value = 0, same = 0;
    const bool well = dn_number_parse(bytes, size, &value);
    CHECK(dn_number_parse(text, size, &same) == well && (!well || value == same));
    check_number(text, size);
    check_datetime(bytes, size);
    check_marks(t);
    free(text);
    free(bytes);
    return 0;
}
