/* Classes in ascending order: numbers by value, strings by bytes. */
#include "model/classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool dni_classes_numeric(dn_column_type type) {
    return type == DN_NUMERIC || type == DN_BOOLEAN;
}

static dn_status refuse(dn_error *err) {
    return dn_error_set(err, DN_ERR_CORRUPT, "the classes are not in ascending order");
}

dn_status dni_classes_from_numbers(dn_column_type type, const double *number, size_t n,
                                   dni_classes *out, dn_error *err) {
    dni_classes classes = {0};
    for (size_t k = 0; k < n; k++) {
        if (!isfinite(number[k]) || (k > 0 && !(number[k] > number[k - 1])) ||
            (type == DN_BOOLEAN && number[k] != 0 && number[k] != 1)) {
            return refuse(err);
        }
    }
    classes.number = malloc((n + 1) * sizeof *number);
    if (classes.number == NULL) {
        return dn_error_set(err, DN_ERR_MEMORY, "no memory for %zu classes", n);
    }
    for (size_t k = 0; k < n; k++) {
        char text[DN_NUMBER_SIZE];
        size_t length;
        uint32_t index;
        classes.number[k] = number[k];
        if (type == DN_BOOLEAN) {
            length = number[k] == 0 ? 5 : 4;
            memcpy(text, number[k] == 0 ? "false" : "true", length);
        } else {
            length = dn_number_format(number[k], text);
        }
        dn_status status = dni_string_set_add(&classes.names, text, length, &index, err);
        if (status != DN_OK) {
            dni_classes_done(&classes);
            return status;
        }
    }
    classes.view = (dn_classes){type, n, classes.number, dni_string_set_view(&classes.names)};
    *out = classes;
    return DN_OK;
}

/* Compares strings by byte value; a prefix precedes the longer string. Returns < 0, 0 or > 0. */
static int compare(const dn_strings *strings, size_t i, size_t j) {
    size_t a = strings->start[i + 1] - strings->start[i],
           b = strings->start[j + 1] - strings->start[j];
    size_t shorter = a < b ? a : b; /* if 0, `bytes` may be NULL */
    int order = shorter > 0 ? memcmp(strings->bytes + strings->start[i],
                                     strings->bytes + strings->start[j], shorter)
                            : 0;
    return order != 0 ? order : (a > b) - (a < b);
}

dn_status dni_classes_from_strings(dn_column_type type, dn_strings names, dni_classes *out,
                                   dn_error *err) {
    dni_classes classes = {0};
    for (size_t k = 1; k < names.n; k++) {
        if (compare(&names, k - 1, k) >= 0) {
            return refuse(err);
        }
    }
    for (size_t k = 0; k < names.n; k++) {
        uint32_t index;
        dn_status status = dni_string_set_add(&classes.names, names.bytes + names.start[k],
                                              names.start[k + 1] - names.start[k], &index, err);
        if (status != DN_OK) {
            dni_classes_done(&classes);
            return status;
        }
    }
    classes.view = (dn_classes){type, names.n, NULL, dni_string_set_view(&classes.names)};
    *out = classes;
    return DN_OK;
}

dn_status dni_classes_copy(const dni_classes *classes, dni_classes *out, dn_error *err) {
    const dn_classes *view = &classes->view;
    return classes->number != NULL
               ? dni_classes_from_numbers(view->type, view->number, view->n, out, err)
               : dni_classes_from_strings(view->type, view->names, out, err);
}

bool dni_classes_equal(const dn_classes *a, const dn_classes *b) {
    const dn_strings *x = &a->names, *y = &b->names;
    return a->n == b->n && (a->number == NULL) == (b->number == NULL) &&
           memcmp(x->start, y->start, (a->n + 1) * sizeof *x->start) == 0 &&
           memcmp(x->bytes, y->bytes, x->start[a->n]) == 0;
}

void dni_classes_done(dni_classes *classes) {
    free(classes->number);
    dni_string_set_done(&classes->names);
    *classes = (dni_classes){0};
}

size_t dni_classes_find_number(const dni_classes *classes, double number) {
    size_t low = 0, high = classes->number == NULL ? 0 : classes->view.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (classes->number[middle] < number) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return classes->number != NULL && low < classes->view.n && classes->number[low] == number
               ? low
               : SIZE_MAX;
}

size_t dni_classes_find_text(const dni_classes *classes, const char *text, size_t length) {
    uint32_t index = classes->number != NULL ? DNI_NO_STRING
                                             : dni_string_set_find(&classes->names, text, length);
    return index == DNI_NO_STRING ? SIZE_MAX : index;
}
