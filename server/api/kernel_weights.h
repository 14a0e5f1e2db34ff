/* What models of kernel machines have learned, as JSON: the kernel, the support vectors that the machines share, and what each makes of them. */
#ifndef API_KERNEL_WEIGHTS_H
#define API_KERNEL_WEIGHTS_H

#include "base/json_write.h"
#include <discern/discern.h>

/* The support vectors of the model's machines; NULL: they are no kernel machines. */
const dn_support *api_kernel_support(const dn_model *model);
/* Numbers that support vectors and a covariance take. */
double api_kernel_numbers(const dn_model *model);
/* Members of the object that is open in w, of a model with these support vectors. matrices: these and a covariance too. A lack of memory is w->out's failure. */
void api_kernel_write(const dn_support *support, const dn_encoder *encoder, bool matrices,
                      struct json_writer *w);
/* The same of one machine; matrices: its indexes and coefficients. */
void api_kernel_machine_write(const dn_kernel_machine *machine, bool matrices,
                              struct json_writer *w);

#endif
