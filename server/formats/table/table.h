/* The table reader: shared by table.c, table_faults.c, table_repairs.c, table_columns.c and the
 * readers of each format. Private to formats.
 *
 * The reader of a format reports each fault of a row with table_row_fault, adds no further cell of
 * that row to the builder (table_row_is_well) and continues with the next row. With
 * on_error=reject the table is refused at the end; with skip the row is counted, and the first
 * faults are kept. Faults that do not belong to a single row are reported with table_fault and
 * table_fatal. */
#ifndef FORMATS_TABLE_H
#define FORMATS_TABLE_H

#include "base/nearest.h"
#include "formats/csv/csv.h"
#include "formats/csv/repair/csv_repair_kind.h"
#include "formats/format.h"
#include "formats/table/table_append.h"
#include "formats/table/table_builder.h"
#include "formats/text/encoding.h"

#define TABLE_MAX_FAULTS 1000 /* reading stops at this number of faults */
/* name of the label column if the option `label` does not name it */
#define TABLE_LABEL_NAME "label"

/* The first bytes of a body, from which the reader and its settings are chosen. */
struct table_sample {
    const char *bytes;
    size_t n;
    bool whole; /* the sample is the whole body */
};

enum table_sniff {
    TABLE_SNIFF_NO,
    TABLE_SNIFF_YES,
    TABLE_SNIFF_MORE, /* a longer sample is needed; counts as YES if the sample cannot grow */
    TABLE_SNIFF_NO_MEMORY
};

enum table_begin {
    TABLE_BEGUN,
    TABLE_BEGIN_MORE,   /* a longer sample is needed; nothing was set up */
    TABLE_BEGIN_REFUSED /* a fault was reported */
};

/* Options that only some formats use, as bits. */
enum table_option {
    TABLE_OPTION_HEADER = 1,
    TABLE_OPTION_DELIMITER = 2,
    TABLE_OPTION_COMMENT = 4,
    TABLE_OPTION_LABEL = 8,
    TABLE_OPTION_ZERO_BASED = 16,
    TABLE_OPTION_SKIP_ROWS = 32,
    TABLE_OPTION_NAMES = 64,
    TABLE_OPTION_REPAIR = 128
};

/* How a format is read as a table. A reader keeps its state in t->state, which `begin` allocates
 * and `done` frees. */
struct table_reader {
    const char *name;  /* name of the format in the notes */
    const char *title; /* name of the format in messages */
    unsigned options;  /* TABLE_OPTION_… bits of the options that the format uses */
    bool sparse;       /* tables of this format have a label and one sparse column */
    bool keyed;        /* each row names its columns, so any row may add a column */
    enum table_sniff (*sniff)(const struct table *t, const struct table_sample *sample);
    /* may_look: the function may return TABLE_BEGIN_MORE. */
    enum table_begin (*begin)(struct table *t, const struct table_sample *sample, bool may_look);
    /* Returns false if reading stops */
    bool (*feed)(struct table *t, const char *bytes, size_t n);
    /* Returns false if the table is refused */
    bool (*end)(struct table *t);
    /* whether the names of the columns are known */
    bool (*has_names)(const struct table *t);
    void (*write_notes)(const struct table *t, struct json_writer *w); /* NULL: no further notes */
    void (*done)(struct table *t);
};

/* Rows that were left out because of a fault (on_error=skip). */
struct table_skipped {
    int64_t rows;
    struct problem first; /* the first fault of each of the first TABLE_FAULTS_LISTED rows */
};

/* Repairs of each kind (on_error=repair). */
struct table_repairs {
    int64_t n[CSV_REPAIR_KINDS];
    struct problem first[CSV_REPAIR_KINDS]; /* the first TABLE_FAULTS_LISTED of each kind */
};

struct table {
    struct table_options options;
    struct table_builder builder;
    int64_t bytes; /* bytes of the body that were fed */
    struct encoding encoding;
    struct buf ahead; /* the first bytes, until format, delimiter and header are known */
    size_t look;      /* size that the sample is to have */
    bool decided;     /* the reader is chosen and has begun */
    const struct table_reader *reader; /* NULL: not chosen yet */
    void *state;                       /* state of the reader; NULL: none */
    /* TABLE_OPTION_… bits of the options in use in addition to reader->options */
    unsigned used;
    size_t n_faults;
    bool row_faulty;              /* a fault of the current row was reported */
    int64_t n_faulty;             /* number of such rows */
    int64_t n_ended;              /* table_end was called: number of rows of the table */
    struct table_skipped skipped; /* on_error=skip */
    struct table_repairs repairs; /* on_error=repair */
    bool cut;                     /* the rest of the body will not be fed */
    bool refused;                 /* further bytes are ignored */
    struct problem problem;       /* faults so far */
    struct buf warnings;          /* JSON strings, comma-separated */
    size_t n_warnings;
    struct buf columns, notes; /* JSON texts of the summary */
    struct table_blob *saved;  /* [n_saved] saved summaries of the columns */
    size_t n_saved;
    struct buf declared; /* table_summary.declared */
    /* [TABLE_MAX_COLUMNS] options.rename: the last k of the names <name of column i>_k; NULL: no
     * name was used twice */
    uint32_t *copies;
    struct table_append append; /* append only: the stored table */
};

