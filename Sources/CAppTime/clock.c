// The virtual clock and the functions of libc that read it or wait for it.

#include "internal.h"

#include <errno.h>
#include <link.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>

#define SECOND 1000000000LL

// The real clocks at the start of virtual time. Written before `active` is set.
static int64_t wall_start, monotonic_start, boot_start;
static _Atomic(int64_t) virtual_now;
static _Atomic(bool) active;
static struct app_time_hooks hooks;

typedef int (*clock_gettime_type)(clockid_t, struct timespec *);

static int real_clock_gettime(clockid_t clock, struct timespec *time)
{
    REAL(clock_gettime, clock_gettime_type)
    return real(clock, time);
}

static int64_t read_real(clockid_t clock)
{
    struct timespec time = {0, 0};
    real_clock_gettime(clock, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

static struct timespec timespec_of(int64_t nanoseconds)
{
    int64_t seconds = nanoseconds / SECOND, rest = nanoseconds % SECOND;
    if (rest < 0) {
        rest += SECOND;
        seconds -= 1;
    }
    return (struct timespec){seconds, rest};
}

void *app_time_next_symbol(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    if (symbol == NULL) {
        fprintf(stderr, "virtual time: the function %s has no definition to pass calls to\n", name);
        abort();
    }
    return symbol;
}

// MARK: Libraries

struct range {
    uintptr_t start, end;
};

static struct range ranges[library_foundation + 1];

static int record_range(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    (void)context;
    static const struct {
        const char *name;
        enum library library;
    } names[] = {
        {"/libdispatch.so", library_dispatch},
        {"/libswift_Concurrency.so", library_concurrency},
        {"/libFoundation.so", library_foundation},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strstr(info->dlpi_name, names[i].name) == NULL)
            continue;
        struct range *range = &ranges[names[i].library];
        for (size_t j = 0; j < info->dlpi_phnum; j++) {
            if (info->dlpi_phdr[j].p_type != PT_LOAD)
                continue;
            uintptr_t start = info->dlpi_addr + info->dlpi_phdr[j].p_vaddr;
            uintptr_t end = start + info->dlpi_phdr[j].p_memsz;
            if (range->start == 0 || start < range->start)
                range->start = start;
            if (end > range->end)
                range->end = end;
        }
    }
    return 0;
}

enum library app_time_library_of(const void *address)
{
    uintptr_t value = (uintptr_t)address;
    for (int library = library_dispatch; library <= library_foundation; library++)
        if (value >= ranges[library].start && value < ranges[library].end)
            return (enum library)library;
    return library_other;
}

// MARK: State

void app_time_set_hooks(const struct app_time_hooks *new_hooks)
{
    dl_iterate_phdr(record_range, NULL);
    hooks = *new_hooks;
}

const struct app_time_hooks *app_time_active_hooks(void)
{
    return atomic_load_explicit(&active, memory_order_acquire) ? &hooks : NULL;
}

void app_time_start(int64_t wall_clock)
{
    wall_start = wall_clock < 0 ? read_real(CLOCK_REALTIME) : wall_clock;
    monotonic_start = read_real(CLOCK_MONOTONIC);
    boot_start = read_real(CLOCK_BOOTTIME);
    atomic_store(&virtual_now, 0);
    atomic_store(&active, true);
}

void app_time_stop(void)
{
    atomic_store(&active, false);
}

bool app_time_is_active(void)
{
    return atomic_load_explicit(&active, memory_order_acquire);
}

int64_t app_time_now(void)
{
    return atomic_load_explicit(&virtual_now, memory_order_acquire);
}

void app_time_set_now(int64_t nanoseconds)
{
    atomic_store_explicit(&virtual_now, nanoseconds, memory_order_release);
}

int64_t app_time_real_clock(void)
{
    return read_real(CLOCK_MONOTONIC);
}

// MARK: Clocks

/// Reads a clock in virtual time. Returns false if the clock measures CPU time or does not exist.
static bool read_virtual(clockid_t clock, int64_t *nanoseconds)
{
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
        *nanoseconds = wall_start + app_time_now();
        return true;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_MONOTONIC_RAW:
        *nanoseconds = monotonic_start + app_time_now();
        return true;
    case CLOCK_BOOTTIME:
        *nanoseconds = boot_start + app_time_now();
        return true;
    default:
        return false;
    }
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    int64_t nanoseconds;
    // With a virtual clock, the threads of libdispatch time out at once and are created again.
    if (app_time_is_active() && CALLER() != library_dispatch && read_virtual(clock, &nanoseconds)) {
        *time = timespec_of(nanoseconds);
        return 0;
    }
    return real_clock_gettime(clock, time);
}

int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    if (app_time_is_active() && CALLER() != library_dispatch) {
        struct timespec now = timespec_of(wall_start + app_time_now());
        *time = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
        return 0;
    }
    REAL(gettimeofday, int (*)(struct timeval *, void *))
    return real(time, zone);
}

time_t time(time_t *result)
{
    if (app_time_is_active() && CALLER() != library_dispatch) {
        time_t now = timespec_of(wall_start + app_time_now()).tv_sec;
        if (result != NULL)
            *result = now;
        return now;
    }
    REAL(time, time_t(*)(time_t *))
    return real(result);
}

// MARK: Dispatch time

// The encoding of dispatch_time_t in libdispatch: the uptime clock is a plain count of nanoseconds, the monotonic
// clock has bit 63 set and bit 62 clear, and the wall clock is a negated count of nanoseconds.
#define TIME_FOREVER UINT64_MAX
#define MONOTONIC_NOW (1ULL << 63)
#define WALL_NOW (UINT64_MAX - 1)

