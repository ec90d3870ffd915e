// Timers: descriptors, alarms, interval timers and POSIX timers.

#include "internal.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { max_timers = 256 };

struct timer {
    bool is_used;
    /// The descriptor; -1 for a timer that raises a signal.
    int descriptor;
    int signal;
    clockid_t clock;
    int64_t deadline, interval;
    /// True if the system's timer has been set to make the descriptor readable.
    bool is_readable;
    uint64_t expirations;
    struct sigevent event;
};

// The first one is that of `alarm` and ITIMER_REAL.
static struct timer timers[max_timers] = {
    {.is_used = true, .descriptor = -1, .signal = SIGALRM, .clock = CLOCK_MONOTONIC, .deadline = LOCKSTEP_NEVER},
};

static struct timer *new_timer(void)
{
    for (int i = 1; i < max_timers; i++)
        if (!timers[i].is_used) {
            timers[i] = (struct timer){
                .is_used = true, .descriptor = -1, .clock = CLOCK_MONOTONIC, .deadline = LOCKSTEP_NEVER};
            return &timers[i];
        }
    ls_message("can't create another timer: a process has %d at most", max_timers);
    return NULL;
}

static struct timer *timer_of(int descriptor)
{
    for (int i = 1; i < max_timers && ls_kind(descriptor) == ls_timer; i++)
        if (timers[i].is_used && timers[i].descriptor == descriptor)
            return &timers[i];
    return NULL;
}

int64_t ls_timer_deadline(void)
{
    int64_t earliest = LOCKSTEP_NEVER;
    for (int i = 0; i < max_timers; i++)
        if (timers[i].is_used && timers[i].deadline < earliest)
            earliest = timers[i].deadline;
    return earliest;
}

void ls_forget_timer(int descriptor)
{
    struct timer *timer = timer_of(descriptor);
    if (timer != NULL)
        timer->is_used = false;
}

/// A child process has no timers that raise signals; it shares the descriptors.
void ls_timers_forked(void)
{
    for (int i = 0; i < max_timers; i++)
        if (timers[i].descriptor < 0)
            timers[i].deadline = LOCKSTEP_NEVER;
}

/// Sets the system's timer: to make the descriptor readable, or not.
static void set_readable(struct timer *timer, bool is_readable)
{
    struct itimerspec value = {{0, 0}, {0, is_readable ? 1 : 0}};
    timer->is_readable = is_readable;
    SYS4(SYS_timerfd_settime, timer->descriptor, 0, &value, NULL);
    if (!is_readable)
        return;
    struct pollfd event = {timer->descriptor, POLLIN, 0};
    struct timespec limit = {1, 0};
    SYS5(SYS_ppoll, &event, 1, &limit, NULL, 8);
}

static void run_in_thread(union sigval value, void (*function)(union sigval))
{
    function(value);
}

static void expire(struct timer *timer)
{
    if (timer->interval > 0) {
        int64_t count = (ls_now() - timer->deadline) / timer->interval + 1;
        timer->expirations += (uint64_t)count;
        timer->deadline += count * timer->interval;
    } else {
        timer->expirations++;
        timer->deadline = LOCKSTEP_NEVER;
    }
    if (timer->descriptor >= 0) {
        if (!timer->is_readable)
            set_readable(timer, true);
    } else if (timer->event.sigev_notify == SIGEV_THREAD) {
        run_in_thread(timer->event.sigev_value, timer->event.sigev_notify_function);
    } else if (timer->event.sigev_notify != SIGEV_NONE) {
        ls_send_signal(ls_process, timer->signal);
    }
}

void ls_fire_timers(void)
{
    for (int i = 0; i < max_timers; i++)
        if (timers[i].is_used && timers[i].deadline <= ls_now())
            expire(&timers[i]);
}

static void set_timer(struct timer *timer, bool is_absolute, const struct itimerspec *value)
{
    timer->interval = ls_nanoseconds(&value->it_interval);
    timer->expirations = 0;
    if (value->it_value.tv_sec == 0 && value->it_value.tv_nsec == 0)
        timer->deadline = LOCKSTEP_NEVER;
    else if (is_absolute)
        timer->deadline = ls_deadline(timer->clock, &value->it_value);
    else
        timer->deadline = ls_after(ls_nanoseconds(&value->it_value));
}

static void get_timer(const struct timer *timer, struct itimerspec *value)
{
    int64_t rest = timer->deadline == LOCKSTEP_NEVER ? 0 : timer->deadline - ls_now();
    *value = (struct itimerspec){ls_timespec(timer->interval), ls_timespec(rest < 0 ? 0 : rest)};
}

// MARK: Descriptors

PUBLIC int timerfd_create(clockid_t clock, int flags)
{
    int descriptor = (int)ls_result(SYS2(SYS_timerfd_create, clock, flags));
    if (descriptor < 0 || !ls_on())
        return descriptor;
    struct timer *timer = descriptor < ls_max_descriptors ? new_timer() : NULL;
    if (timer == NULL) {
        close(descriptor);
        return (int)ls_result(-EMFILE);
    }
    timer->descriptor = descriptor;
    timer->clock = clock;
    ls_set_kind(descriptor, ls_timer);
    return descriptor;
}

