/* Rules that all public headers share.
 *
 * Linkage: DN_BEGIN_DECLS and DN_END_DECLS enclose the declarations of every header. They set C
 * linkage in C++, and default visibility, because the library is compiled with
 * -fvisibility=hidden. libdiscern.so exports only functions that a public header declares.
 *
 * Structs that may grow: a struct that the caller fills and passes by pointer begins with `size_t
 * struct_size`. The value 0 means the size in version 0.1, so that `{.member = value}` is
 * sufficient. A program that sets members added later sets struct_size to sizeof. A library that
 * is older than the program's headers returns DN_ERR_VERSION. Structs that the library makes
 * (dn_metrics, dn_model, …) may grow at their end: read them through the pointer, never copy them.
 * All other structs (views, dn_train_result, dn_report) keep their layout as long as the SONAME is
 * libdiscern.so.0. New results of functions are reported as dn_detail, by name.
 *
 * Arguments: a pointer must not be NULL unless its description allows NULL. Functions that return
 * a dn_status check this and return DN_ERR_ARGUMENT. */
#ifndef DISCERN_API_H
#define DISCERN_API_H

#if defined(__GNUC__)
#define DN_VISIBLE_PUSH _Pragma("GCC visibility push(default)")
#define DN_VISIBLE_POP _Pragma("GCC visibility pop")
#else
#define DN_VISIBLE_PUSH
#define DN_VISIBLE_POP
#endif

#ifdef __cplusplus
#define DN_BEGIN_DECLS DN_VISIBLE_PUSH extern "C" {
#define DN_END_DECLS                                                                               \
    }                                                                                              \
    DN_VISIBLE_POP
#else
#define DN_BEGIN_DECLS DN_VISIBLE_PUSH
#define DN_END_DECLS DN_VISIBLE_POP
#endif

#endif
