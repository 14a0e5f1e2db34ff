/* Changes lines of a token file; comments and the order of the lines stay. */
#include "commands/token_command.h"
#include "auth/token_file.h"
#include "auth/tokens.h"
#include "base/options/options.h"
#include "base/process/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_REFUSED = 2 };

struct arguments {
    const char *file, *scope, *expires;
    const char *rate, *rows, *calls, *jobs, *bytes;
    struct option_list only;
    bool help;
};

#define AT(member) offsetof(struct arguments, member)
static const struct option_row option_rows[] = {
    {"tokens", OPTION_STRING, AT(file), NULL, 0, 0, NULL, "FILE", "", ""},
    {"scope", OPTION_STRING, AT(scope), NULL, 0, 0, NULL, "SCOPE,…", "", ""},
    {"only", OPTION_LIST, AT(only), NULL, 0, 0, NULL, "PATTERN,…", "", ""},
    {"expires", OPTION_STRING, AT(expires), NULL, 0, 0, NULL, "TIME", "", ""},
    {"rate", OPTION_STRING, AT(rate), NULL, 0, 0, NULL, "N/s", "", ""},
    {"rows", OPTION_STRING, AT(rows), NULL, 0, 0, NULL, "N/s", "", ""},
    {"calls", OPTION_STRING, AT(calls), NULL, 0, 0, NULL, "N", "", ""},
    {"jobs", OPTION_STRING, AT(jobs), NULL, 0, 0, NULL, "N", "", ""},
    {"bytes", OPTION_STRING, AT(bytes), NULL, 0, 0, NULL, "BYTES", "", ""},
    {"help", OPTION_FLAG, AT(help), NULL, 0, 0, NULL, NULL, "", ""},
};
enum { N_ROWS = sizeof option_rows / sizeof option_rows[0] };

static const char help[] =
    "discernd token add NAME --scope SCOPE,… [--only PATTERN,…] [--expires TIME] [LIMIT]…\n"
    "discernd token list\n"
    "discernd token revoke NAME\n"
    "discernd token rotate NAME [--expires TIME]\n"
    "\n"
    "Changes the token file of a daemon. add and rotate print a new secret, once: the file has "
    "only\n"
    "its hash. A daemon that runs with --tokens FILE reads the file again when it has changed.\n"
    "\n"
    "  --tokens FILE        the token file; default: the environment variable DISCERN_TOKENS\n"
    "  --scope SCOPE,…      what the token permits:\n"
    "                         read     read datasets, models, jobs and metrics\n"
    "                         predict  predict, evaluate and transform with models\n"
    "                         train    make, cancel and delete jobs; includes read\n"
    "                         write    change datasets and models; includes read\n"
    "                         admin    everything\n"
    "  --only PATTERN,…     names of the datasets and models that the token is for; * stands for "
    "any\n"
    "                       characters; default: all\n"
    "  --expires TIME       when the token ends: after 90d, 12h or 30m, or at 2027-01-31 or\n"
    "                       2027-01-31T12:00:00Z (UTC); never: it does not end (default)\n"
    "Limits:\n"
    "  --rate N/s           requests in a second\n"
    "  --rows N/s           rows in a second: predicted, evaluated, transformed, uploaded,\n"
    "                       or previewed\n"
    "  --calls N            heavy calls at once: uploads, evaluations, bodies over 64 KiB\n"
    "  --jobs N             queued and running jobs\n"
    "  --bytes SIZE         stored datasets and models, like 10G\n";

/* What the command works on. */
struct work {
    const struct arguments *arguments;
    const char *name; /* NULL: list */
    struct buf text;  /* the file; empty if there is none */
    struct tokens *tokens;
    struct buf changed; /* the new text of the file */
    char secret[TOKENS_SECRET_SIZE];
};

/* ---- parts of a line ---- */

/* Makes a secret and appends the word of its hash. */
static void put_secret(struct work *w) {
    uint8_t bytes[32], hash[HASH_BLAKE2B_SIZE];
    char hex[HASH_BLAKE2B_TEXT];
    ids_random_bytes(bytes, sizeof bytes);
    memcpy(w->secret, TOKENS_PREFIX, sizeof TOKENS_PREFIX - 1);
    hash_hex(bytes, sizeof bytes, w->secret + sizeof TOKENS_PREFIX - 1);
    hash_blake2b(w->secret, strlen(w->secret), hash);
    hash_hex(hash, sizeof hash, hex);
    buf_printf(&w->changed, "b2:%s", hex);
}

