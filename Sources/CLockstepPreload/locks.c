// Mutexes, condition variables, read-write locks, semaphores, and the futexes of programs that make the system call
// themselves.

#include "internal.h"

#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

/// Repeats a call that does not wait until it gets the lock or the deadline has passed.
#define UNTIL(try, is_busy, call, deadline_value, timeout) \
    struct ls_wait wait = {call, deadline_value, true, false}; \
    for (;;) { \
        int result = try; \
        if (!(is_busy)) \
            return result; \
        if (ls_is_over(&wait)) \
            return timeout; \
        ls_wait_again(&wait); \
    }

// MARK: Mutexes

static int lock_mutex(pthread_mutex_t *mutex, int64_t deadline, const char *call)
{
    UNTIL(pthread_mutex_trylock(mutex), result == EBUSY, call, deadline, ETIMEDOUT)
}

/// True if the calling thread has the lock, and the mutex is of the kind that checks errors.
static bool returns_deadlock(const pthread_mutex_t *mutex)
{
#ifdef __GLIBC__
    int kind = mutex->__data.__kind, owner = mutex->__data.__owner;
#else
    // musl: the kind, and the lock word.
    int kind = mutex->__u.__i[0], owner = mutex->__u.__i[1] & 0x3FFFFFFF;
#endif
    return (kind & 3) == PTHREAD_MUTEX_ERRORCHECK && owner == (int)lockstep_system(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

PUBLIC int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    REAL(pthread_mutex_lock)
    if (!ls_on())
        return real(mutex);
    int result = pthread_mutex_trylock(mutex);
    if (result != EBUSY)
        return result;
    if (returns_deadlock(mutex))
        return EDEADLK;
    return lock_mutex(mutex, LOCKSTEP_NEVER, "pthread_mutex_lock");
}

PUBLIC int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *time)
{
    REAL(pthread_mutex_timedlock)
    if (!ls_on())
        return real(mutex, time);
    return lock_mutex(mutex, ls_deadline(CLOCK_REALTIME, time), "pthread_mutex_timedlock");
}

PUBLIC int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *time)
{
    REAL(pthread_mutex_clocklock)
    if (!ls_on())
        return real(mutex, clock, time);
    return lock_mutex(mutex, ls_deadline(clock, time), "pthread_mutex_clocklock");
}

PUBLIC int mtx_lock(mtx_t *mutex)
{
    return pthread_mutex_lock((pthread_mutex_t *)mutex) == 0 ? thrd_success : thrd_error;
}

PUBLIC int mtx_timedlock(mtx_t *mutex, const struct timespec *time)
{
    int result = pthread_mutex_timedlock((pthread_mutex_t *)mutex, time);
    return result == 0 ? thrd_success : result == ETIMEDOUT ? thrd_timedout : thrd_error;
}

// MARK: Waits for an address: condition variables and futexes

/// A thread that waits for a wake at an address, in the order of the waits.
struct waiter {
    const void *address;
    struct waiter *next;
    int thread;
    uint32_t mask;
    bool is_woken;
};

static struct waiter *waiters;

static void add_waiter(struct waiter *waiter)
{
    struct waiter **end = &waiters;
    while (*end != NULL)
        end = &(*end)->next;
    waiter->next = NULL;
    *end = waiter;
}

static void remove_waiter(const struct waiter *waiter)
{
    for (struct waiter **entry = &waiters; *entry != NULL; entry = &(*entry)->next)
        if (*entry == waiter) {
            *entry = waiter->next;
            return;
        }
}

static int wake_waiters(const void *address, int count, uint32_t mask)
{
    int woken = 0;
    struct waiter **entry = &waiters;
    while (*entry != NULL && woken < count) {
        struct waiter *waiter = *entry;
        if (waiter->address != address || (waiter->mask & mask) == 0) {
            entry = &waiter->next;
            continue;
        }
        *entry = waiter->next;
        waiter->is_woken = true;
        lockstep_wake(ls_state, waiter->thread);
        woken++;
    }
    return woken;
}

/// Only the thread that forks goes on in the child.
void ls_thread_forked(void)
{
    waiters = NULL;
}

