// Waits in general, and waits for descriptors.

#include "internal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/// A thread that has made `spin_calls` calls without waiting waits for `spin_time`, because it may wait for the time,
/// and from then on after each `next_spin_calls` calls, until it waits for something else.
enum { spin_calls = 20000, next_spin_calls = 100, spin_time = 50000 };
static __thread int spins __attribute__((tls_model("initial-exec")));

static enum ls_wake wait_once(struct ls_wait *wait, bool polls)
{
    int64_t timer = ls_timer_deadline();
    spins = 0;
    lockstep_wait(
        ls_state, ls_self, wait->call, timer < wait->deadline ? timer : wait->deadline, polls, !wait->has_waited);
    wait->has_waited = true;
    ls_fire_timers();
    return ls_deliver_signals(wait->restarts) ? ls_interrupted : ls_woken;
}

enum ls_wake ls_wait_again(struct ls_wait *wait)
{
    return wait_once(wait, true);
}

enum ls_wake ls_wait_for_wake(struct ls_wait *wait)
{
    return wait_once(wait, false);
}

void ls_spin(void)
{
    if (++spins < spin_calls)
        return;
    struct ls_wait wait = {"a loop of calls that do not wait", ls_now() + spin_time, true, false};
    while (!ls_is_over(&wait))
        ls_wait_for_wake(&wait);
    spins = spin_calls - next_spin_calls;
}

// MARK: poll, select, epoll

static const struct timespec no_time = {0, 0};

static int poll_now(struct pollfd *events, nfds_t count, const sigset_t *mask)
{
    struct timespec none = no_time;
    return (int)SYS5(SYS_ppoll, events, count, &none, mask, 8);
}

static int poll_until(struct pollfd *events, nfds_t count, int64_t deadline, const sigset_t *mask, const char *call)
{
    struct ls_wait wait = {call, deadline, false, false};
    for (;;) {
        int result = poll_now(events, count, mask);
        if (result != 0 || ls_is_over(&wait)) {
            if (!wait.has_waited && result == 0)
                ls_spin();
            return (int)ls_result(result);
        }
        if (ls_wait_again(&wait) == ls_interrupted)
            return (int)ls_result(-EINTR);
    }
}

PUBLIC int poll(struct pollfd *events, nfds_t count, int milliseconds)
{
    if (!ls_on()) {
        struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
        return (int)ls_result(SYS5(SYS_ppoll, events, count, milliseconds < 0 ? NULL : &time, NULL, 8));
    }
    return poll_until(events, count, ls_after(milliseconds * 1000000LL), NULL, "poll");
}

PUBLIC int ppoll(struct pollfd *events, nfds_t count, const struct timespec *time, const sigset_t *mask)
{
    if (!ls_on()) {
        struct timespec copy = time != NULL ? *time : no_time;
        return (int)ls_result(SYS5(SYS_ppoll, events, count, time != NULL ? &copy : NULL, mask, 8));
    }
    return poll_until(events, count, ls_after(time != NULL ? ls_nanoseconds(time) : -1), mask, "ppoll");
}

PUBLIC int __poll_chk(struct pollfd *events, nfds_t count, int milliseconds, size_t size)
{
    (void)size;
    return poll(events, count, milliseconds);
}

PUBLIC int __ppoll_chk(
    struct pollfd *events, nfds_t count, const struct timespec *time, const sigset_t *mask, size_t size)
{
    (void)size;
    return ppoll(events, count, time, mask);
}

struct mask_argument {
    const sigset_t *mask;
    size_t size;
};

static long select_raw(int count, fd_set *r, fd_set *w, fd_set *e, struct timespec *time, const sigset_t *mask)
{
    struct mask_argument argument = {mask, 8};
    return SYS6(SYS_pselect6, count, r, w, e, time, &argument);
}

static void copy_set(fd_set *to, const fd_set *from, int count)
{
    if (to != NULL)
        __builtin_memcpy(to, from, (size_t)(count + 63) / 64 * 8);
}

static int select_until(
    int count, fd_set *r, fd_set *w, fd_set *e, int64_t deadline, const sigset_t *mask, const char *call)
{
    struct ls_wait wait = {call, deadline, false, false};
    fd_set sets[3];
    if (count > FD_SETSIZE)
        return (int)ls_result(-EINVAL);
    copy_set(r != NULL ? &sets[0] : NULL, r, count);
    copy_set(w != NULL ? &sets[1] : NULL, w, count);
    copy_set(e != NULL ? &sets[2] : NULL, e, count);
    for (;;) {
        struct timespec none = no_time;
        copy_set(r, &sets[0], count);
        copy_set(w, &sets[1], count);
        copy_set(e, &sets[2], count);
        long result = select_raw(count, r, w, e, &none, mask);
        if (result != 0 || ls_is_over(&wait)) {
            if (!wait.has_waited && result == 0)
                ls_spin();
            return (int)ls_result(result);
        }
        if (ls_wait_again(&wait) == ls_interrupted)
            return (int)ls_result(-EINTR);
    }
}

