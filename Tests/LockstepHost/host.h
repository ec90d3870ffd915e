// What the files of this program share.

#ifndef LOCKSTEP_HOST_H
#define LOCKSTEP_HOST_H

#include <stdint.h>
#include <time.h>

/// A call that waits, by its name.
struct row {
    const char *name;
    long (*call)(void);
};

#define ROW(name) {#name, do_##name}

/// The calls in `more.c` and `processes.c`; the last one has no name.
extern const struct row more_rows[], process_rows[];

/// The time of each wait: 1.5 s.
extern const struct timespec duration;
/// Nanoseconds of the clock that only moves forward.
int64_t now(void);
/// The time of a clock after some nanoseconds.
struct timespec later(clockid_t clock, int64_t nanoseconds);
/// Runs `work` on another thread after 1.5 s, while `body` waits. Returns the result of `body`.
long beside(void (*work)(void), long (*body)(void));

#endif
