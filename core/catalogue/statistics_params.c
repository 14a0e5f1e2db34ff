/* The words of the parameter `statistics`. */
#include "catalogue/statistics_params.h"

const char *const dni_statistics_words[] = {"auto", "on", "off", NULL};
const char *const dni_statistics_meanings[] = {
    "on if they take at most 5e9 multiplications, about n d^2 S(S + 1)/2 + (S d)^3 for n rows, d "
    "features and S scores: below half a second of one core",
    "computed", "not computed", NULL};