static bool is_wall(uint64_t time)
{
    return time >> 62 == 3;
}

int64_t app_time_from_dispatch(uint64_t time)
{
    if (time == TIME_FOREVER)
        return INT64_MAX;
    if (time == 0 || time == MONOTONIC_NOW || time == WALL_NOW)
        return app_time_now();
    if (is_wall(time))
        return -(int64_t)time - wall_start;
    if (time & MONOTONIC_NOW)
        return (int64_t)(time & ~MONOTONIC_NOW) - boot_start;
    return (int64_t)time - monotonic_start;
}

uint64_t dispatch_time(uint64_t when, int64_t delta)
{
    enum library caller = CALLER();
    if (app_time_is_active() && caller != library_dispatch && caller != library_concurrency) {
        if (when == 0)
            when = (uint64_t)(monotonic_start + app_time_now());
        else if (when == MONOTONIC_NOW)
            when = (uint64_t)(boot_start + app_time_now()) | MONOTONIC_NOW;
        else if (when == WALL_NOW)
            when = (uint64_t)-(wall_start + app_time_now());
    }
    REAL(dispatch_time, uint64_t(*)(uint64_t, int64_t))
    return real(when, delta);
}

uint64_t dispatch_walltime(const struct timespec *when, int64_t delta)
{
    enum library caller = CALLER();
    struct timespec now;
    if (when == NULL && app_time_is_active() && caller != library_dispatch && caller != library_concurrency) {
        now = timespec_of(wall_start + app_time_now());
        when = &now;
    }
    REAL(dispatch_walltime, uint64_t(*)(const struct timespec *, int64_t))
    return real(when, delta);
}

// MARK: Timer descriptors

typedef int (*timerfd_settime_type)(int, int, const struct itimerspec *, struct itimerspec *);

static int real_timerfd_settime(int descriptor, int flags, const struct itimerspec *new, struct itimerspec *old)
{
    REAL(timerfd_settime, timerfd_settime_type)
    return real(descriptor, flags, new, old);
}

void app_time_real_timer_descriptor(int descriptor, int64_t nanoseconds, bool wait)
{
    struct itimerspec value = {{0, 0}, timespec_of(nanoseconds < 1 ? 1 : nanoseconds)};
    real_timerfd_settime(descriptor, 0, &value, NULL);
    if (wait) {
        struct pollfd event = {descriptor, POLLIN, 0};
        poll(&event, 1, 1000);
    }
}

int timerfd_settime(int descriptor, int flags, const struct itimerspec *new, struct itimerspec *old)
{
    const struct app_time_hooks *hooks = app_time_active_hooks();
    // Only run loops are virtual. Other users of timer descriptors wait in real time.
    if (hooks == NULL || CALLER() != library_foundation)
        return real_timerfd_settime(descriptor, flags, new, old);
    struct itimerspec disarmed = {{0, 0}, {0, 0}};
    int result = real_timerfd_settime(descriptor, 0, &disarmed, old);
    if (result != 0)
        return result;
    int64_t deadline = new->it_value.tv_sec * SECOND + new->it_value.tv_nsec;
    if (deadline == 0)
        deadline = INT64_MAX;
    else if (flags & TFD_TIMER_ABSTIME)
        deadline -= monotonic_start;
    else
        deadline += app_time_now();
    hooks->timer_descriptor(descriptor, deadline);
    return 0;
}

// MARK: Blocking sleeps

/// Sleeps in virtual time. Returns false if the real function must sleep.
static bool sleep_virtually(int64_t nanoseconds)
{
    const struct app_time_hooks *hooks = app_time_active_hooks();
    return hooks != NULL && nanoseconds > 0 && hooks->sleep(nanoseconds);
}

static int real_nanosleep(const struct timespec *duration, struct timespec *remaining)
{
    REAL(nanosleep, int (*)(const struct timespec *, struct timespec *))
    return real(duration, remaining);
}

void app_time_real_sleep(int64_t nanoseconds)
{
    struct timespec duration = timespec_of(nanoseconds < 0 ? 0 : nanoseconds);
    real_nanosleep(&duration, NULL);
}

int nanosleep(const struct timespec *duration, struct timespec *remaining)
{
    int64_t nanoseconds = duration->tv_sec * SECOND + duration->tv_nsec;
    // Thread.sleep repeats its call until the clock shows the end. Its durations are in floating point, so the last one
    // can be less than 1 ns. A call that did not move the virtual clock would repeat for ever.
    if (nanoseconds == 0)
        nanoseconds = 1;
    if (CALLER() != library_dispatch && sleep_virtually(nanoseconds)) {
        if (remaining != NULL)
            *remaining = (struct timespec){0, 0};
        return 0;
    }
    return real_nanosleep(duration, remaining);
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *remaining)
{
    int64_t nanoseconds = time->tv_sec * SECOND + time->tv_nsec, now;
    if (app_time_is_active() && read_virtual(clock, &now)) {
        if (sleep_virtually(flags & TIMER_ABSTIME ? nanoseconds - now : nanoseconds))
            return 0;
    }
    REAL(clock_nanosleep, int (*)(clockid_t, int, const struct timespec *, struct timespec *))
    return real(clock, flags, time, remaining);
}

int usleep(useconds_t microseconds)
{
    if (sleep_virtually(microseconds * 1000LL))
        return 0;
    REAL(usleep, int (*)(useconds_t))
    return real(microseconds);
}

unsigned sleep(unsigned seconds)
{
    if (sleep_virtually(seconds * SECOND))
        return 0;
    REAL(sleep, unsigned (*)(unsigned))
    return real(seconds);
}
