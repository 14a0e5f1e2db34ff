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
#define UTF32 "the body looks like UTF-32 without a byte order mark: add the parameter encoding="
#define PDF "the body is a PDF document: extract its table as CSV"
#define RDATA "the body is an R workspace: write its table as CSV (load(FILE), write.csv)"
#define PICKLE                                                                                     \
    "the body is a Python pickle: write it as CSV (pandas.read_pickle(FILE).to_csv(FILE))"
#define AVRO "the body is an Avro file: write it as JSON lines (avro-tools tojson FILE)"
#define SPSS "the body is an SPSS file: write it as CSV (pandas.read_spss(FILE).to_csv(FILE))"
#define STATA "the body is a Stata file: write it as CSV (pandas.read_stata(FILE).to_csv(FILE))"
#define SAS "the body is a SAS file: write it as CSV (pandas.read_sas(FILE).to_csv(FILE))"
#define PICTURE "the body is a picture, not a table"
#define HTML                                                                                       \
    "the body is an HTML page, perhaps an error or login page instead of the file: send the "      \
    "table as CSV"
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
    {0, "7z\xBC\xAF\x27\x1C", 6, NULL, "the body is a 7z archive: unpack it (7z x FILE)"},
    {0, "Rar!\x1A\x07", 6, NULL, "the body is a rar archive: unpack it (unrar x FILE)"},
    {0, "\x04\x22\x4D\x18", 4, NULL,
     "the body is compressed by lz4: unpack it (unlz4 FILE) or send gzip"},
    {0, "\x5D\0\0", 3, NULL,
     "the body is compressed by lzma: unpack it (unlzma FILE) or send gzip"},
    {0, "LZIP", 4, NULL, "the body is compressed by lzip: unpack it (lzip -d FILE) or send gzip"},
    {0, "\x89LZO", 4, NULL,
     "the body is compressed by lzop: unpack it (lzop -d FILE) or send gzip"},
    {0, "\xFF\x06\0\0sNaPpY", 10, NULL,
     "the body is compressed by snappy: unpack it (snzip -d FILE) or send gzip"},
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
    {0, "%PDF-", 5, NULL, PDF},
    {0, "FEA1", 4, NULL,
     "the body is a Feather file: write it as CSV (pandas.read_feather(FILE).to_csv(FILE))"},
    {0, "ORC", 3, NULL,
     "the body is an ORC file: write it as CSV (pandas.read_orc(FILE).to_csv(FILE))"},
    {0, "Obj\x01", 4, NULL, AVRO},
    {0, "RDX2\n", 5, NULL, RDATA},
    {0, "RDX3\n", 5, NULL, RDATA},
    {0, "X\n\0\0", 4, NULL,
     "the body is an R object (RDS): write it as CSV (write.csv(readRDS(FILE), FILE))"},
    {0, "\x80\x02", 2, NULL, PICKLE},
    {0, "\x80\x03", 2, NULL, PICKLE},
    {0, "\x80\x04\x95", 3, NULL, PICKLE},
    {0, "\x80\x05\x95", 3, NULL, PICKLE},
    {0, "MATLAB ", 7, "MAT-file", "the body is a MATLAB file: write its table as CSV (writetable)"},
    {0, "$FL2@(#)", 8, NULL, SPSS},
    {0, "$FL3@(#)", 8, NULL, SPSS},
    {0, "<stata_dta>", 11, NULL, STATA},
    {0, "\x71\x02\x01\0", 4, NULL, STATA},
    {0, "\x71\x01\x01\0", 4, NULL, STATA},
    {0, "\x72\x02\x01\0", 4, NULL, STATA},
    {0, "\x72\x01\x01\0", 4, NULL, STATA},
    {0, "\x73\x02\x01\0", 4, NULL, STATA},
    {0, "\x73\x01\x01\0", 4, NULL, STATA},
    {12, "\xC2\xEA\x81\x60\xB3\x14\x11\xCF\xBD\x92\x08\0\x09\xC7\x31\x8C", 16, NULL, SAS},
    {0, "\x89PNG\r\n\x1A\n", 8, NULL, PICTURE},
    {0, "\xFF\xD8\xFF", 3, NULL, PICTURE},
    {0, "GIF8", 4, NULL, PICTURE},
    {0, "II*\0", 4, NULL, PICTURE},
    {0, "MM\0*", 4, NULL, PICTURE},
    {8, "WEBP", 4, NULL, PICTURE},
    {0,
     "\x7F"
     "ELF",
     4, NULL, "the body is a program, not a table"},
};

