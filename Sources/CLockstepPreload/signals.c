// Signals: a handler runs while its thread has the turn.
//
// A signal from a process of the lockstep is noted in the receiver's entry, and raised there when a thread of it next
// has the turn. A signal from outside is noted by its handler and raised in the same way.

#include "internal.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static struct {
    void (*handler)(int, siginfo_t *, void *);
    int flags;
} actions[NSIG];

/// Set by the handler of a signal: it has run, and the call that it interrupted does not go on.
static volatile sig_atomic_t has_handled, has_handled_without_restart;

static bool has_turn(void)
{
    return ls_self >= 0 && __atomic_load_n(&ls_state->running, __ATOMIC_RELAXED) == ls_self
        && ls_state->threads[ls_self].state == lockstep_thread_running;
}

static void handle(int number, siginfo_t *information, void *context)
{
    bool is_child = number == SIGCHLD && information->si_code > 0;
    // The supervisor gives this signal to a parent in the lockstep's order.
    if (is_child && ls_self >= 0)
        return;
    bool is_fault = information->si_code > 0 && number != SIGCHLD;
    if (!is_fault && ls_state != NULL && !has_turn()) {
        __atomic_fetch_or(&ls_state->processes[ls_process].signals, 1ULL << number, __ATOMIC_RELAXED);
        return;
    }
    has_handled = 1;
    if (!(actions[number].flags & SA_RESTART))
        has_handled_without_restart = 1;
    actions[number].handler(number, information, context);
}

void ls_raise(int number)
{
    long pid = lockstep_system(SYS_getpid, 0, 0, 0, 0, 0, 0);
    uint64_t blocked = 0;
    SYS4(SYS_rt_sigprocmask, SIG_BLOCK, NULL, &blocked, 8);
    // A blocked signal waits for any thread of the process.
    if (blocked >> (number - 1) & 1)
        SYS2(SYS_kill, pid, number);
    else
        SYS3(SYS_tgkill, pid, lockstep_system(SYS_gettid, 0, 0, 0, 0, 0, 0), number);
}

bool ls_deliver_signals(bool restarts)
{
    uint64_t *pending = &ls_state->processes[ls_process].signals;
    if (__atomic_load_n(pending, __ATOMIC_RELAXED) == 0 || ls_self != lockstep_main_thread(ls_state, ls_process))
        return false;
    uint64_t signals = __atomic_exchange_n(pending, 0, __ATOMIC_RELAXED);
    has_handled = has_handled_without_restart = 0;
    for (int number = 1; number < 64; number++)
        if (signals >> number & 1)
            ls_raise(number);
    return restarts ? has_handled_without_restart : has_handled;
}

void ls_send_signal(int process, int number)
{
    __atomic_fetch_or(&ls_state->processes[process].signals, 1ULL << number, __ATOMIC_RELAXED);
}

// MARK: Handlers

static int real_sigaction(int number, const struct sigaction *new, struct sigaction *old)
{
    REAL(sigaction)
    return real(number, new, old);
}

PUBLIC int sigaction(int number, const struct sigaction *restrict new, struct sigaction *restrict old)
{
    if (number <= 0 || number >= NSIG || !ls_on())
        return real_sigaction(number, new, old);
    void (*former)(int, siginfo_t *, void *) = actions[number].handler;
    int former_flags = actions[number].flags;
    struct sigaction copy;
    const struct sigaction *installed = new;
    if (new != NULL && new->sa_handler != SIG_DFL && new->sa_handler != SIG_IGN) {
        copy = *new;
        copy.sa_sigaction = handle;
        copy.sa_flags |= SA_SIGINFO;
        installed = &copy;
        actions[number].handler = new->sa_sigaction;
        actions[number].flags = new->sa_flags;
    }
    int result = real_sigaction(number, installed, old);
    if (result == 0 && old != NULL && old->sa_flags & SA_SIGINFO && old->sa_sigaction == handle) {
        old->sa_sigaction = former;
        old->sa_flags = former_flags;
    }
    return result;
}

static sighandler_t set_handler(int number, sighandler_t handler, int flags)
{
    struct sigaction new = {.sa_handler = handler, .sa_flags = flags}, old;
    sigemptyset(&new.sa_mask);
    return sigaction(number, &new, &old) == 0 ? old.sa_handler : SIG_ERR;
}