/* Reads --expires. *out: real time in ms; 0: never. */
static bool parse_expires(const char *text, int64_t *out, struct problem *problem) {
    static const struct {
        char unit;
        int64_t ms;
    } units[] = {{'d', 86400000}, {'h', 3600000}, {'m', 60000}};
    char *end;
    const int64_t count = strtoll(text, &end, 10);
    if (strcmp(text, "never") == 0) {
        *out = 0;
        return true;
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (text[0] >= '0' && text[0] <= '9' && end[0] == units[i].unit && end[1] == '\0' &&
            count > 0 && count <= INT64_C(36500) * 86400000 / units[i].ms) {
            *out = clock_real_ms() + count * units[i].ms;
            return true;
        }
    }
    return (clock_parse(text, out) && *out > clock_real_ms()) ||
           problem_set(problem, PROBLEM_INVALID,
                       "--expires must be like 90d, 12h, 30m or never, at most 36500d, or a time "
                       "to come like 2027-01-31 or 2027-01-31T12:00:00Z, got \"%.100s\"",
                       text);
}

static bool put_expires(struct work *w, struct problem *problem) {
    int64_t at = 0;
    char text[CLOCK_TEXT_SIZE];
    if (!parse_expires(w->arguments->expires, &at, problem)) {
        return false;
    }
    if (at > 0) {
        clock_format(at, text);
        buf_printf(&w->changed, " expires=%s", text);
    }
    return true;
}

static bool put_only(struct work *w, struct problem *problem) {
    const struct option_list *only = &w->arguments->only;
    for (size_t i = 0; i < only->n; i++) {
        if (!tokens_patterns_check("--only", only->items[i], problem)) {
            return false;
        }
        buf_printf(&w->changed, "%s%s", i == 0 ? " only=" : ",", only->items[i]);
    }
    return true;
}

static bool put_limits(struct work *w, struct problem *problem) {
    const struct arguments *a = w->arguments;
    const struct {
        const char *name, *value;
    } limits[] = {{"rate", a->rate},
                  {"rows", a->rows},
                  {"calls", a->calls},
                  {"jobs", a->jobs},
                  {"bytes", a->bytes}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        char shown[16];
        struct auth_limits ignored = {0};
        (void)snprintf(shown, sizeof shown, "--%s", limits[i].name);
        if (limits[i].value == NULL) {
            continue;
        }
        if (!tokens_limit_parse(shown, limits[i].name, limits[i].value, &ignored, problem)) {
            return false;
        }
        buf_printf(&w->changed, " %s=%s", limits[i].name, limits[i].value);
    }
    return true;
}

static void put_kept_limits(struct work *w, const struct auth_limits *l) {
    const struct {
        const char *name;
        double value;
    } limits[] = {{"rate", l->requests},
                  {"rows", l->rows},
                  {"calls", (double)l->calls},
                  {"jobs", (double)l->jobs},
                  {"bytes", (double)l->bytes}};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        if (limits[i].value > 0) {
            buf_printf(&w->changed, " %s=%.0f", limits[i].name, limits[i].value);
        }
    }
}

/* ---- the commands: each makes w->changed of w->text ---- */

/* Returns the start of a line (from 1) of the text, or its end if it has fewer. */
static size_t line_start(const struct buf *text, size_t line) {
    size_t at = 0;
    for (; line > 1 && at < text->size; line--) {
        const char *end = memchr(text->data + at, '\n', text->size - at);
        at = end != NULL ? (size_t)(end - text->data) + 1 : text->size;
    }
    return at;
}

