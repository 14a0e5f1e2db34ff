/* Reads the rows in the body of a call, for predict, transform and evaluate. */
#ifndef API_INSTANCES_H
#define API_INSTANCES_H

#include "formats/formats.h"
#include "http/http.h"

/* Sets the encoding of the body: ?encoding=, or the charset of its Content-Type. NULL: UTF-8 or not
 * given. Returns false if it has replied with 400. */
bool api_instances_encoding(struct http_call *call, const char **out);
/* Refuses an encoding other than UTF-8 for a body of lines. Returns false if it has replied. */
bool api_instances_utf8(struct http_call *call, const char *encoding);
/* Reads the options of a body of rows: the format by Content-Type, or by the first bytes if the
 * type is unspecific, ?encoding=, ?zero_based=, ?extra= and what api_instances_reading reads.
 * labelled: the class of each row is read as well. Returns false if it has replied. */
bool api_instances_options(struct http_call *call, bool labelled, struct instances_options *out);
/* Reads the rows of the body. Returns false with a problem: 400, or 422 with all faults. The caller
 * calls instance_rows_done in any case. */
bool api_instances_read(struct http_call *call, const struct instances_options *options,
                        const dn_model *model, struct instance_rows *out, struct problem *problem);
/* Refuses options of separated text for a body of another format. Returns false if it has
 * replied. */
bool api_instances_separated(struct http_call *call, const struct format *format);
/* Reads ?missing=, ?comment=, ?decimal=, ?thousands= and ?strip=, which replace the reading of the
 * model's training table for this call, and ?header=, ?delimiter=, ?skip_rows=, ?names= and
 * ?duplicates=. Returns false if it has replied. */
bool api_instances_reading(struct http_call *call, struct instances_options *out);
/* Reads ?extra=: whether a column that the model does not have is refused. Returns false if it has
 * replied with 400. */
bool api_instances_extra(struct http_call *call, bool *refused);
/* Sets the options for the rows of a stored dataset, and refuses parameters that are for bodies.
 * Returns false if it has replied. */
bool api_instances_stored(struct http_call *call, struct instances_options *out);
/* Reads ?keep=: the columns that the answer repeats. *used: out, or NULL without the parameter.
 * Returns false if it has replied; otherwise the caller calls keep_done. */
bool api_instances_keep(struct http_call *call, struct keep *out, const struct keep **used);
/* Reports the notes about the rows, NULL: none, in the headers Discern-Unseen (values that are no
 * category of the training), Discern-Ignored (columns) and Discern-Warnings, and in a counter for
 * each column with unseen categories. Call it before the reply is filled. */
void api_instances_notes(struct http_call *call, const char *name, const dn_model *model,
                         const struct row_notes *notes);

#endif