/* Formats of text that are not tables. */
static const struct foreign_text {
    const char *begin;  /* lower case; blanks and line ends before it are skipped */
    const char *follow; /* one of these characters follows; "": any */
    const char *text;
} texts[] = {
    {"<!doctype html", "", HTML},
    {"<html", "> \t\r\n", HTML},
    {"<head", "> \t\r\n", HTML},
    {"<table", "> \t\r\n", HTML},
    {"<?xml ", "", "the body is an XML document: write its table as CSV"},
    {"%pdf-1.", "0123456789", PDF},
    {"%pdf-2.", "0123456789", PDF},
    {"{\\rtf1", "", "the body is an RTF document: save its table as CSV"},
    {"obj\x01", "", AVRO},
    {"<stata_dta>", "", STATA},
    {"$fl2@(#)", "", SPSS},
    {"header record*******library header record", "", SAS},
    {"matlab 5.0 mat-file", "", "the body is a MATLAB file: write its table as CSV (writetable)"},
    {"rda3\n", "", RDATA},
    {"version https://git-lfs.github.com/spec/", "",
     "the body is a pointer of Git LFS, not the file: fetch it (git lfs pull)"},
};

/* Whether the bytes begin with the text, in upper or lower case. */
static bool begins(const char *bytes, size_t n, const char *text) {
    size_t i = 0;
    for (; text[i] != '\0' && i < n; i++) {
        const char c = bytes[i] >= 'A' && bytes[i] <= 'Z' ? (char)(bytes[i] | 0x20) : bytes[i];
        if (c != text[i]) {
            return false;
        }
    }
    return text[i] == '\0';
}

static const char *foreign_text(const char *bytes, size_t n) {
    if (n >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        bytes += 3;
        n -= 3;
    }
    while (n > 0 && memchr(" \t\r\n", bytes[0], 4) != NULL) {
        bytes++;
        n--;
    }
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const struct foreign_text *f = &texts[i];
        const size_t at = strlen(f->begin);
        if (begins(bytes, n, f->begin) &&
            (f->follow[0] == '\0' ||
             (at < n && memchr(f->follow, bytes[at], strlen(f->follow)) != NULL))) {
            return f->text;
        }
    }
    return NULL;
}

/* Returns the name of the UTF-32 that the bytes look like: of each character three bytes are 0, or
 * two; NULL: another encoding. */
static const char *wide(const char *bytes, size_t n) {
    bool little = n >= 8, big = n >= 8;
    for (size_t i = 0; i + 4 <= n && i < 64; i += 4) {
        little = little && bytes[i] != '\0' && bytes[i + 2] == '\0' && bytes[i + 3] == '\0';
        big = big && bytes[i] == '\0' && bytes[i + 1] == '\0' && bytes[i + 3] != '\0';
    }
    return little ? UTF32 "utf-32le" : big ? UTF32 "utf-32be" : NULL;
}

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
        return foreign_text(bytes, n);
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const struct foreign *f = &known[i];
        if (f->at + f->n <= n && memcmp(bytes + f->at, f->bytes, f->n) == 0 &&
            (f->within == NULL || has(bytes, n, f->within))) {
            return f->text;
        }
    }
    const char *utf32 = wide(bytes, n);
    if (utf32 != NULL) {
        return utf32;
    }
    if (n >= 4 && bytes[1] == '\0' && bytes[3] == '\0' && bytes[0] != '\0' && bytes[2] != '\0') {
        return UTF16 "utf-16le";
    }
    if (n >= 4 && bytes[0] == '\0' && bytes[2] == '\0' && bytes[1] != '\0' && bytes[3] != '\0') {
        return UTF16 "utf-16be";
    }
    return NULL;
}
