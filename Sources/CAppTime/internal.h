#ifndef C_APP_TIME_INTERNAL_H
#define C_APP_TIME_INTERNAL_H

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include "CAppTime.h"

/// The libraries whose calls are treated differently.
enum library { library_other, library_dispatch, library_concurrency, library_foundation };

/// The library that contains a return address.
enum library app_time_library_of(const void *address);

/// The hooks while virtual time is active, otherwise NULL.
const struct app_time_hooks *app_time_active_hooks(void);

/// Converts a `dispatch_time_t` to nanoseconds of virtual time. INT64_MAX means never.
int64_t app_time_from_dispatch(uint64_t time);

/// Returns the next definition of a symbol after this executable's own. Aborts if there is none.
void *app_time_next_symbol(const char *name);

#define CALLER() app_time_library_of(__builtin_return_address(0))

/// Declares `real` as a pointer to the real function of the given name and type. The pointer is resolved once.
#define REAL(name, ...)                                                                                               \
    typedef __typeof__(__VA_ARGS__) real_type;                                                                        \
    static _Atomic(real_type) cached;                                                                                 \
    real_type real = atomic_load_explicit(&cached, memory_order_acquire);                                             \
    if (real == NULL) {                                                                                               \
        real = (real_type)app_time_next_symbol(#name);                                                                \
        atomic_store_explicit(&cached, real, memory_order_release);                                                   \
    }

#endif
