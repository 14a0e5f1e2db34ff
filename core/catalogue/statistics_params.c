/* The words of the parameter `statistics`. */
#include "catalogue/statistics_params.h"

const char *const dni_statistics_words[] = {"auto", "on", "off", NULL};
const char *const dni_statistics_meanings[] = {
    "on if they take at most 1e9 multiplications, about n d^2 (1 + S(S + 1)/2) + (S d)^3 for n "
    "rows, "
    "d features and S scores (least_squares: n d^2 + 3 d^3): a tenth of a second of one core",
    "computed", "not computed", NULL};
