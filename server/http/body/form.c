/* Forms. The post processor of libmicrohttpd calls part_bytes for each piece of the content of a
 * part; a part without content gets one call. */
#include "http/body/form.h"
#include "base/memory/buf.h"
#include "http/protocol/fields.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The post processor's buffer: the header of a part must fit in it. */
#define PROCESSOR_BYTES (32 * 1024)

struct form {
    struct MHD_PostProcessor *processor; /* NULL: the form is complete */
    struct buf content;                  /* content of the part, as found by the last step */
    size_t read;                         /* bytes of the form so far */
    size_t found;                        /* bytes of the part's content so far */
    bool begun;                          /* the part has begun */
    bool any_charset;                    /* the charset of the part is not checked */
    bool is_file;                        /* the part has a file name */
    struct buf field;                    /* name of the part */
    struct buf fault;                    /* NUL-terminated; empty: none */
};

static enum MHD_Result fail(struct form *form, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static enum MHD_Result fail(struct form *form, const char *format, ...) {
    va_list args;
    va_start(args, format);
    buf_clear(&form->fault);
    buf_vprintf(&form->fault, format, args);
    (void)buf_cstr(&form->fault);
    va_end(args);
    return MHD_NO;
}

/* Whether the content of a part is UTF-8, or its encoding is not given. */
static bool is_utf8(const char *content_type) {
    struct part charset;
    return content_type == NULL ||
           !element_parameter((struct part){content_type, strlen(content_type)}, "charset",
                              &charset) ||
           part_is(charset, "utf-8") || part_is(charset, "us-ascii") || part_is(charset, "ascii");
}

/* Whether the content is sent as it is. */
static bool is_plain(const char *coding) {
    const struct part part = {coding, coding != NULL ? strlen(coding) : 0};
    return coding == NULL || part_is(part, "binary") || part_is(part, "8bit") ||
           part_is(part, "7bit");
}

static enum MHD_Result begin_part(struct form *form, const char *name, bool is_file,
                                  const char *content_type, const char *coding) {
    if (!is_plain(coding)) {
        return fail(form, "its part is coded as \"%.40s\"; send the content without a coding",
                    coding);
    }
    if (!form->any_charset && !is_utf8(content_type)) {
        return fail(form,
                    "its part is of type \"%.100s\", which is not UTF-8: name the encoding in the "
                    "query parameter \"encoding\"",
                    content_type);
    }
    form->begun = true;
    form->is_file = is_file;
    buf_puts(&form->field, name);
    return MHD_YES;
}

/* Refuses a second part: a text field before or after the file, or another file. */
static enum MHD_Result refuse_second(struct form *form, const char *name, bool is_file) {
    if (is_file && form->is_file) {
        return fail(form, "it has a second file, \"%.100s\": send one file", name);
    }
    return fail(form,
                "it has the field \"%.100s\" beside the part with the rows: send the rows as the "
                "only part, and options as query parameters",
                is_file ? buf_cstr(&form->field) : name);
}

/* MHD_PostDataIterator. A part begins at offset 0, for which there may be a call without bytes. */
static enum MHD_Result part_bytes(void *arg, enum MHD_ValueKind kind, const char *key,
                                  const char *filename, const char *content_type,
                                  const char *coding, const char *bytes, uint64_t offset,
                                  size_t n) {
    struct form *form = arg;
    (void)kind;
    const char *name = key != NULL ? key : "", *field = buf_cstr(&form->field);
    if (field == NULL) {
        return MHD_NO;
    }
    if (offset == 0 && form->begun && (form->found > 0 || strcmp(field, name) != 0)) {
        return refuse_second(form, name, filename != NULL);
    }
    if (!form->begun && begin_part(form, name, filename != NULL, content_type, coding) == MHD_NO) {
        return MHD_NO;
    }
    form->found += n;
    buf_append(&form->content, bytes, n);
    return form->content.failed ? MHD_NO : MHD_YES;
}

/* Makes the post processor. It takes all that follows "boundary=" in the Content-Type, in lower
 * case, as the boundary. While it is made, the name of the parameter is therefore in lower case,
 * and the header ends behind its value. The processor keeps a pointer to the value and its
 * length. */
static struct MHD_PostProcessor *make_processor(struct MHD_Connection *mhd, struct form *form) {
    static const char lower[] = "boundary";
    enum { NAME = sizeof lower - 1 };
    const char *type =
        MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_TYPE);
    struct part value;
    if (type == NULL || !element_parameter((struct part){type, strlen(type)}, "boundary", &value)) {
        return MHD_create_post_processor(mhd, PROCESSOR_BYTES, part_bytes, form);
    }
    const size_t quote = value.text[-1] == '"';
    char *name = (char *)value.text - quote - 1 - NAME; /* in the connection's own memory */
    char *end = (char *)value.text + value.n + quote;
    char written[NAME];
    const char behind = *end;
    memcpy(written, name, NAME);
    memcpy(name, lower, NAME);
    *end = '\0';
    struct MHD_PostProcessor *made =
        MHD_create_post_processor(mhd, PROCESSOR_BYTES, part_bytes, form);
    memcpy(name, written, NAME);
    *end = behind;
    return made;
}

enum form_state form_new(struct MHD_Connection *mhd, bool any_charset, struct form **out) {
    struct form *form = calloc(1, sizeof *form);
    *out = NULL;
    if (form == NULL) {
        return FORM_NO_MEMORY;
    }
    form->any_charset = any_charset;
    errno = 0;
    form->processor = make_processor(mhd, form);
    if (form->processor == NULL) {
        const bool no_memory = errno == ENOMEM;
        free(form);
        return no_memory ? FORM_NO_MEMORY : FORM_NO_BOUNDARY;
    }
    *out = form;
    return FORM_NEW;
}

void form_free(struct form *form) {
    if (form == NULL) {
        return;
    }
    if (form->processor != NULL) {
        (void)MHD_destroy_post_processor(form->processor);
    }
    buf_done(&form->content);
    buf_done(&form->field);
    buf_done(&form->fault);
    free(form);
}

bool form_step(struct form *form, const char *bytes, size_t n, const char **content, size_t *size) {
    buf_clear(&form->content);
    const bool read = MHD_post_process(form->processor, bytes, n) == MHD_YES;
    form->read += n;
    *content = form->content.data;
    *size = form->content.size;
    if (form->fault.size == 0 && !form->content.failed) {
        if (!read) {
            (void)fail(
                form,
                "its parts cannot be read, because a part has no valid header or text follows the "
                "last boundary");
        } else if (form->read - form->found > FORM_FRAME) {
            (void)fail(form, "more than %d bytes of the form are outside of its part", FORM_FRAME);
        }
    }
    return form->fault.size == 0 && !form->content.failed;
}

bool form_end(struct form *form) {
    if (form->processor != NULL) {
        const bool complete = MHD_destroy_post_processor(form->processor) == MHD_YES;
        form->processor = NULL;
        if (!form->begun) {
            (void)fail(form, "it has no part");
        } else if (!complete) {
            (void)fail(form, "its last boundary is missing");
        }
    }
    return form->fault.size == 0;
}

const char *form_fault(const struct form *form) {
    return form->fault.size > 0 ? form->fault.data : NULL;
}
