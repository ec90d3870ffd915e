// What the files of this target share.

#ifndef LOCKSTEP_INTERNAL_H
#define LOCKSTEP_INTERNAL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
// The replaced functions are defined here as the C library has them, not as its headers redirect or inline them.
#undef _FORTIFY_SOURCE
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1
#endif

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>

#include "lockstep_layout.h"
#include "lockstep_system.h"

#pragma GCC visibility push(hidden)

#define SECOND 1000000000LL
#define PUBLIC __attribute__((visibility("default")))

/// The state of the lockstep; NULL outside of one.
extern struct lockstep *ls_state;
/// The number of this process in the lockstep.
extern int ls_process;
/// The number of the calling thread in the lockstep; -1: it is no part of it.
extern __thread int ls_self __attribute__((tls_model("initial-exec")));

/// Joins the lockstep if this process has not done so. Called by the first function that needs it.
void ls_attach(void);

/// True if the calling thread is part of the lockstep.
static inline bool ls_on(void)
{
    if (__builtin_expect(ls_state == NULL, 0))
        ls_attach();
    return ls_self >= 0;
}

/// Sets `errno` for a negative result of a system call.
static inline long ls_result(long result)
{
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

#define SYS1(n, a) lockstep_system(n, (long)(a), 0, 0, 0, 0, 0)
#define SYS2(n, a, b) lockstep_system(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define SYS3(n, a, b, c) lockstep_system(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define SYS4(n, a, b, c, d) lockstep_system(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define SYS5(n, a, b, c, d, e) lockstep_system(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define SYS6(n, a, b, c, d, e, f) \
    lockstep_system(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/// Declares `real`, the C library's definition of a function.
#define REAL(name) \
    static __typeof__(&name) real; \
    if (real == NULL) \
        real = (__typeof__(&name))ls_symbol(#name);
void *ls_symbol(const char *name);

// MARK: Time

static inline int64_t ls_now(void)
{
    return ls_state->now;
}

/// The time that a clock shows at the start. Returns false for clocks that do not follow the time.
bool ls_clock_start(clockid_t clock, int64_t *start);

static inline int64_t ls_nanoseconds(const struct timespec *time)
{
    if (time->tv_sec > INT64_MAX / SECOND / 4)
        return LOCKSTEP_NEVER / 2;
    return time->tv_sec * SECOND + time->tv_nsec;
}

static inline struct timespec ls_timespec(int64_t nanoseconds)
{
    return (struct timespec){nanoseconds / SECOND, nanoseconds % SECOND};
}

/// The deadline after a duration; a negative duration never ends.
static inline int64_t ls_after(int64_t duration)
{
    if (duration < 0 || duration >= LOCKSTEP_NEVER / 4)
        return LOCKSTEP_NEVER;
    return ls_state->now + duration;
}

/// The deadline at which a clock shows a time.
int64_t ls_deadline(clockid_t clock, const struct timespec *time);

// MARK: Waits

/// A wait of the calling thread, which repeats a check.
struct ls_wait {
    const char *call;
    int64_t deadline;
    /// True if the call goes on after a signal whose handler allows it.
    bool restarts;
    /// True after the first wait.
    bool has_waited;
};

enum ls_wake { ls_woken, ls_interrupted };

/// Waits until the check should be repeated: after other threads have run, a wake, or the deadline.
enum ls_wake ls_wait_again(struct ls_wait *wait);
/// Waits for a wake or the deadline; not for other threads.
enum ls_wake ls_wait_for_wake(struct ls_wait *wait);
static inline bool ls_is_over(const struct ls_wait *wait)
{
    return wait->deadline <= ls_state->now;
}
/// Counts a call that returns at once. A thread that polls a clock or a descriptor in a loop moves the time at last.
void ls_spin(void);

/// Waits until a descriptor is ready, for a call that blocks. Returns 0 if the call can be made, or a negated `errno`.
int ls_await_descriptor(int descriptor, short events, const char *call);
/// Waits until a descriptor is ready, or until a deadline.
int ls_await_until(int descriptor, short events, int64_t deadline, const char *call);

// MARK: Timers

/// The deadline of the earliest timer of this process, apart from waits.
int64_t ls_timer_deadline(void);
/// Makes the descriptors of timers readable that are due, and raises the signals of the others.
void ls_fire_timers(void);
/// True if a timer has this descriptor. Then `count` is the number of expirations, or a negated `errno`.
bool ls_read_timer(int descriptor, int64_t *count);
void ls_forget_timer(int descriptor);
void ls_timers_forked(void);

// MARK: Signals

/// Calls the handlers of signals that have come. Returns true if the wait ends with EINTR.
bool ls_deliver_signals(bool restarts);
/// Gives a process of the lockstep a signal.
void ls_send_signal(int process, int number);
/// Raises a signal in the calling thread.
void ls_raise(int number);

// MARK: Processes

/// The numbers of processes that programs see.
enum { ls_first_pid = 5000000 };
/// The number of the system for a number that a program uses.
int32_t ls_system_pid(int32_t pid);
/// The number that a program uses for one of the system.
int32_t ls_program_pid(int32_t pid);
void ls_message(const char *format, ...) __attribute__((format(printf, 1, 2)));
/// Writes a message at its first use in a process.
#define MESSAGE_ONCE(...) \
    do { \
        static bool has_said; \
        if (!has_said) \
            ls_message(__VA_ARGS__); \
        has_said = true; \
    } while (0)
// Functions that the headers of some versions of the C library lack.
struct epoll_event;
PUBLIC int pidfd_open(pid_t pid, unsigned flags);
PUBLIC int epoll_pwait2(
    int epoll, struct epoll_event *events, int count, const struct timespec *time, const sigset_t *mask);
/// The folder of the lockstep's sockets.
const char *ls_folder(void);
/// Waits for the end of the calling thread, as the thread's last step.
void ls_thread_forked(void);

/// Answers the futex system call. Returns false for operations that the system must do.
bool ls_futex(const long *arguments, long *result);

// MARK: Descriptors

enum ls_descriptor_kind { ls_plain, ls_inet4, ls_inet6, ls_random, ls_timer };
enum { ls_max_descriptors = 16384 };
extern uint8_t ls_kinds[ls_max_descriptors];
static inline int ls_kind(int descriptor)
{
    return descriptor >= 0 && descriptor < ls_max_descriptors ? ls_kinds[descriptor] : ls_plain;
}
static inline void ls_set_kind(int descriptor, int kind)
{
    if (descriptor >= 0 && descriptor < ls_max_descriptors)
        ls_kinds[descriptor] = (uint8_t)kind;
}
void ls_fill_random(void *octets, size_t count);

#pragma GCC visibility pop

#endif
