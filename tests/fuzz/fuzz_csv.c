/* Reads the body as a CSV or TSV table. Bytes 0 and 1 of the input choose the options, byte 1 also
 * where the body is cut into pieces; the other bytes are the body. */
#include "fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) {
        return 0;
    }
    static const struct format *const chosen[] = {&format_csv, &format_csv, NULL, &format_tsv};
    static const char comments[] = {0, 0, '#', ';'};
    static const char delimiters[] = {0, 0, 0, ',', ';', '\t', '|', ' '};
    const struct table_options options = {.format = chosen[data[0] & 3],
                                          .header = (enum table_header)((data[0] >> 2 & 3) % 3),
                                          .delimiter = delimiters[data[0] >> 4 & 7] !=
                                                               comments[data[1] >> 1 & 3]
                                                           ? delimiters[data[0] >> 4 & 7]
                                                           : 0,
                                          .comment = comments[data[1] >> 1 & 3],
                                          .on_error = data[1] & 1          ? TABLE_SKIP
                                                      : (data[0] & 3) == 1 ? TABLE_REPAIR
                                                                           : TABLE_REJECT,
                                          .names = data[1] & 8 ? "x,\"y, z\"" : NULL,
                                          .rename = (data[1] & 16) != 0,
                                          .header_lines = data[1] & 32 ? 2 : 0,
                                          .skip_rows = data[1] >> 6,
                                          .label = data[0] & 128 ? "label" : NULL};
    fuzz_check_table(&options, (const char *)data + 2, size - 2, (uint64_t)data[1] << 8, true);
    return 0;
}
