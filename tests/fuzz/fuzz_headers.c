/* Parses the input as the value of header fields: lists with parameters and weights, content
 * codings, entity tags, addresses, hosts. */
#include "base/etag.h"
#include "base/ids.h"
#include "fuzz/support.h"
#include "http/net/address.h"
#include "http/protocol/coding.h"
#include "http/protocol/fields.h"
#include "http/protocol/origin.h"

static bool within(struct part part, const char *text, size_t n) {
    return part.n == 0 || (part.text >= text && part.text + part.n <= text + n);
}

static void check_address(const char *text, size_t n) {
    struct address address, again;
    char form[ADDRESS_TEXT_SIZE];
    if (address_parse(text, n, &address)) {
        address_format(&address, form);
        CHECK(address_parse(form, strlen(form), &again) && address_equal(&address, &again));
    }
}

static void check_list(const char *text, size_t n) {
    static const char *const names[] = {"q", "for", "host", "proto", "charset", "boundary"};
    const char *rest = text;
    struct part element, value;
    while (list_next(&rest, &element)) {
        CHECK(within(element, text, n) && rest >= text && rest <= text + n);
        const int weight = element_weight(element);
        CHECK(weight >= 0 && weight <= 1000);
        CHECK(within(element_value(element), text, n));
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
            if (element_parameter(element, names[i], &value)) {
                CHECK(within(value, text, n));
                check_address(value.text, value.n);
            }
        }
        check_address(element.text, element.n);
    }
}

static void check_tags(const char *text) {
    static const char *const tags[] = {"\"a\"", "\"d1-2\"", "\"\""};
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        const bool strong = etag_list_matches(text, tags[i], false),
                   weak = etag_list_matches(text, tags[i], true);
        CHECK(!strong || weak);
        CHECK(!strong || etag_list_names(text, tags[i], false));
        CHECK(!weak || etag_list_names(text, tags[i], true));
    }
    CHECK(!etag_list_matches(text, NULL, true));
}

static void check_host(const char *text, size_t n) {
    char first[300], second[600];
    if (origin_normalise(text, n, "80", first, sizeof first)) {
        CHECK(strlen(first) < sizeof first);
        CHECK(strlen(first) == 0 || memchr(text, '\0', n) != NULL ||
              (origin_normalise(first, strlen(first), "80", second, sizeof second) &&
               strcmp(first, second) == 0));
    }
    struct option_list list = {.n = 1, .items = {text}};
    struct problem problem = {0};
    struct address_rules rules;
    (void)address_rules_init(&rules, &list, &problem);
    problem_done(&problem);
    problem = (struct problem){0};
    (void)origin_check_lists(&list, &list, &problem);
    problem_done(&problem);
}

static void check_identifiers(const char *text, size_t n) {
    char name[IDS_NAME_SIZE];
    int64_t number = 0;
    if (ids_reference_parse(text, name, &number)) {
        CHECK(ids_name_valid(name, strlen(name)) && number >= 0 && number <= IDS_NUMBER_MAX);
    }
    CHECK(!ids_number_parse(text, &number) || (number > 0 && number <= IDS_NUMBER_MAX));
    CHECK(!ids_name_valid(text, n) || (n > 0 && n < IDS_NAME_SIZE));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = calloc(1, size + 1);
    CHECK(text != NULL);
    if (size > 0) {
        memcpy(text, data, size);
    }
    const size_t n = strlen(text);
    enum coding coding = CODING_IDENTITY;
    if (coding_of_content(text, &coding)) {
        CHECK(coding <= CODING_DEFLATE);
    }
    CHECK(coding_accepted(text) <= CODING_DEFLATE);
    check_list(text, n);
    check_tags(text);
    check_address(text, n);
    check_host(text, n);
    check_identifiers(text, n);
    free(text);
    return 0;
}