/// Waits for a wake. Returns 0, ETIMEDOUT or EINTR.
///
/// - word: a word that other processes share, whose change is a wake, too; NULL: none.
static int wait_at(const void *address, uint32_t mask, int64_t deadline, const uint32_t *word, const char *call)
{
    struct waiter waiter = {address, NULL, ls_self, mask, false};
    struct ls_wait wait = {call, deadline, true, false};
    uint32_t value = word != NULL ? __atomic_load_n(word, __ATOMIC_ACQUIRE) : 0;
    add_waiter(&waiter);
    while (!waiter.is_woken) {
        bool is_interrupted = false;
        if (!ls_is_over(&wait))
            is_interrupted = (word != NULL ? ls_wait_again(&wait) : ls_wait_for_wake(&wait)) == ls_interrupted;
        if (waiter.is_woken)
            break;
        if (word != NULL && __atomic_load_n(word, __ATOMIC_ACQUIRE) != value) {
            remove_waiter(&waiter);
            break;
        }
        if (is_interrupted || ls_is_over(&wait)) {
            remove_waiter(&waiter);
            return is_interrupted ? EINTR : ETIMEDOUT;
        }
    }
    return 0;
}

// MARK: Condition variables

/// The word that changes with each signal of a condition variable that processes share; NULL if they do not share it.
static uint32_t *shared_word(pthread_cond_t *condition)
{
#ifdef __GLIBC__
    // The numbers of waiters, which the functions here do not use.
    return condition->__data.__wrefs & 1 ? (uint32_t *)condition : NULL;
#else
    return condition->__u.__p[0] != NULL ? (uint32_t *)&condition->__u.__i[2] : NULL;
#endif
}

static int signal_condition(pthread_cond_t *condition, int count)
{
    uint32_t *word = shared_word(condition);
    if (word != NULL)
        __atomic_add_fetch(word, 1, __ATOMIC_RELEASE);
    wake_waiters(condition, count, UINT32_MAX);
    return 0;
}

static int wait_condition(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t deadline, const char *call)
{
    int problem = pthread_mutex_unlock(mutex);
    if (problem != 0)
        return problem;
    int result = wait_at(condition, UINT32_MAX, deadline, shared_word(condition), call);
    pthread_mutex_lock(mutex);
    return result == ETIMEDOUT ? ETIMEDOUT : 0;
}

/// The clock of a condition variable, set by its attributes. glibc has it in the second bit of its flags.
static clockid_t clock_of(const pthread_cond_t *condition)
{
#ifdef __GLIBC__
    return condition->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
#else
    return condition->__u.__i[4];
#endif
}

PUBLIC int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    REAL(pthread_cond_wait)
    if (!ls_on())
        return real(condition, mutex);
    return wait_condition(condition, mutex, LOCKSTEP_NEVER, "pthread_cond_wait");
}

PUBLIC int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *time)
{
    REAL(pthread_cond_timedwait)
    if (!ls_on())
        return real(condition, mutex, time);
    return wait_condition(condition, mutex, ls_deadline(clock_of(condition), time), "pthread_cond_timedwait");
}

PUBLIC int pthread_cond_clockwait(
    pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *time)
{
    REAL(pthread_cond_clockwait)
    if (!ls_on())
        return real(condition, mutex, clock, time);
    return wait_condition(condition, mutex, ls_deadline(clock, time), "pthread_cond_clockwait");
}

PUBLIC int pthread_cond_signal(pthread_cond_t *condition)
{
    REAL(pthread_cond_signal)
    if (!ls_on())
        return real(condition);
    return signal_condition(condition, 1);
}

PUBLIC int pthread_cond_broadcast(pthread_cond_t *condition)
{
    REAL(pthread_cond_broadcast)
    if (!ls_on())
        return real(condition);
    return signal_condition(condition, INT32_MAX);
}

PUBLIC int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
    return pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex) == 0 ? thrd_success : thrd_error;
}

PUBLIC int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *time)
{
    int result = pthread_cond_timedwait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, time);
    return result == 0 ? thrd_success : result == ETIMEDOUT ? thrd_timedout : thrd_error;
}

PUBLIC int cnd_signal(cnd_t *condition)
{
    return pthread_cond_signal((pthread_cond_t *)condition) == 0 ? thrd_success : thrd_error;
}

PUBLIC int cnd_broadcast(cnd_t *condition)
{
    return pthread_cond_broadcast((pthread_cond_t *)condition) == 0 ? thrd_success : thrd_error;
}

// MARK: Read-write locks

