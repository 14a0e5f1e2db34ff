/* The parameter `statistics` of methods that compute statistics of their weights. */
#ifndef DNI_STATISTICS_PARAMS_H
#define DNI_STATISTICS_PARAMS_H

#include "catalogue/param_rows.h"

extern const char *const dni_statistics_words[];
extern const char *const dni_statistics_meanings[];

#define DNI_PARAM_STATISTICS                                                                       \
    DNI_PARAM_CHOICE("statistics",                                                                 \
                     "Whether the training computes standard errors, confidence intervals, "       \
                     "deviances and variance inflation factors of the weights, for GET "           \
                     "/v1/models/{model}/weights?statistics=true. The weights do not depend on "   \
                     "it. With more than 2000 features no statistics are computed.",               \
                     "auto", dni_statistics_words, dni_statistics_meanings)

#endif
