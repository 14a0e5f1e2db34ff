/* A daemon with something to show in every view, for looking at all of the page. */
#ifndef TESTS_UI_FILLED_H
#define TESTS_UI_FILLED_H

#include "lib/api.h"

/* A model of two columns whose name has the greatest length. */
#define FILLED_LONG_NAME "a-network-with-a-name-as-long-as-a-name-of-a-model-may-ever-be1"

/* Gives the_daemon tables, models of several kinds, a job that failed (7) and one that is running
 * (8). */
void fill_daemon(void);
/* Cancels the running job, which takes a processor from the browser, and waits for its end. */
void filled_rest(void);
/* The places of the page that are worth looking at then, separated by blanks; one that begins with
 * a slash is a path of the daemon. */
extern const char filled_places[];
/* Opens such a place and waits until it has loaded. */
void filled_open(const char *place);
/* Appends what went wrong in the place, by browser_faults, to a text. */
const char *filled_faults(const char *place, const char *found);

/* The words of a list, separated by blanks. */
struct words {
    char *word[100];
    size_t n;
};
struct words words_of(const char *list);
void words_free(struct words *words);

/* Fixtures of test programs that look at all places: a filled daemon at rest, and the browser. */
extern struct words filled_words; /* of filled_places, between the fixtures */
int filled_group_start(void **state);
int filled_group_end(void **state);

#endif
