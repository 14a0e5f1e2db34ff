/* URIs of PostgreSQL: what libpq reads for a connection, and their text without secrets. */
#include "base/memory/buf.h"
#include "store/postgres/postgres.h"
#include <stdlib.h>
#include <string.h>

bool store_postgres_names(const char *database) {
    return strncmp(database, "postgresql://", 13) == 0 || strncmp(database, "postgres://", 11) == 0;
}

bool store_postgres_is_like(const char *database) {
    PQconninfoOption *options = PQconndefaults();
    bool like = strncmp(database, "postgresql:", 11) == 0 || strncmp(database, "postgres:", 9) == 0;
    for (const PQconninfoOption *o = options; o != NULL && o->keyword != NULL; o++) {
        const size_t n = strlen(o->keyword);
        like = like || (strncmp(database, o->keyword, n) == 0 && database[n] == '=');
    }
    PQconninfoFree(options);
    return like;
}

/* Returns the text behind user and password: they end, as libpq reads a URI, at the first @ if no /
 * is before it. */
static const char *skip_user(const char *uri) {
    const char *start = strstr(uri, "://") + 3, *end = start + strcspn(start, "@/");
    return *end == '@' ? end + 1 : start;
}

bool store_postgres_is_ambiguous(const char *uri) {
    const char *rest = skip_user(uri);
    return memchr(rest, '@', strcspn(rest, "?")) != NULL;
}

char *store_postgres_name(const char *uri) {
    const char *start = skip_user(uri);
    const char *const end = start + strcspn(start, "?");
    for (const char *c = start; c < end; c++) {
        start = *c == '@' ? c + 1 : start;
    }
    struct buf name = {0};
    buf_printf(&name, "postgresql://%.*s", (int)(end - start), start);
    const char *text = buf_cstr(&name);
    char *copy = text != NULL ? strdup(text) : NULL;
    buf_done(&name);
    return copy;
}

bool store_postgres_has_password(const char *uri) {
    PQconninfoOption *options = PQconninfoParse(uri, NULL);
    bool has = false;
    for (const PQconninfoOption *o = options; o != NULL && o->keyword != NULL; o++) {
        has = has || (o->val != NULL && (strcmp(o->keyword, "password") == 0 ||
                                         strcmp(o->keyword, "sslpassword") == 0));
    }
    PQconninfoFree(options);
    return has;
}

/* Calls `read` for the folder of a file, in which the file may be replaced. */
static void read_folder(const char *file, void (*read)(void *arg, const char *path), void *arg) {
    char *copy = strdup(file), *slash = copy != NULL ? strrchr(copy, '/') : NULL;
    if (slash != NULL && slash > copy) {
        *slash = '\0';
        read(arg, copy);
    }
    free(copy);
}

/* Calls `read` for the folders of the files that the options name. Of a symbolic link also for that
 * of the file it leads to. */
static void read_named(const PQconninfoOption *options, void (*read)(void *arg, const char *path),
                       void *arg) {
    static const char *const keywords[] = {"sslrootcert", "sslcert",   "sslkey",
                                           "sslcrl",      "sslcrldir", "passfile"};
    for (const PQconninfoOption *o = options; o != NULL && o->keyword != NULL; o++) {
        for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
            if (o->val != NULL && o->val[0] == '/' && strcmp(o->keyword, keywords[i]) == 0) {
                char *file = realpath(o->val, NULL);
                read_folder(o->val, read, arg);
                read_folder(file != NULL ? file : o->val, read, arg);
                free(file);
            }
        }
    }
}

void store_postgres_reads(const char *uri, void (*read)(void *arg, const char *path), void *arg) {
    static const char *const of_system[] = {"/etc/passwd", "/etc/ssl", "/etc/postgresql-common"};
    static const char *const of_home[] = {".pgpass", ".postgresql", ".pg_service.conf"};
    static const char *const of_variables[] = {"PGSERVICEFILE", "PGSYSCONFDIR"};
    PQconninfoOption *given = PQconninfoParse(uri, NULL), *defaults = PQconndefaults();
    read_named(given, read, arg);
    read_named(defaults, read, arg); /* of the environment */
    PQconninfoFree(given);
    PQconninfoFree(defaults);
    for (size_t i = 0; i < sizeof of_system / sizeof *of_system; i++) {
        read(arg, of_system[i]);
    }
    for (size_t i = 0; i < sizeof of_variables / sizeof *of_variables; i++) {
        const char *path = getenv(of_variables[i]);
        if (path != NULL && path[0] == '/') {
            read(arg, path);
        }
    }
    const char *home = getenv("HOME");
    for (size_t i = 0; home != NULL && i < sizeof of_home / sizeof *of_home; i++) {
        struct buf path = {0};
        buf_printf(&path, "%s/%s", home, of_home[i]);
        if (buf_cstr(&path) != NULL) {
            read(arg, buf_cstr(&path));
        }
        buf_done(&path);
    }
}