static int lock_rw(pthread_rwlock_t *lock, bool writes, int64_t deadline, const char *call)
{
    UNTIL(
        writes ? pthread_rwlock_trywrlock(lock) : pthread_rwlock_tryrdlock(lock), result == EBUSY, call, deadline,
        ETIMEDOUT)
}

PUBLIC int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
    REAL(pthread_rwlock_rdlock)
    return ls_on() ? lock_rw(lock, false, LOCKSTEP_NEVER, "pthread_rwlock_rdlock") : real(lock);
}

PUBLIC int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
    REAL(pthread_rwlock_wrlock)
    return ls_on() ? lock_rw(lock, true, LOCKSTEP_NEVER, "pthread_rwlock_wrlock") : real(lock);
}

PUBLIC int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *time)
{
    REAL(pthread_rwlock_timedrdlock)
    if (!ls_on())
        return real(lock, time);
    return lock_rw(lock, false, ls_deadline(CLOCK_REALTIME, time), "pthread_rwlock_timedrdlock");
}

PUBLIC int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *time)
{
    REAL(pthread_rwlock_timedwrlock)
    if (!ls_on())
        return real(lock, time);
    return lock_rw(lock, true, ls_deadline(CLOCK_REALTIME, time), "pthread_rwlock_timedwrlock");
}

PUBLIC int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *time)
{
    REAL(pthread_rwlock_clockrdlock)
    return ls_on() ? lock_rw(lock, false, ls_deadline(clock, time), "pthread_rwlock_clockrdlock")
                   : real(lock, clock, time);
}

PUBLIC int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *time)
{
    REAL(pthread_rwlock_clockwrlock)
    return ls_on() ? lock_rw(lock, true, ls_deadline(clock, time), "pthread_rwlock_clockwrlock")
                   : real(lock, clock, time);
}

// MARK: Semaphores

static int wait_semaphore(sem_t *semaphore, int64_t deadline, const char *call)
{
    struct ls_wait wait = {call, deadline, true, false};
    for (;;) {
        if (sem_trywait(semaphore) == 0)
            return 0;
        if (errno != EAGAIN)
            return -1;
        if (ls_is_over(&wait))
            return (int)ls_result(-ETIMEDOUT);
        if (ls_wait_again(&wait) == ls_interrupted)
            return (int)ls_result(-EINTR);
    }
}

PUBLIC int sem_wait(sem_t *semaphore)
{
    REAL(sem_wait)
    return ls_on() ? wait_semaphore(semaphore, LOCKSTEP_NEVER, "sem_wait") : real(semaphore);
}

PUBLIC int sem_timedwait(sem_t *semaphore, const struct timespec *time)
{
    REAL(sem_timedwait)
    if (!ls_on())
        return real(semaphore, time);
    return wait_semaphore(semaphore, ls_deadline(CLOCK_REALTIME, time), "sem_timedwait");
}

PUBLIC int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *time)
{
    REAL(sem_clockwait)
    if (!ls_on())
        return real(semaphore, clock, time);
    return wait_semaphore(semaphore, ls_deadline(clock, time), "sem_clockwait");
}

// MARK: Once, barriers

/// The states of a `pthread_once_t` here: glibc's values for "not begun" and "done", and one for "in progress".
enum { once_new = 0, once_done = 2, once_running = 0x40000001 };

PUBLIC int pthread_once(pthread_once_t *control, void (*function)(void))
{
    REAL(pthread_once)
    if (!ls_on() || (*control & once_done && *control != once_running))
        return real(control, function);
    struct ls_wait wait = {"pthread_once", LOCKSTEP_NEVER, true, false};
    while (*control == once_running)
        ls_wait_again(&wait);
    if (*control != once_new)
        return real(control, function);
    *control = once_running;
    function();
    __atomic_store_n(control, once_done, __ATOMIC_RELEASE);
    return 0;
}

PUBLIC void call_once(once_flag *flag, void (*function)(void))
{
    pthread_once((pthread_once_t *)flag, function);
}

struct barrier {
    const pthread_barrier_t *address;
    struct barrier *next;
    unsigned count, arrived;
};

static struct barrier *barriers;