static bool token_add(struct work *w, struct problem *problem) {
    unsigned scopes;
    if (!ids_name_valid(w->name, strlen(w->name))) {
        return problem_set(problem, PROBLEM_INVALID, "the name " IDS_NAME_RULE ", got \"%.100s\"",
                           w->name);
    }
    if (w->arguments->scope == NULL) {
        return problem_set(problem, PROBLEM_INVALID,
                           "--scope is needed: read, predict, train, write or admin");
    }
    if (!tokens_scopes_parse("--scope", w->arguments->scope, &scopes, problem)) {
        return false;
    }
    if (tokens_named(w->tokens, w->name) != NULL) {
        return problem_set(problem, PROBLEM_INVALID,
                           "%.300s has a token \"%s\" already; rotate gives it a new secret",
                           w->arguments->file, w->name);
    }
    if (tokens_count(w->tokens) == TOKENS_MAX) {
        return problem_set(problem, PROBLEM_INVALID, "%.300s has %d tokens, as many as it may",
                           w->arguments->file, TOKENS_MAX);
    }
    if (w->text.size == 0) {
        buf_puts(&w->changed,
                 "# Tokens of discernd; made by `discernd token`.\n"
                 "# NAME b2:HASH SCOPE,… [only=PATTERN,…] [expires=TIME] [LIMIT=N]…\n");
    }
    buf_append(&w->changed, w->text.data, w->text.size);
    if (w->text.size > 0 && w->text.data[w->text.size - 1] != '\n') {
        buf_putc(&w->changed, '\n');
    }
    buf_printf(&w->changed, "%s ", w->name);
    put_secret(w);
    buf_printf(&w->changed, " %s", w->arguments->scope);
    const bool good = put_only(w, problem) && put_limits(w, problem) &&
                      (w->arguments->expires == NULL || put_expires(w, problem));
    buf_putc(&w->changed, '\n');
    return good;
}

/* Returns the token of this name after copying the lines above its own; NULL after setting a problem.
 * *rest: the start of the lines below. */
static const struct auth_token *copy_lines_above(struct work *w, size_t *rest,
                                                 struct problem *problem) {
    const struct auth_token *token = tokens_named(w->tokens, w->name);
    if (token == NULL) {
        problem_set(problem, PROBLEM_INVALID, "%.300s has no token \"%.100s\"", w->arguments->file,
                    w->name);
        return NULL;
    }
    buf_append(&w->changed, w->text.data, line_start(&w->text, token->line));
    *rest = line_start(&w->text, token->line + 1);
    return token;
}

static void copy_lines_from(struct work *w, size_t rest) {
    buf_append(&w->changed, w->text.data + rest, w->text.size - rest);
}

static bool token_revoke(struct work *w, struct problem *problem) {
    size_t rest;
    if (copy_lines_above(w, &rest, problem) == NULL) {
        return false;
    }
    copy_lines_from(w, rest);
    return true;
}

/* Writes the line again, with another hash and, with --expires, another time. */
static bool token_rotate(struct work *w, struct problem *problem) {
    size_t rest;
    const struct auth_token *token = copy_lines_above(w, &rest, problem);
    if (token == NULL) {
        return false;
    }
    buf_printf(&w->changed, "%s ", token->name);
    put_secret(w);
    buf_printf(&w->changed, " %s", token->scope_text);
    if (token->only != NULL) {
        buf_printf(&w->changed, " only=%s", token->only);
    }
    put_kept_limits(w, &token->limits);
    bool good = true;
    if (w->arguments->expires != NULL) {
        good = put_expires(w, problem);
    } else if (token->expires_ms > 0) {
        char text[CLOCK_TEXT_SIZE];
        clock_format(token->expires_ms, text);
        buf_printf(&w->changed, " expires=%s", text);
    }
    buf_putc(&w->changed, '\n');
    copy_lines_from(w, rest);
    return good;
}

static bool token_list(struct work *w, struct problem *problem) {
    (void)problem;
    const int64_t now = clock_real_ms();
    printf("%-24s %-20s %-26s %s\n", "NAME", "SCOPE", "EXPIRES", "ONLY");
    for (size_t i = 0; i < tokens_count(w->tokens); i++) {
        const struct auth_token *t = tokens_at(w->tokens, i);
        char expires[CLOCK_TEXT_SIZE + 10] = "never";
        if (t->expires_ms > 0) {
            clock_format(t->expires_ms, expires);
            if (t->expires_ms <= now) {
                memcpy(expires, "expired", sizeof "expired");
            }
        }
        printf("%-24s %-20s %-26s %s\n", t->name, t->scope_text, expires,
               t->only != NULL ? t->only : "*");
    }
    return true;
}

static const struct command {
    const char *name;
    bool changes;
    bool (*run)(struct work *w, struct problem *problem);
} commands[] = {{"add", true, token_add},
                {"list", false, token_list},
                {"revoke", true, token_revoke},
                {"rotate", true, token_rotate}};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

/* ---- the file ---- */

