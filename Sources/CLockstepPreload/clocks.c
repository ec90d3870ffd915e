// Clocks and sleeps.

#include "internal.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <sys/times.h>
#include <threads.h>
#include <unistd.h>

#ifdef __GLIBC__
typedef __rusage_who_t usage_of;
#else
typedef int usage_of;
#endif

bool ls_clock_start(clockid_t clock, int64_t *start)
{
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
    case CLOCK_REALTIME_ALARM:
        *start = ls_state->wall_start;
        return true;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_BOOTTIME:
    case CLOCK_BOOTTIME_ALARM:
        *start = ls_state->monotonic_start;
        return true;
    default:
        return false;
    }
}

int64_t ls_deadline(clockid_t clock, const struct timespec *time)
{
    int64_t start, nanoseconds = ls_nanoseconds(time);
    if (nanoseconds >= LOCKSTEP_NEVER / 4 || !ls_clock_start(clock, &start))
        return LOCKSTEP_NEVER;
    return nanoseconds - start;
}

// MARK: Clocks

// Processor time counts as the lockstep's time: it is never the same in two runs.
static bool read_clock(clockid_t clock, struct timespec *time)
{
    int64_t start;
    if (!ls_on())
        return false;
    if (!ls_clock_start(clock, &start)) {
        // Negative numbers are the clocks of other processes and threads.
        if (clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID && clock >= 0)
            return false;
        start = 0;
    }
    ls_spin();
    *time = ls_timespec(start + ls_now());
    return true;
}

PUBLIC int clock_gettime(clockid_t clock, struct timespec *time)
{
    return read_clock(clock, time) ? 0 : (int)ls_result(SYS2(SYS_clock_gettime, clock, time));
}

PUBLIC int timespec_get(struct timespec *time, int base)
{
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

PUBLIC int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

PUBLIC time_t time(time_t *result)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result != NULL)
        *result = now.tv_sec;
    return now.tv_sec;
}

PUBLIC int ftime(struct timeb *result)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    *result = (struct timeb){.time = now.tv_sec, .millitm = (unsigned short)(now.tv_nsec / 1000000)};
    return 0;
}

PUBLIC clock_t clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * CLOCKS_PER_SEC + now.tv_nsec / (SECOND / CLOCKS_PER_SEC);
}

PUBLIC clock_t times(struct tms *result)
{
    if (!ls_on())
        return (clock_t)ls_result(SYS1(SYS_times, result));
    ls_spin();
    clock_t now = ls_now() / (SECOND / sysconf(_SC_CLK_TCK));
    if (result != NULL)
        *result = (struct tms){.tms_utime = now};
    return now;
}

PUBLIC int getrusage(usage_of who, struct rusage *result)
{
    long problem = SYS2(SYS_getrusage, who, result);
    if (problem != 0 || !ls_on())
        return (int)ls_result(problem);
    ls_spin();
    struct timespec now = ls_timespec(who == RUSAGE_CHILDREN ? 0 : ls_now());
    *result = (struct rusage){.ru_utime = {now.tv_sec, now.tv_nsec / 1000}, .ru_maxrss = result->ru_maxrss};
    return 0;
}

// The clocks of the machine are not those of the programs.

PUBLIC int clock_settime(clockid_t clock, const struct timespec *time)
{
    return (int)ls_result(ls_on() ? -EPERM : SYS2(SYS_clock_settime, clock, time));
}

PUBLIC int settimeofday(const struct timeval *time, const struct timezone *zone)
{
    return (int)ls_result(ls_on() ? -EPERM : SYS2(SYS_settimeofday, time, zone));
}

// MARK: Sleeps

/// Sleeps until a deadline. Returns false if a signal ended the sleep.
static bool sleep_until(int64_t deadline, const char *call)
{
    struct ls_wait wait = {call, deadline, false, false};
    if (ls_is_over(&wait)) {
        ls_spin();
        lockstep_yield(ls_state, ls_self);
        return true;
    }
    while (!ls_is_over(&wait))
        if (ls_wait_for_wake(&wait) == ls_interrupted)
            return false;
    return true;
}

static bool is_valid(const struct timespec *time)
{
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < SECOND;
}

static int sleep_on(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest, const char *call)
{
    int64_t start;
    if (!is_valid(time) || !ls_clock_start(clock, &start))
        return EINVAL;
    int64_t deadline = flags & TIMER_ABSTIME ? ls_deadline(clock, time) : ls_after(ls_nanoseconds(time));
    if (sleep_until(deadline, call))
        return 0;
    if (rest != NULL && !(flags & TIMER_ABSTIME))
        *rest = ls_timespec(deadline > ls_now() ? deadline - ls_now() : 0);
    return EINTR;
}

PUBLIC int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *rest)
{
    if (!ls_on())
        return (int)-SYS4(SYS_clock_nanosleep, clock, flags, time, rest);
    return sleep_on(clock, flags, time, rest, "clock_nanosleep");
}

PUBLIC int nanosleep(const struct timespec *time, struct timespec *rest)
{
    if (!ls_on())
        return (int)ls_result(SYS2(SYS_nanosleep, time, rest));
    int problem = sleep_on(CLOCK_MONOTONIC, 0, time, rest, "nanosleep");
    if (problem == 0)
        return 0;
    errno = problem;
    return -1;
}

PUBLIC int thrd_sleep(const struct timespec *time, struct timespec *rest)
{
    return nanosleep(time, rest) == 0 ? 0 : errno == EINTR ? -1 : -2;
}

PUBLIC int usleep(useconds_t microseconds)
{
    struct timespec time = ls_timespec(microseconds * 1000LL);
    return nanosleep(&time, NULL);
}

PUBLIC unsigned sleep(unsigned seconds)
{
    struct timespec time = {seconds, 0}, rest = {0, 0};
    return nanosleep(&time, &rest) == 0 ? 0 : (unsigned)(rest.tv_sec + (rest.tv_nsec > 0));
}

PUBLIC int sched_yield(void)
{
    if (!ls_on())
        return (int)ls_result(SYS1(SYS_sched_yield, 0));
    ls_spin();
    lockstep_yield(ls_state, ls_self);
    return 0;
}

PUBLIC void thrd_yield(void)
{
    sched_yield();
}
