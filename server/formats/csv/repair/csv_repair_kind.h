/* What on_error=repair does to separated text. Private to formats. */
#ifndef FORMATS_CSV_REPAIR_KIND_H
#define FORMATS_CSV_REPAIR_KIND_H

/* The kinds of repairs: enum, name in the notes, what was done. */
#define CSV_REPAIRS(X)                                                                             \
    X(CSV_REPAIR_DELIMITER, "delimiter", "an unusual delimiter was detected")                      \
    X(CSV_REPAIR_QUOTE, "quote", "another quote character was detected")                           \
    X(CSV_REPAIR_ESCAPE, "escape", "an escape character was detected")                             \
    X(CSV_REPAIR_PREAMBLE, "preamble", "lines before the table were left out")                     \
    X(CSV_REPAIR_HEADER, "header", "header lines were joined or changed")                          \
    X(CSV_REPAIR_MISSING, "missing_cells", "missing cells were read as missing values")            \
    X(CSV_REPAIR_JOINED, "joined_cells", "surplus cells were joined")                              \
    X(CSV_REPAIR_EMPTY, "empty_cells", "empty surplus cells were left out")                        \
    X(CSV_REPAIR_DROPPED, "dropped_cells", "surplus cells were left out")                          \
    X(CSV_REPAIR_STRAY, "stray_quote", "a quote was read as part of its cell")                     \
    X(CSV_REPAIR_OPEN, "unclosed_quote", "a quote was not closed")                                 \
    X(CSV_REPAIR_AGAIN, "repeated_header", "a line that repeats the header was left out")          \
    X(CSV_REPAIR_RULE, "rule", "lines of dashes were left out")                                    \
    X(CSV_REPAIR_SECOND, "second_table", "a second table was left out")                            \
    X(CSV_REPAIR_FOOTER, "footer", "lines after the table were left out")
enum csv_repair_kind {
#define X(kind, name, text) kind,
    CSV_REPAIRS(X)
#undef X
        CSV_REPAIR_KINDS
};

#endif