PUBLIC int pthread_barrier_init(
    pthread_barrier_t *restrict address, const pthread_barrierattr_t *restrict attributes, unsigned count)
{
    REAL(pthread_barrier_init)
    int result = real(address, attributes, count);
    int is_shared = PTHREAD_PROCESS_PRIVATE;
    if (attributes != NULL)
        pthread_barrierattr_getpshared(attributes, &is_shared);
    if (result != 0 || !ls_on())
        return result;
    if (is_shared == PTHREAD_PROCESS_SHARED) {
        MESSAGE_ONCE("a barrier that processes share does not follow the time");
        return result;
    }
    struct barrier *barrier = malloc(sizeof *barrier);
    if (barrier == NULL)
        return ENOMEM;
    *barrier = (struct barrier){address, barriers, count, 0};
    barriers = barrier;
    return 0;
}

PUBLIC int pthread_barrier_destroy(pthread_barrier_t *address)
{
    for (struct barrier **entry = &barriers; *entry != NULL; entry = &(*entry)->next)
        if ((*entry)->address == address) {
            struct barrier *barrier = *entry;
            *entry = barrier->next;
            free(barrier);
            return 0;
        }
    REAL(pthread_barrier_destroy)
    return real(address);
}

PUBLIC int pthread_barrier_wait(pthread_barrier_t *address)
{
    REAL(pthread_barrier_wait)
    struct barrier *barrier = barriers;
    while (barrier != NULL && barrier->address != address)
        barrier = barrier->next;
    if (!ls_on() || barrier == NULL)
        return real(address);
    if (++barrier->arrived < barrier->count) {
        wait_at(address, UINT32_MAX, LOCKSTEP_NEVER, NULL, "pthread_barrier_wait");
        return 0;
    }
    barrier->arrived = 0;
    wake_waiters(address, INT32_MAX, UINT32_MAX);
    return PTHREAD_BARRIER_SERIAL_THREAD;
}

// MARK: Futexes

static long futex(uint32_t *word, int operation, uint32_t value, const struct timespec *time, uint32_t mask)
{
    int command = operation & FUTEX_CMD_MASK;
    clockid_t clock = operation & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    int64_t deadline = LOCKSTEP_NEVER;
    if (time != NULL)
        deadline = command == FUTEX_WAIT ? ls_after(ls_nanoseconds(time)) : ls_deadline(clock, time);
    if (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) {
        if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
            return -EAGAIN;
        const uint32_t *shared = operation & FUTEX_PRIVATE_FLAG ? NULL : word;
        return -wait_at(word, command == FUTEX_WAIT ? UINT32_MAX : mask, deadline, shared, "futex");
    }
    int woken = wake_waiters(word, (int)value, command == FUTEX_WAKE ? UINT32_MAX : mask);
    // Threads that are no part of the lockstep wait in the system.
    long others = lockstep_system(SYS_futex, (long)word, operation, value - (uint32_t)woken, 0, 0, mask);
    return woken + (others > 0 ? others : 0);
}

/// A lock of a futex word, which has the number of the thread that holds it.
static long lock_futex(uint32_t *word, int command, const struct timespec *time)
{
    struct ls_wait wait = {
        "futex", time != NULL ? ls_deadline(CLOCK_REALTIME, time) : LOCKSTEP_NEVER, true, false};
    for (;;) {
        if ((*word & FUTEX_TID_MASK) == 0) {
            *word = (*word & ~(uint32_t)FUTEX_TID_MASK) | (uint32_t)gettid();
            return 0;
        }
        if (command == FUTEX_TRYLOCK_PI)
            return -EAGAIN;
        if (ls_is_over(&wait))
            return -ETIMEDOUT;
        // The holder then makes the system call, and does not only change the word.
        *word |= FUTEX_WAITERS;
        ls_wait_again(&wait);
    }
}

bool ls_futex(const long *arguments, long *result)
{
    int command = (int)arguments[1] & FUTEX_CMD_MASK;
    uint32_t *word = (uint32_t *)arguments[0];
    if (command == FUTEX_LOCK_PI || command == FUTEX_TRYLOCK_PI) {
        *result = lock_futex(word, command, (const struct timespec *)arguments[3]);
        return true;
    }
    if (command == FUTEX_UNLOCK_PI) {
        *word = 0;
        *result = 0;
        return true;
    }
    if (command != FUTEX_WAIT && command != FUTEX_WAIT_BITSET && command != FUTEX_WAKE && command != FUTEX_WAKE_BITSET)
        return false;
    *result = futex(
        word, (int)arguments[1], (uint32_t)arguments[2], (const struct timespec *)arguments[3],
        (uint32_t)arguments[5]);
    return true;
}