PUBLIC int timerfd_settime(int descriptor, int flags, const struct itimerspec *value, struct itimerspec *old)
{
    struct timer *timer = ls_on() ? timer_of(descriptor) : NULL;
    if (timer == NULL)
        return (int)ls_result(SYS4(SYS_timerfd_settime, descriptor, flags, value, old));
    if (old != NULL)
        get_timer(timer, old);
    set_readable(timer, false);
    set_timer(timer, flags & TFD_TIMER_ABSTIME, value);
    if (timer->deadline <= ls_now())
        expire(timer);
    return 0;
}

PUBLIC int timerfd_gettime(int descriptor, struct itimerspec *value)
{
    struct timer *timer = ls_on() ? timer_of(descriptor) : NULL;
    if (timer == NULL)
        return (int)ls_result(SYS2(SYS_timerfd_gettime, descriptor, value));
    get_timer(timer, value);
    return 0;
}

bool ls_read_timer(int descriptor, int64_t *count)
{
    struct timer *timer = timer_of(descriptor);
    if (timer == NULL)
        return false;
    *count = timer->expirations > 0 ? (int64_t)timer->expirations : -EAGAIN;
    if (timer->expirations > 0) {
        timer->expirations = 0;
        set_readable(timer, false);
    }
    return true;
}

// MARK: Alarms

#ifdef __GLIBC__
typedef __itimer_which_t itimer_which;
#else
typedef int itimer_which;
#endif

PUBLIC int setitimer(itimer_which which, const struct itimerval *value, struct itimerval *old)
{
    if (ls_on() && which != ITIMER_REAL)
        MESSAGE_ONCE("a timer of processor time follows the processor, not the time");
    if (!ls_on() || which != ITIMER_REAL)
        return (int)ls_result(SYS3(SYS_setitimer, which, value, old));
    struct itimerspec now;
    get_timer(&timers[0], &now);
    if (old != NULL)
        *old = (struct itimerval){{now.it_interval.tv_sec, now.it_interval.tv_nsec / 1000},
                                  {now.it_value.tv_sec, now.it_value.tv_nsec / 1000}};
    if (value != NULL) {
        struct itimerspec copy = {{value->it_interval.tv_sec, value->it_interval.tv_usec * 1000},
                                  {value->it_value.tv_sec, value->it_value.tv_usec * 1000}};
        set_timer(&timers[0], false, &copy);
    }
    return 0;
}

PUBLIC int getitimer(itimer_which which, struct itimerval *value)
{
    if (!ls_on() || which != ITIMER_REAL)
        return (int)ls_result(SYS2(SYS_getitimer, which, value));
    return setitimer(which, NULL, value);
}

PUBLIC unsigned alarm(unsigned seconds)
{
    struct itimerval value = {{0, 0}, {seconds, 0}}, old = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &value, &old);
    return (unsigned)(old.it_value.tv_sec + (old.it_value.tv_usec > 0));
}

PUBLIC useconds_t ualarm(useconds_t value, useconds_t interval)
{
    struct itimerval new = {{interval / 1000000, interval % 1000000}, {value / 1000000, value % 1000000}};
    struct itimerval old = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &new, &old);
    return (useconds_t)(old.it_value.tv_sec * 1000000 + old.it_value.tv_usec);
}

// MARK: POSIX timers

static struct timer *posix_timer(timer_t identifier)
{
    intptr_t index = (intptr_t)identifier;
    return index > 0 && index < max_timers && timers[index].is_used ? &timers[index] : NULL;
}

PUBLIC int timer_create(clockid_t clock, struct sigevent *event, timer_t *identifier)
{
    REAL(timer_create)
    int64_t start;
    if (ls_on() && !ls_clock_start(clock, &start))
        MESSAGE_ONCE("a timer of processor time follows the processor, not the time");
    if (!ls_on() || !ls_clock_start(clock, &start))
        return real(clock, event, identifier);
    struct timer *timer = new_timer();
    if (timer == NULL)
        return (int)ls_result(-EAGAIN);
    timer->clock = clock;
    if (event != NULL)
        timer->event = *event;
    timer->signal = event != NULL && event->sigev_notify == SIGEV_SIGNAL ? event->sigev_signo : SIGALRM;
    *identifier = (timer_t)(timer - timers);
    return 0;
}

PUBLIC int timer_settime(timer_t identifier, int flags, const struct itimerspec *value, struct itimerspec *old)
{
    REAL(timer_settime)
    struct timer *timer = ls_on() ? posix_timer(identifier) : NULL;
    if (timer == NULL)
        return real(identifier, flags, value, old);
    if (old != NULL)
        get_timer(timer, old);
    set_timer(timer, flags & TIMER_ABSTIME, value);
    return 0;
}

PUBLIC int timer_gettime(timer_t identifier, struct itimerspec *value)
{
    REAL(timer_gettime)
    struct timer *timer = ls_on() ? posix_timer(identifier) : NULL;
    if (timer == NULL)
        return real(identifier, value);
    get_timer(timer, value);
    return 0;
}

PUBLIC int timer_getoverrun(timer_t identifier)
{
    REAL(timer_getoverrun)
    return ls_on() && posix_timer(identifier) != NULL ? 0 : real(identifier);
}

PUBLIC int timer_delete(timer_t identifier)
{
    REAL(timer_delete)
    struct timer *timer = ls_on() ? posix_timer(identifier) : NULL;
    if (timer == NULL)
        return real(identifier);
    timer->is_used = false;
    return 0;
}
