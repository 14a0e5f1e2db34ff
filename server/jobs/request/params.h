/* Parameters of an algorithm as JSON. The algorithm's table is flat; parameters named
 * "kernel.degree" and "kernel.width" are members of the parameter `kernel`, which is an object in
 * JSON: {"type": its own value, "degree": 2}. */
#ifndef JOBS_PARAMS_H
#define JOBS_PARAMS_H

#include "base/json/json_read.h"
#include "base/memory/arena.h"
#include "base/memory/buf.h"
#include <discern/algorithm.h>
#include <stdbool.h>
#include <stdint.h>

#define JOBS_POINTER_SIZE 200

/* Returns the name of the parameter in its object, "degree" of "kernel.degree"; NULL: not a
 * member. */
const char *jobs_param_member(const dn_param *param);
/* Whether `param` is a member of the parameter named `owner`. */
bool jobs_param_belongs(const dn_param *param, const char *owner);
/* Returns the parameter that parameter i of the table is a member of; NULL: not a member. */
const dn_param *jobs_param_owner(const dn_algorithm *algorithm, size_t i);
/* Whether the algorithm's parameter of that name has members. */
bool jobs_param_is_object(const dn_algorithm *algorithm, const char *name);
/* Returns the choices of its owner with which parameter i of the table has an effect: bit k for
 * choice k. 0: none, or no memory. */
uint64_t jobs_param_choices(const dn_algorithm *algorithm, size_t i);
/* Writes the JSON pointer of a parameter in a job's body: "/params/kernel/degree" of
 * "kernel.degree". */
void jobs_param_pointer(const char *name, char out[JOBS_POINTER_SIZE]);

/* Reads the member "algorithm" of an object. Returns NULL after a fault. */
const dn_algorithm *jobs_algorithm_read(const json_t *object, const char *parent,
                                        struct problem *problem);
/* Reads the members "algorithm" and "params" of a job's body. *out: the parameters, which the
 * caller frees; NULL if the algorithm is unknown or there is no memory. Adds every fault to
 * `problem`; *out is complete and checked if there was none. */
void jobs_params_read(const json_t *root, struct arena *arena, dn_params **out,
                      struct problem *problem);
/* Adds an error of the core about a parameter: at err->field, and its item err->row. */
void jobs_params_fault(const dn_error *err, struct problem *problem);
/* Appends the parameters as the JSON object that a client may send: numbers, words, booleans, lists
 * and objects, null for the word that null is converted to. Parameters without effect are left
 * out. */
void jobs_params_write(const dn_params *params, struct buf *out);

#endif