/* Reads the tokens. `add` makes a file that does not exist. */
static bool read_tokens(struct work *w, const struct command *command, struct problem *problem) {
    const char *path = w->arguments->file;
    struct stat info;
    if ((command->run != token_add || access(path, F_OK) == 0) &&
        !token_file_read(path, &w->text, &info, problem)) {
        return false;
    }
    return tokens_parse(path, w->text.data != NULL ? w->text.data : "", w->text.size, &w->tokens,
                        problem);
}

/* Checks the new text by the parser of the daemon, and replaces the file. */
static bool store(struct work *w, struct problem *problem) {
    struct tokens *fresh = NULL;
    if (w->changed.failed) {
        return problem_no_memory(problem);
    }
    const char *text = w->changed.data != NULL ? w->changed.data : "";
    const bool good = tokens_parse(w->arguments->file, text, w->changed.size, &fresh, problem) &&
                      token_file_replace(w->arguments->file, text, w->changed.size, problem);
    tokens_unref(fresh);
    return good;
}

static int run(const struct command *command, const struct arguments *arguments, const char *name) {
    struct work w = {.arguments = arguments, .name = name};
    struct problem problem = {0};
    const int lock = command->changes ? token_file_lock(arguments->file, &problem) : -1;
    const bool good = problem.type == PROBLEM_NONE && read_tokens(&w, command, &problem) &&
                      command->run(&w, &problem) && (!command->changes || store(&w, &problem));
    if (good && w.secret[0] != '\0') {
        printf("%s\n", w.secret);
    } else if (!good) {
        fprintf(stderr, "discernd: %s\n", problem.detail ? problem.detail : "out of memory");
    }
    if (lock >= 0) {
        (void)close(lock);
    }
    tokens_unref(w.tokens);
    buf_done(&w.text);
    buf_done(&w.changed);
    problem_done(&problem);
    return good && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_REFUSED;
}

/* ---- the command line ---- */

static int refuse(const char *why) {
    fprintf(stderr, "discernd: %s; discernd token --help shows how\n", why);
    return EXIT_REFUSED;
}

static const struct command *command_find(const char *name) {
    for (size_t i = 0; i < N_COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

/* Returns what is wrong with the options of a command; NULL: nothing. */
static const char *misused(const struct command *command, const struct arguments *a) {
    if (a->file == NULL || a->file[0] == '\0') {
        return "--tokens FILE is needed";
    }
    const bool of_add = a->scope != NULL || a->only.n > 0 || a->rate != NULL || a->rows != NULL ||
                        a->calls != NULL || a->jobs != NULL || a->bytes != NULL;
    if (command->run != token_add && of_add) {
        return "--scope, --only and limits are options of token add";
    }
    return command->run != token_add && command->run != token_rotate && a->expires != NULL
               ? "--expires is an option of token add and rotate"
               : NULL;
}

int token_command_run(int argc, char **argv) {
    struct arguments arguments = {0};
    struct problem problem = {0};
    const char *verb = argc > 2 ? argv[2] : "";
    const struct command *command = command_find(verb);
    int used = 1; /* words before the options, without the program */
    if (command != NULL) {
        used = 2;
    } else if (verb[0] != '-') {
        return refuse(verb[0] == '\0' ? "add, list, revoke or rotate must follow token"
                                      : "token is followed by add, list, revoke or rotate");
    }
    const char *name = NULL;
    if (command != NULL && command->run != token_list && argc > 3 && argv[3][0] != '-') {
        name = argv[3];
        used = 3;
    }
    if (!options_read_arguments(option_rows, N_ROWS, argc - used, argv + used, &arguments,
                                &problem)) {
        const int status = refuse(problem.detail != NULL ? problem.detail : "out of memory");
        problem_done(&problem);
        return status;
    }
    int status = EXIT_SUCCESS;
    if (arguments.file == NULL) {
        arguments.file = getenv("DISCERN_TOKENS");
    }
    if (arguments.help) {
        fputs(help, stdout);
    } else if (command == NULL) {
        status = refuse("token is followed by add, list, revoke or rotate");
    } else if (command->run != token_list && name == NULL) {
        status = refuse("the name of the token is missing");
    } else if (misused(command, &arguments) != NULL) {
        status = refuse(misused(command, &arguments));
    } else {
        status = run(command, &arguments, name);
    }
    options_free(option_rows, N_ROWS, &arguments);
    return status;
}