PUBLIC sighandler_t signal(int number, sighandler_t handler)
{
    return set_handler(number, handler, SA_RESTART);
}

PUBLIC sighandler_t bsd_signal(int number, sighandler_t handler)
{
    return set_handler(number, handler, SA_RESTART);
}

PUBLIC sighandler_t sysv_signal(int number, sighandler_t handler)
{
    return set_handler(number, handler, SA_RESETHAND | SA_NODEFER);
}

// MARK: Sending

PUBLIC int kill(pid_t pid, int number)
{
    if (!ls_on() || pid <= 0)
        return (int)ls_result(SYS2(SYS_kill, pid, number));
    int32_t system_pid = ls_system_pid(pid);
    int process = lockstep_process_of_pid(ls_state, system_pid);
    if (process < 0 || number == 0 || number < 0 || number >= 64)
        return (int)ls_result(SYS2(SYS_kill, system_pid, number));
    if (process == ls_process) {
        ls_raise(number);
        return 0;
    }
    if (ls_state->processes[process].is_static)
        return (int)ls_result(SYS2(SYS_kill, system_pid, number));
    ls_send_signal(process, number);
    return 0;
}

PUBLIC int sigqueue(pid_t pid, int number, const union sigval value)
{
    REAL(sigqueue)
    int process = ls_on() ? lockstep_process_of_pid(ls_state, ls_system_pid(pid)) : -1;
    if (process < 0 || process == ls_process || number <= 0 || number >= 64)
        return real(ls_system_pid(pid), number, value);
    MESSAGE_ONCE("signals to other processes come without their value");
    return kill(pid, number);
}

PUBLIC int raise(int number)
{
    if (!ls_on()) {
        long pid = lockstep_system(SYS_getpid, 0, 0, 0, 0, 0, 0);
        return (int)ls_result(SYS3(SYS_tgkill, pid, lockstep_system(SYS_gettid, 0, 0, 0, 0, 0, 0), number));
    }
    ls_raise(number);
    return 0;
}

// MARK: Waiting

PUBLIC int pause(void)
{
    REAL(pause)
    if (!ls_on())
        return real();
    struct ls_wait wait = {"pause", LOCKSTEP_NEVER, false, false};
    while (ls_wait_again(&wait) != ls_interrupted) {
    }
    return (int)ls_result(-EINTR);
}

PUBLIC int sigsuspend(const sigset_t *mask)
{
    REAL(sigsuspend)
    if (!ls_on())
        return real(mask);
    sigset_t old;
    struct ls_wait wait = {"sigsuspend", LOCKSTEP_NEVER, false, false};
    has_handled = 0;
    // A signal that waits is handled at once when the mask changes.
    SYS4(SYS_rt_sigprocmask, SIG_SETMASK, mask, &old, 8);
    while (!has_handled && ls_wait_again(&wait) != ls_interrupted) {
    }
    SYS4(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, 8);
    return (int)ls_result(-EINTR);
}

static int wait_for_signal(const sigset_t *set, siginfo_t *information, int64_t deadline, const char *call)
{
    struct ls_wait wait = {call, deadline, false, false};
    for (;;) {
        struct timespec none = {0, 0};
        long result = SYS4(SYS_rt_sigtimedwait, set, information, &none, 8);
        if (result > 0)
            return (int)result;
        if (result != -EAGAIN && result != -EINTR)
            return (int)ls_result(result);
        if (ls_is_over(&wait))
            return (int)ls_result(-EAGAIN);
        if (ls_wait_again(&wait) == ls_interrupted)
            return (int)ls_result(-EINTR);
    }
}

PUBLIC int sigtimedwait(const sigset_t *set, siginfo_t *information, const struct timespec *time)
{
    REAL(sigtimedwait)
    if (!ls_on())
        return real(set, information, time);
    return wait_for_signal(set, information, ls_after(time != NULL ? ls_nanoseconds(time) : -1), "sigtimedwait");
}

PUBLIC int sigwaitinfo(const sigset_t *set, siginfo_t *information)
{
    return sigtimedwait(set, information, NULL);
}

PUBLIC int sigwait(const sigset_t *set, int *number)
{
    int result;
    do
        result = sigtimedwait(set, NULL, NULL);
    while (result < 0 && errno == EINTR);
    if (result < 0)
        return errno;
    *number = result;
    return 0;
}
