/* Bodies of type multipart/form-data (RFC 7578), as HTML forms and many clients send files. The
 * form must have one part, whose content is taken as the body of the request. The library's post
 * processor divides the form into parts. */
#ifndef HTTP_FORM_H
#define HTTP_FORM_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

#define FORM_BYTES (96 * 1024) /* approximate memory of a form */
#define FORM_FRAME (64 * 1024) /* bytes; maximum length of a form without the content of its part */

struct form;
enum form_state { FORM_NEW, FORM_NO_BOUNDARY, FORM_NO_MEMORY };

/* Makes the reader of a form by the Content-Type of the request. any_charset: the part may have any
 * charset; otherwise UTF-8. *out is NULL unless FORM_NEW is returned. */
enum form_state form_new(struct MHD_Connection *mhd, bool any_charset, struct form **out);
void form_free(struct form *form); /* NULL is allowed */
/* Reads the next n bytes of the form. *content[*size]: the bytes of the part that they hold, valid
 * until the next call. Returns false if the form has a fault or there is no memory. */
bool form_step(struct form *form, const char *bytes, size_t n, const char **content, size_t *size);
/* Tells the reader that the form is complete. Returns false if it has a fault. */
bool form_end(struct form *form);
/* Returns what is wrong with the form. NULL: nothing, or there was no memory. */
const char *form_fault(const struct form *form);

#endif
