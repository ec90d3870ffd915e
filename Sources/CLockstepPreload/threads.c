// Threads: their start, their end, and joins.

#include "internal.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

struct start {
    void *(*function)(void *);
    void *argument;
    int thread;
};

static pthread_key_t end_key;
static bool has_key;

/// Runs with the destructors of thread-specific data, in the last of their rounds, so that those of the program have
/// run.
static void thread_ends(void *value)
{
    intptr_t round = (intptr_t)value;
    if (round < PTHREAD_DESTRUCTOR_ITERATIONS) {
        pthread_setspecific(end_key, (void *)(round + 1));
        return;
    }
    int self = ls_self;
    if (self < 0)
        return;
    ls_self = -1;
    int32_t pid = (int32_t)lockstep_system(SYS_getpid, 0, 0, 0, 0, 0, 0);
    int32_t tid = (int32_t)lockstep_system(SYS_gettid, 0, 0, 0, 0, 0, 0);
    // The system keeps the first thread until the process ends, so the next thread must not wait for its end.
    lockstep_thread_ended(ls_state, self, pid, tid == pid ? 0 : tid);
}

static void *run(void *argument)
{
    struct start start = *(struct start *)argument;
    free(argument);
    lockstep_start(ls_state, start.thread, (int32_t)lockstep_system(SYS_gettid, 0, 0, 0, 0, 0, 0));
    ls_self = start.thread;
    pthread_setspecific(end_key, (void *)1);
    return start.function(start.argument);
}

PUBLIC int pthread_create(
    pthread_t *restrict thread, const pthread_attr_t *restrict attributes, void *(*function)(void *),
    void *restrict argument)
{
    REAL(pthread_create)
    if (!ls_on())
        return real(thread, attributes, function, argument);
    if (!has_key) {
        pthread_key_create(&end_key, thread_ends);
        has_key = true;
    }
    // For the first thread of the process, which may end before the others.
    if (pthread_getspecific(end_key) == NULL)
        pthread_setspecific(end_key, (void *)1);
    int index = lockstep_add_thread(ls_state, ls_process);
    struct start *start = malloc(sizeof *start);
    if (index < 0 || start == NULL) {
        ls_message("can't start another thread: the lockstep has %d at most", lockstep_max_threads);
        free(start);
        return EAGAIN;
    }
    *start = (struct start){function, argument, index};
    int result = real(thread, attributes, run, start);
    if (result != 0) {
        ls_state->threads[index].state = lockstep_thread_free;
        free(start);
    }
    return result;
}

PUBLIC int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    // The result of a thread of C11 is an `int`, and that of a POSIX thread a pointer: the same register.
    int result = pthread_create(thread, NULL, (void *(*)(void *))(void *)function, argument);
    return result == 0 ? thrd_success : result == ENOMEM ? thrd_nomem : thrd_error;
}

// MARK: Joins

static int join_until(pthread_t thread, void **result, int64_t deadline, const char *call)
{
    struct ls_wait wait = {call, deadline, true, false};
    for (;;) {
        int problem = pthread_tryjoin_np(thread, result);
        if (problem != EBUSY)
            return problem;
        if (ls_is_over(&wait))
            return ETIMEDOUT;
        ls_wait_again(&wait);
    }
}

PUBLIC int pthread_join(pthread_t thread, void **result)
{
    REAL(pthread_join)
    if (!ls_on() || pthread_equal(thread, pthread_self()))
        return real(thread, result);
    return join_until(thread, result, LOCKSTEP_NEVER, "pthread_join");
}

PUBLIC int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *time)
{
    REAL(pthread_timedjoin_np)
    if (!ls_on())
        return real(thread, result, time);
    return join_until(thread, result, ls_deadline(CLOCK_REALTIME, time), "pthread_timedjoin_np");
}

PUBLIC int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock, const struct timespec *time)
{
    REAL(pthread_clockjoin_np)
    if (!ls_on())
        return real(thread, result, clock, time);
    return join_until(thread, result, ls_deadline(clock, time), "pthread_clockjoin_np");
}

PUBLIC int thrd_join(thrd_t thread, int *result)
{
    void *value = NULL;
    if (pthread_join(thread, &value) != 0)
        return thrd_error;
    if (result != NULL)
        *result = (int)(intptr_t)value;
    return thrd_success;
}
