/* Adds parts and warnings to reports of fits, and formats names of features and classes. */
#include "catalogue/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Adds a warning without text to the report. Returns NULL if the report is full. */
static dn_warning *add_warning(dn_report *report, dn_warning_code code, size_t machine,
                               size_t fold) {
    if (report->n_warnings == DN_MAX_WARNINGS) {
        return NULL;
    }
    dn_warning *warning = &report->warnings[report->n_warnings++];
    *warning = (dn_warning){.code = code, .machine = machine, .fold = fold};
    return warning;
}

void dn_report_warn(dn_report *report, dn_warning_code code, const char *format, ...) {
    dn_warning *warning = add_warning(report, code, DN_WARNING_WHOLE, DN_WARNING_WHOLE);
    if (warning == NULL) {
        return;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(warning->text, sizeof warning->text, format, args);
    va_end(args);
}

void dni_report_add_warning(dn_report *report, const dn_warning *from, const char *prefix) {
    dn_warning *warning = add_warning(report, from->code, from->machine, from->fold);
    if (warning != NULL) {
        const int length = snprintf(warning->text, sizeof warning->text, "%s: ", prefix);
        const size_t at = (size_t)length < sizeof warning->text ? (size_t)length : 0;
        snprintf(warning->text + at, sizeof warning->text - at, "%s", from->text);
    }
}

bool dni_report_has_warning(const dn_report *report, size_t n, const dn_warning *like) {
    for (size_t i = 0; i < n; i++) {
        const dn_warning *warning = &report->warnings[i];
        if (warning->code == like->code && warning->machine == like->machine) {
            return true;
        }
    }
    return false;
}

static void free_lists(dn_detail *details, size_t n) {
    for (size_t i = 0; i < n; i++) {
        free(details[i].list);
        details[i].list = NULL;
        details[i].n_list = 0;
    }
}

static void free_part(dn_report_part *part) {
    free_lists(part->details, part->n_details);
    free(part->details);
}

void dni_report_drop_part(dn_report *report, size_t i) {
    free_part(&report->parts[i]);
    report->n_parts--;
    memmove(report->parts + i, report->parts + i + 1,
            (report->n_parts - i) * sizeof *report->parts);
}

void dn_report_done(dn_report *report) {
    for (size_t i = 0; i < report->n_parts; i++) {
        free_part(&report->parts[i]);
    }
    free(report->parts);
    free_lists(report->details, report->n_details);
    report->parts = NULL;
    report->n_parts = 0;
}

static dn_detail *add_detail(dn_report *report, const char *name) {
    if (report->n_details == DN_MAX_DETAILS) {
        return NULL;
    }
    dn_detail *detail = &report->details[report->n_details++];
    *detail = (dn_detail){0};
    snprintf(detail->name, sizeof detail->name, "%s", name);
    return detail;
}

void dn_report_number(dn_report *report, const char *name, double value) {
    dn_detail *detail = add_detail(report, name);
    if (detail != NULL) {
        detail->number = value;
    }
}

void dn_report_boolean(dn_report *report, const char *name, bool value) {
    dn_detail *detail = add_detail(report, name);
    if (detail == NULL) {
        return;
    }
    detail->number = value;
    detail->boolean = true;
}

void dn_report_list(dn_report *report, const char *name, const double *values, size_t n) {
    dn_detail *detail = add_detail(report, name);
    if (detail == NULL) {
        return;
    }
    detail->number = (double)NAN;
    detail->list = malloc((n + 1) * sizeof *detail->list);
    if (detail->list == NULL) {
        return;
    }
    memcpy(detail->list, values, n * sizeof *values);
    detail->n_list = n;
}

void dn_report_text(dn_report *report, const char *name, const char *format, ...) {
    dn_detail *detail = add_detail(report, name);
    if (detail == NULL) {
        return;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(detail->text, sizeof detail->text, format, args);
    va_end(args);
}

/* Removes an incomplete UTF-8 character from the end of a text that snprintf has truncated.
 * full_length: the result of snprintf; the text is truncated if full_length >= size. */
static void trim(char *text, size_t size, size_t full_length) {
    if (full_length < size) {
        return;
    }
    size_t end = strlen(text);
    size_t start = end;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80) {
        start--;
    }
    if (start == 0) {
        return;
    }
    unsigned char lead = (unsigned char)text[start - 1];
    size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (end - (start - 1) < length) {
        text[start - 1] = '\0';
    }
}

void dni_copy_name(const char *name, char out[DN_FIELD_SIZE]) {
    trim(out, DN_FIELD_SIZE, (size_t)snprintf(out, DN_FIELD_SIZE, "%s", name));
}

void dni_feature_name(const dn_fit_input *input, size_t j, char out[DN_FIELD_SIZE]) {
    if (input->encoder == NULL) {
        snprintf(out, DN_FIELD_SIZE, "#%zu", j);
    } else {
        trim(out, DN_FIELD_SIZE, dn_encoder_feature_name(input->encoder, j, out, DN_FIELD_SIZE));
    }
}

void dni_class_name(const dn_fit_input *input, size_t k, char out[DN_FIELD_SIZE]) {
    if (input->class_names == NULL) {
        snprintf(out, DN_FIELD_SIZE, "#%zu", k);
    } else {
        dni_copy_name(input->class_names[k], out);
    }
}

void dni_name_list(const void *ctx, size_t n, dni_namer *name, size_t max_names,
                   char out[DNI_NAMES_SIZE]) {
    char item[DN_FIELD_SIZE];
    size_t length = 0, named = 0, total = 0;
    for (size_t j = 0; j < n; j++) {
        total += name(ctx, j, item);
    }
    out[0] = '\0';
    for (size_t j = 0; j < n && named < max_names && named < total; j++) {
        if (!name(ctx, j, item)) {
            continue;
        }
        if (length + strlen(item) + 40 > DNI_NAMES_SIZE) {
            /* 40 bytes for " and N more" and quotes */
            break;
        }
        length += (size_t)snprintf(out + length, DNI_NAMES_SIZE - length, "%s\"%s\"",
                                   named == 0 ? "" : ", ", item);
        named++;
    }
    if (named < total) {
        snprintf(out + length, DNI_NAMES_SIZE - length, "%s%zu more", named == 0 ? "" : " and ",
                 total - named);
    }
}

struct marked {
    const dn_fit_input *input;
    const bool *marked;
};

static bool name_marked(const void *ctx, size_t j, char out[DN_FIELD_SIZE]) {
    const struct marked *m = ctx;
    if (m->marked[j]) {
        dni_feature_name(m->input, j, out);
    }
    return m->marked[j];
}

void dni_feature_list(const dn_fit_input *input, const bool *marked, size_t max_names,
                      char out[DNI_NAMES_SIZE]) {
    const struct marked m = {input, marked};
    dni_name_list(&m, input->rows->n_cols, name_marked, max_names, out);
}