PUBLIC int select(int count, fd_set *r, fd_set *w, fd_set *e, struct timeval *time)
{
    int64_t duration = time != NULL ? time->tv_sec * SECOND + time->tv_usec * 1000 : -1;
    if (!ls_on()) {
        struct timespec limit = {time != NULL ? time->tv_sec : 0, time != NULL ? time->tv_usec * 1000 : 0};
        return (int)ls_result(select_raw(count, r, w, e, time != NULL ? &limit : NULL, NULL));
    }
    int64_t deadline = ls_after(duration);
    int result = select_until(count, r, w, e, deadline, NULL, "select");
    if (time != NULL) {
        int64_t rest = deadline > ls_now() ? deadline - ls_now() : 0;
        *time = (struct timeval){rest / SECOND, rest % SECOND / 1000};
    }
    return result;
}

PUBLIC int pselect(
    int count, fd_set *r, fd_set *w, fd_set *e, const struct timespec *time, const sigset_t *mask)
{
    if (!ls_on()) {
        struct timespec limit = time != NULL ? *time : no_time;
        return (int)ls_result(select_raw(count, r, w, e, time != NULL ? &limit : NULL, mask));
    }
    return select_until(
        count, r, w, e, ls_after(time != NULL ? ls_nanoseconds(time) : -1), mask, "pselect");
}

static int epoll_until(
    int epoll, struct epoll_event *events, int count, int64_t deadline, const sigset_t *mask, const char *call)
{
    struct ls_wait wait = {call, deadline, false, false};
    for (;;) {
        long result = SYS6(SYS_epoll_pwait, epoll, events, count, 0, mask, 8);
        if (result != 0 || ls_is_over(&wait)) {
            if (!wait.has_waited && result == 0)
                ls_spin();
            return (int)ls_result(result);
        }
        if (ls_wait_again(&wait) == ls_interrupted)
            return (int)ls_result(-EINTR);
    }
}

PUBLIC int epoll_pwait(int epoll, struct epoll_event *events, int count, int milliseconds, const sigset_t *mask)
{
    if (!ls_on())
        return (int)ls_result(SYS6(SYS_epoll_pwait, epoll, events, count, milliseconds, mask, 8));
    return epoll_until(epoll, events, count, ls_after(milliseconds * 1000000LL), mask, "epoll_pwait");
}

PUBLIC int epoll_wait(int epoll, struct epoll_event *events, int count, int milliseconds)
{
    if (!ls_on())
        return (int)ls_result(SYS6(SYS_epoll_pwait, epoll, events, count, milliseconds, NULL, 8));
    return epoll_until(epoll, events, count, ls_after(milliseconds * 1000000LL), NULL, "epoll_wait");
}

PUBLIC int epoll_pwait2(
    int epoll, struct epoll_event *events, int count, const struct timespec *time, const sigset_t *mask)
{
    int64_t duration = time != NULL ? ls_nanoseconds(time) : -1;
    if (!ls_on()) {
        int milliseconds = duration < 0 ? -1 : (int)((duration + 999999) / 1000000);
        return (int)ls_result(SYS6(SYS_epoll_pwait, epoll, events, count, milliseconds, mask, 8));
    }
    return epoll_until(epoll, events, count, ls_after(duration), mask, "epoll_pwait2");
}

// MARK: Descriptors of calls that block

/// The time limit of a socket's calls; negative: none.
static int64_t socket_limit(int descriptor, short events)
{
    struct timeval limit = {0, 0};
    socklen_t size = sizeof limit;
    int option = events & POLLOUT ? SO_SNDTIMEO : SO_RCVTIMEO;
    if (SYS5(SYS_getsockopt, descriptor, SOL_SOCKET, option, &limit, &size) != 0)
        return -1;
    int64_t nanoseconds = limit.tv_sec * SECOND + limit.tv_usec * 1000;
    return nanoseconds == 0 ? -1 : nanoseconds;
}

int ls_await_descriptor(int descriptor, short events, const char *call)
{
    return ls_await_until(descriptor, events, LOCKSTEP_NEVER, call);
}

int ls_await_until(int descriptor, short events, int64_t deadline, const char *call)
{
    struct pollfd event = {descriptor, events, 0};
    if (poll_now(&event, 1, NULL) != 0)
        return 0;
    long flags = SYS3(SYS_fcntl, descriptor, F_GETFL, 0);
    if (flags < 0 || flags & O_NONBLOCK) {
        ls_spin();
        return 0;
    }
    int64_t limit = ls_after(socket_limit(descriptor, events));
    struct ls_wait wait = {call, deadline < limit ? deadline : limit, true, false};
    for (;;) {
        if (ls_is_over(&wait))
            return -EAGAIN;
        if (ls_wait_again(&wait) == ls_interrupted)
            return -EINTR;
        if (poll_now(&event, 1, NULL) != 0)
            return 0;
    }
}
