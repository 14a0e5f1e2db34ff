/* Separated text as a table. Byte 0 of the input chooses options, byte 1 the cuts; the rest is the body. */
#include "fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) {
        return 0;
    }
    static const enum wire_format formats[] = {WIRE_CSV, WIRE_CSV, WIRE_SNIFF, WIRE_TSV};
    static const char delimiters[] = {0, 0, 0, ',', ';', '\t', '|', 0};
    const struct wire_table_options options = {.format = formats[data[0] & 3],
                                               .header = (enum wire_header)((data[0] >> 2 & 3) % 3),
                                               .delimiter = delimiters[data[0] >> 4 & 7],
                                               .label = data[0] & 128 ? "label" : NULL};
    fuzz_check_table(&options, (const char *)data + 2, size - 2, (uint64_t)data[1] << 8, true);
    return 0;
}
