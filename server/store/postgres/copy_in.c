/* Inserts the blobs of a chunk with COPY, in its binary format (manual of PostgreSQL, COPY, "Binary Format"): one
 * answer of the server for all columns of a chunk, and no copy of a blob in memory. */
#include "store/postgres/connection.h"
#include "store/postgres/postgres.h"
#include <string.h>

static const char sql[] = "COPY blobs (id, crc, bytes) FROM STDIN (FORMAT binary)";

enum {
    PIECE = 64 * 1024, /* bytes that libpq holds at a time */
    N_FIELDS = 3,
    HEAD = 2 + 2 * (4 + 8) + 4 /* number of fields, id, crc, length of the bytes */
};

/* Writes a number of `size` bytes, the most significant first. Returns the place behind it. */
static char *put(char *out, uint64_t value, size_t size) {
    for (size_t i = 0; i < size; i++) {
        out[i] = (char)(unsigned char)(value >> (8 * (size - 1 - i)));
    }
    return out + size;
}

static bool send_bytes(PGconn *conn, const char *bytes, size_t n) {
    for (size_t sent = 0; sent < n;) {
        const size_t piece = n - sent < PIECE ? n - sent : PIECE;
        if (PQputCopyData(conn, bytes + sent, (int)piece) != 1) {
            return false;
        }
        sent += piece;
    }
    return true;
}

static bool send_blob(PGconn *conn, int64_t id, const struct store_new_blob *b) {
    char head[HEAD], *at = put(head, N_FIELDS, 2);
    at = put(at, 8, 4);
    at = put(at, (uint64_t)id, 8);
    at = put(at, 8, 4);
    at = put(at, b->crc, 8);
    (void)put(at, b->blob.size, 4);
    return send_bytes(conn, head, sizeof head) && send_bytes(conn, b->blob.bytes, b->blob.size);
}

static bool send_all(PGconn *conn, int64_t first, const struct store_new_blob *blobs, size_t n) {
    /* the signature, no flags, no extension */
    static const char begin[] = "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0";
    static const char end[2] = "\377\377";
    bool good = send_bytes(conn, begin, sizeof begin - 1);
    for (size_t i = 0; i < n && good; i++) {
        good = send_blob(conn, first + (int64_t)i, &blobs[i]);
    }
    return good && send_bytes(conn, end, sizeof end);
}

void store_postgres_put_blobs(struct store_tx *tx, int64_t first,
                              const struct store_new_blob *blobs, size_t n) {
    PGconn *conn = store_postgres_of(tx->connection)->conn;
    if (n == 1) { /* a model, or a table of one column: a prepared statement takes fewer messages */
        STORE_RUN(tx->connection, tx->problem,
                  "INSERT INTO blobs (id, crc, bytes) VALUES (?, ?, ?)", store_int(first),
                  store_int(blobs->crc), store_bytes(blobs->blob.bytes, blobs->blob.size));
    }
    if (tx->problem->type != PROBLEM_NONE || n <= 1) {
        return;
    }
    PGresult *result = PQexec(conn, sql);
    bool good = PQresultStatus(result) == PGRES_COPY_IN;
    if (good) {
        PQclear(result);
        good = send_all(conn, first, blobs, n);
        good = PQputCopyEnd(conn, good ? NULL : "the chunk was not sent") == 1 && good;
        result = PQgetResult(conn);
        good = PQresultStatus(result) == PGRES_COMMAND_OK && good;
    }
    if (!good) {
        (void)store_postgres_failed(tx->connection, result, sql, tx->problem);
    }
    while (result != NULL) {
        PQclear(result);
        result = PQgetResult(conn);
    }
}
