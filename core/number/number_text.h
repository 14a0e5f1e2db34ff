/* Numbers in messages. */
#ifndef DNI_NUMBER_TEXT_H
#define DNI_NUMBER_TEXT_H

#include <discern/number.h>
#include <math.h>
#include <stdio.h>

/* Writes the shortest text that is parsed to the same number; "nan", "inf" or "-inf" if it is not
 * finite. Returns out. */
static inline const char *dni_number_text(double value, char out[DN_NUMBER_SIZE]) {
    if (isfinite(value)) {
        dn_number_format(value, out);
    } else {
        (void)snprintf(out, DN_NUMBER_SIZE, "%g", value);
    }
    return out;
}

#endif
