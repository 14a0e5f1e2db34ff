#include "formats/text/foreign.h"
#include "base/utf8.h"

#include <stdbool.h>
#include <string.h>

/* A format that is not text, and the bytes by which it is recognised. */
struct foreign {
    size_t at;         /* offset of `bytes` in the body */
    const char *bytes; /* may contain NUL */
    size_t n;
    const char *within; /* text that must also occur in the first FOREIGN_BYTES bytes; NULL: none */
    const char *text;
};

#define GZIP                                                                                       \
    "the rows are compressed by gzip: unpack them (gunzip FILE.gz), or send the file as the "      \
    "body, "                                                                                       \
    "not in a form, with the header Content-Encoding: gzip"
#define DEFLATE                                                                                    \
    "the rows are compressed by zlib: unpack them, or send the file as the body, not in a form, "  \
    "with the header Content-Encoding: deflate"
#define UTF16 "the body looks like UTF-16 without a byte order mark: add the parameter encoding="
#define WORKBOOK "save the sheet as CSV (ssconvert FILE FILE.csv)"

/* The first entry that matches is used. */
static const struct foreign known[] = {
    {0, "\x1F\x8B", 2, NULL, GZIP},
    {0, "\x1F\x9D", 2, NULL, "the body is compressed by compress: unpack it (gzip -d FILE.Z)"},
    {0, "\x78\x01", 2, NULL, DEFLATE},
    {0, "\x78\x5E", 2, NULL, DEFLATE},
    {0, "\x78\x9C", 2, NULL, DEFLATE},
    {0, "\x78\xDA", 2, NULL, DEFLATE},
    {0, "BZh", 3, NULL, "the body is compressed by bzip2: unpack it (bunzip2 FILE) or send gzip"},
    {0, "\xFD\x37zXZ", 5, NULL, "the body is compressed by xz: unpack it (unxz FILE) or send gzip"},
    {0, "\x28\xB5\x2F\xFD", 4, NULL,
     "the body is compressed by zstd: unpack it (unzstd FILE) or send gzip"},
    {0, "PK\x03\x04", 4, "[Content_Types].xml", "the body is an Excel workbook: " WORKBOOK},
    {0, "PK\x03\x04", 4, "xl/", "the body is an Excel workbook: " WORKBOOK},
    {0, "PK\x03\x04", 4, "opendocument.spreadsheet",
     "the body is an OpenDocument spreadsheet: " WORKBOOK},
    {0, "PK\x03\x04", 4, ".npy",
     "the body is a NumPy archive (npz): write its arrays as CSV (numpy.savetxt)"},
    {0, "PK\x03\x04", 4, NULL, "the body is a zip archive: unpack it (unzip FILE)"},
    {0, "PK\x05\x06", 4, NULL, "the body is an empty zip archive"},
    {0, "\xD0\xCF\x11\xE0", 4, NULL, "the body is an old Excel workbook: " WORKBOOK},
    {257, "ustar", 5, NULL, "the body is a tar archive: unpack it (tar -xf FILE)"},
    {0, "PAR1", 4, NULL,
     "the body is a Parquet file: write it as CSV (pandas.read_parquet(FILE).to_csv(FILE))"},
    {0, "ARROW1", 6, NULL,
     "the body is an Arrow file: write it as CSV (pandas.read_feather(FILE).to_csv(FILE))"},
    {0, "\x93NUMPY", 6, NULL, "the body is a NumPy array (npy): write it as CSV (numpy.savetxt)"},
    {0, "\x89HDF", 4, NULL, "the body is an HDF5 file: write its table as CSV"},
    {0, "SQLite format 3", 15, NULL,
     "the body is an SQLite database: write a table as CSV (sqlite3 -csv -header FILE QUERY)"},
    {0, "%PDF-", 5, NULL, "the body is a PDF document: extract its table as CSV"},
};

/* Whether the bytes are UTF-8 without NUL. The last character may be incomplete. */
static bool is_text(const char *bytes, size_t n) {
    const size_t valid = utf8_valid_prefix(bytes, n);
    const unsigned char lead = valid < n ? (unsigned char)bytes[valid] : 0;
    const bool whole = valid == n || (n - valid < 4 && lead >= 0xC2 && lead <= 0xF4);
    return whole && memchr(bytes, '\0', n) == NULL;
}

static bool has(const char *bytes, size_t n, const char *text) {
    const size_t size = strlen(text);
    for (size_t at = 0; at + size <= n; at++) {
        if (memcmp(bytes + at, text, size) == 0) {
            return true;
        }
    }
    return false;
}

const char *foreign_body(const char *bytes, size_t n) {
    n = n < FOREIGN_BYTES ? n : FOREIGN_BYTES;
    if (n == 0 || is_text(bytes, n)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct foreign *f = &known[i];
        if (f->at + f->n <= n && memcmp(bytes + f->at, f->bytes, f->n) == 0 &&
            (f->within == NULL || has(bytes, n, f->within))) {
            return f->text;
        }
    }
    if (n >= 4 && bytes[1] == '\0' && bytes[3] == '\0' && bytes[0] != '\0' && bytes[2] != '\0') {
        return UTF16 "utf-16le";
    }
    if (n >= 4 && bytes[0] == '\0' && bytes[2] == '\0' && bytes[1] != '\0' && bytes[3] != '\0') {
        return UTF16 "utf-16be";
    }
    return NULL;
}
