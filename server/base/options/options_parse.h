/* Parses the value of one option. Shared by options.c, which reads the texts, and
 * options_help.c. */
#ifndef BASE_OPTIONS_PARSE_H
#define BASE_OPTIONS_PARSE_H

#include "base/options/options.h"

#define OPTIONS_PREFIX "DISCERN_"
#define OPTIONS_PREFIX_SIZE (sizeof OPTIONS_PREFIX - 1)

/* Sets the row's field to zero, NULL, false or the empty list, without freeing its contents. */
void options_zero(const struct option_row *row, void *settings);
/* Parses `text` into the row's field; items are appended to a list. shown: name of the option in
 * messages, as "--workers" or "DISCERN_WORKERS". Except for lists, the text must stay valid as long
 * as the settings are used. */
bool options_parse(const struct option_row *row, const char *shown, const char *text,
                   void *settings, struct problem *problem);
/* Frees and empties a list. */
void options_list_clear(const struct option_row *row, void *settings);
/* Returns the name of the value in messages: row->argument, the choices, or a word for the kind. */
const char *options_argument(const struct option_row *row);

#endif
