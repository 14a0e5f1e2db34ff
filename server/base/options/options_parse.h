/* One option's value from text, shared by options.c (where texts come from) and options_help.c. */
#ifndef BASE_OPTIONS_PARSE_H
#define BASE_OPTIONS_PARSE_H

#include "base/options/options.h"

#define OPTIONS_PREFIX "DISCERN_"
#define OPTIONS_PREFIX_SIZE (sizeof OPTIONS_PREFIX - 1)

/* Sets the row's field to zero, NULL, false or the empty list, whatever it held. */
void options_zero(const struct option_row *row, void *settings);
/* Reads `text` into the row's field (a list: appends). `shown` is what messages call the option:
 * "--workers", "DISCERN_WORKERS". The text must live on, except of lists. */
bool options_parse(const struct option_row *row, const char *shown, const char *text,
                   void *settings, struct problem *problem);
/* Frees and empties a list. */
void options_list_clear(const struct option_row *row, void *settings);
/* What the value is called: row->argument, the choices, or a word for the kind. */
const char *options_argument(const struct option_row *row);

#endif
