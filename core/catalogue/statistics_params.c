/* The choices of the parameter `statistics`. */
#include "catalogue/statistics_params.h"

const char *const dni_statistics_words[] = {"auto", "on", "off", NULL};
const char *const dni_statistics_meanings[] = {
    "on if the statistics take at most 1e9 multiplications, a tenth of a second of one core. n "
    "rows, d features and S scores take about n d^2 (1 + S(S + 1)/2) + (S d)^3 (least_squares: n "
    "d^2 + 3 d^3)",
    "computed", "not computed", NULL};
