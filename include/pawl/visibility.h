/*
 * visibility.h - what the compiler has to know about a public declaration
 */
#ifndef PAWL_VISIBILITY_H
#define PAWL_VISIBILITY_H

#ifdef __cplusplus
#define PAWL_BEGIN_DECLS extern "C" {
#define PAWL_END_DECLS   }
#else
#define PAWL_BEGIN_DECLS
#define PAWL_END_DECLS
#endif

#if defined(__GNUC__)
#define PAWL_API              __attribute__((visibility("default")))
#define PAWL_PRINTF(fmt, arg) __attribute__((format(printf, fmt, arg)))
#else
#define PAWL_API
#define PAWL_PRINTF(fmt, arg)
#endif

#endif
