/* Linkage of the public declarations. DN_BEGIN_DECLS and DN_END_DECLS enclose them in every header:
 * C linkage in C++, and default visibility, since the library is compiled with -fvisibility=hidden.
 * A function that no public header declares is not exported by libdiscern.so. */
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
