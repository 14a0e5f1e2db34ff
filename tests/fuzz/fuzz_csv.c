/* Reads the body as a CSV or TSV table. Byte 0 of the input chooses the options; byte 1 where the
 * body is cut into pieces, the comment character and whether rows with faults are skipped; the
 * other bytes are the body. */
#include "fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) {
        return 0;
    }
    static const struct format *const chosen[] = {&format_csv, &format_csv, NULL, &format_tsv};
    static const char comments[] = {0, 0, '#', ';'};
    static const char delimiters[] = {0, 0, 0, ',', ';', '\t', '|', 0};
    const struct table_options options = {.format = chosen[data[0] & 3],
                                          .header = (enum table_header)((data[0] >> 2 & 3) % 3),
                                          .delimiter = delimiters[data[0] >> 4 & 7] !=
                                                               comments[data[1] >> 1 & 3]
                                                           ? delimiters[data[0] >> 4 & 7]
                                                           : 0,
                                          .comment = comments[data[1] >> 1 & 3],
                                          .on_error = data[1] & 1 ? TABLE_SKIP : TABLE_REJECT,
                                          .label = data[0] & 128 ? "label" : NULL};
    fuzz_check_table(&options, (const char *)data + 2, size - 2, (uint64_t)data[1] << 8, true);
    return 0;
}