/* Reports a fault of the table at a place of the body. line 0: the fault is that of the whole body,
 * with the pointer "". Returns false if there are too many faults; reading stops. */
bool table_fault(struct table *t, int64_t line, int64_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Reports a fault of the current row; other rows can be read. on_error=reject: as table_fault.
 * skip: the row is counted, and its first fault may be kept. Returns false if reading stops. */
bool table_row_fault(struct table *t, int64_t line, int64_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Begins a row. */
static inline void table_row_begin(struct table *t, int64_t line) {
    t->builder.line = line;
    t->row_faulty = false;
}
/* Whether the current row has no fault so far: its cells may be added to the builder. */
static inline bool table_row_is_well(const struct table *t) {
    return !t->row_faulty;
}
/* Reports a fault after which nothing can be read. Returns false. */
bool table_fatal(struct table *t, int64_t line, int64_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Refuses the table with the problem of the builder (no memory, or the sink failed). Returns
 * false. */
bool table_stop(struct table *t);
void table_warn(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Finds the place of a column name in the body. */
struct table_where {
    /* Sets the line and the column of the text where the name of a column begins. position: of the
     * column in the table, from 1. */
    void (*place)(const void *arg, size_t position, int64_t *line, int64_t *column);
    const void *arg;
};
/* Adds a column after checking its name. Blanks at both ends of the name are removed. An empty name
 * is replaced by c<position>, or c<position>_2, … if that is taken. A name that is too long, is
 * used twice (unless options.rename is set) or has control characters is a fault.
 *
 *   position  from 1
 *   header    the names of all columns of the body; NULL: unknown
 *   where     NULL: the name is not in the body
 *
 * Returns false if reading stops. */
bool table_add_column(struct table *t, const char *name, size_t n, size_t position,
                      const struct names *header, const struct table_where *where);

/* Adds n columns for a body that names none, or whose names are replaced: with the names of the
 * option `names`; otherwise c1, c2, …, of which the option `label` names one. Returns false if
 * reading stops. */
bool table_add_numbered(struct table *t, size_t n, const struct table_where *where);
/* Checks that the option `label` is a column of a table whose columns have names. Returns false if
 * reading stops. */
bool table_check_label(struct table *t);
/* The column that a wrong name probably means. */
struct nearest table_nearest(const struct table *t, const char *name, size_t n);
/* Returns the name of the column that the option `label` means, after the columns were added. */
const char *table_label_name(const struct table *t);
/* Returns a name for a column whose name is that of column `same`: name_2, name_3, …, the first
 * that is neither in the header nor used. NULL: out of memory. */
#define TABLE_COPY_NAME (TABLE_MAX_NAME + 24)
const char *table_copy_name(struct table *t, struct text name, size_t same,
                            const struct names *header, char made[TABLE_COPY_NAME]);
/* Sets the type that the body declares for column i. The option `types` takes precedence. orders:
 * as in builder_force. */
void table_declare_type(struct table *t, size_t i, dn_column_type type, unsigned orders);

/* Checks a key of a JSON object before a column is added for it. A key that is not a valid name is
 * a fault of the row. Returns false if reading stops. */
bool table_key_check(struct table *t, struct text name, const struct table_where *where);

/* Copies a problem that was already reported, for a repeated call. Returns false. */
bool table_problem_again(struct problem *to, const struct problem *from);
/* Writes the member "first" into the open object: the line, column and text of each fault. */
void table_write_places(const struct problem *problem, struct json_writer *w);
/* Writes the member "skipped" into the open object of the notes, if rows were left out. */
void table_write_skipped(const struct table *t, struct json_writer *w);
/* At the end of the body: warns of rows that were left out, or reports a fault if all rows were
 * left out. */
void table_judge_skipped(struct table *t);
void table_faults_done(struct table *t);

/* ---- table_repairs.c ---- */
/* Counts a repair. */
void table_repaired(struct table *t, enum csv_repair_kind kind, int64_t line, int64_t column,
                    const char *text);
/* At the end of the body: adds a warning for each kind of repair. */
void table_warn_of_repairs(struct table *t);
/* Writes the member "repairs" into the open object of the notes, if there were repairs. */
void table_write_repairs(const struct table *t, struct json_writer *w);
void table_repairs_done(struct table *t);

/* Returns a hint at what is wrong with a cell that does not fit the given type of column i; NULL:
 * none. */
const char *table_cell_hint(const struct table *t, size_t i, const char *text, size_t n);
/* Returns the end of a message about a cell that does not fit the type of column i. If the column
 * keeps the type of the stored column, the text names the option that allows another type;
 * otherwise it is "". */
const char *table_type_hint(const struct table *t, size_t i);
/* Whether rows are appended to a table with a label and one sparse column. */
bool table_is_sparse(const struct table *t);
/* Reports that memory is exhausted. Returns false. */
bool table_no_memory(struct table *t);

#endif
