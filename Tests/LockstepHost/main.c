// A program for the tests of `ble lockstep`: each argument names a call that waits. The program makes the call, and
// prints its name, its result and the time that it took in nanoseconds.

#include "host.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

struct timespec later(clockid_t clock, int64_t nanoseconds)
{
    struct timespec time;
    clock_gettime(clock, &time);
    int64_t sum = time.tv_nsec + nanoseconds;
    return (struct timespec){time.tv_sec + sum / SECOND, sum % SECOND};
}

const struct timespec duration = {1, 500000000};

// MARK: Sleeps

static long do_nanosleep(void) { return nanosleep(&duration, NULL); }
static long do_clock_nanosleep(void) { return clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, NULL); }
static long do_clock_nanosleep_absolute(void)
{
    struct timespec time = later(CLOCK_REALTIME, 1500000000);
    return clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, NULL);
}
static long do_usleep(void) { return usleep(1500000); }
static long do_sleep(void) { return sleep(3600); }
static long do_thrd_sleep(void) { return thrd_sleep(&duration, NULL); }

// MARK: Descriptors

static long do_poll(void) { return poll(NULL, 0, 1500); }
static long do_ppoll(void) { return ppoll(NULL, 0, &duration, NULL); }
static long do_select(void)
{
    struct timeval time = {1, 500000};
    return select(0, NULL, NULL, NULL, &time);
}
static long do_pselect(void) { return pselect(0, NULL, NULL, NULL, &duration, NULL); }
static struct epoll_event event;
static long do_epoll_wait(void) { return epoll_wait(epoll_create1(0), &event, 1, 1500); }
static long do_epoll_pwait(void) { return epoll_pwait(epoll_create1(0), &event, 1, 1500, NULL); }
static long do_epoll_pwait2(void)
{
    return syscall(SYS_epoll_pwait2, epoll_create1(0), &event, 1, &duration, NULL, 8);
}

static int pipes[2];

static void *write_later(void *unused)
{
    nanosleep(&duration, NULL);
    (void)!write(pipes[1], "x", 1);
    return unused;
}

static long with_writer(long (*body)(void))
{
    pthread_t thread;
    pthread_create(&thread, NULL, write_later, NULL);
    long result = body();
    pthread_join(thread, NULL);
    return result;
}

static long read_pipe(void)
{
    char octet;
    return read(pipes[0], &octet, 1);
}
static long do_read(void) { return pipe(pipes) == 0 ? with_writer(read_pipe) : -1; }
static long poll_pipe(void)
{
    struct pollfd event = {pipes[0], POLLIN, 0};
    return poll(&event, 1, -1);
}
static long do_poll_pipe(void) { return pipe(pipes) == 0 ? with_writer(poll_pipe) : -1; }
static char received;
static long receive(void) { return recv(pipes[0], &received, 1, 0); }
static long do_recv(void) { return socketpair(AF_UNIX, SOCK_STREAM, 0, pipes) == 0 ? with_writer(receive) : -1; }
static long do_recv_timeout(void)
{
    struct timeval limit = {1, 500000};
    char octet;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pipes) != 0)
        return -1;
    setsockopt(pipes[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return recv(pipes[0], &octet, 1, 0) < 0 && errno == EAGAIN ? 0 : -1;
}
static long get_line(void)
{
    char text[8];
    return fgets(text, 2, fdopen(pipes[0], "r")) != NULL;
}
static long do_fgets(void) { return pipe(pipes) == 0 ? with_writer(get_line) : -1; }

/// Fills a pipe, whose reader comes later.
static void *read_later(void *unused)
{
    char octets[4096];
    nanosleep(&duration, NULL);
    for (int count = 0; count < 1 << 20;)
        count += (int)read(pipes[0], octets, sizeof octets);
    return unused;
}
static long do_write(void)
{
    pthread_t thread;
    static char octets[1 << 20];
    if (pipe(pipes) != 0)
        return -1;
    pthread_create(&thread, NULL, read_later, NULL);
    long count = write(pipes[1], octets, sizeof octets);
    pthread_join(thread, NULL);
    return count;
}
static long do_fwrite(void)
{
    pthread_t thread;
    static char octets[1 << 20];
    if (pipe(pipes) != 0)
        return -1;
    pthread_create(&thread, NULL, read_later, NULL);
    FILE *stream = fdopen(pipes[1], "w");
    long count = (long)fwrite(octets, 1, sizeof octets, stream);
    fclose(stream);
    pthread_join(thread, NULL);
    return count;
}

// MARK: Other threads

static void *run_later(void *work)
{
    nanosleep(&duration, NULL);
    (*(void (**)(void))work)();
    return NULL;
}
long beside(void (*work)(void), long (*body)(void))
{
    pthread_t thread;
    pthread_create(&thread, NULL, run_later, &work);
    long result = body();
    pthread_join(thread, NULL);
    return result;
}

// MARK: Timers

static long do_timerfd(void)
{
    int descriptor = timerfd_create(CLOCK_MONOTONIC, 0);
    struct itimerspec value = {{0, 500000000}, {0, 500000000}};
    uint64_t count = 0;
    timerfd_settime(descriptor, 0, &value, NULL);
    nanosleep(&duration, NULL);
    (void)!read(descriptor, &count, sizeof count);
    return (long)count;
}
static long do_timerfd_epoll(void)
{
    int descriptor = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), epoll = epoll_create1(0);
    struct itimerspec value = {{0, 0}, {1, 500000000}};
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
    timerfd_settime(descriptor, 0, &value, NULL);
    return epoll_wait(epoll, &event, 1, -1);
}

static volatile sig_atomic_t signals;
static void count_signal(int number) { signals += number; }

static long do_alarm(void)
{
    signal(SIGALRM, count_signal);
    alarm(2);
    pause();
    return signals;
}
static long do_setitimer(void)
{
    struct itimerval value = {{0, 0}, {1, 500000}};
    signal(SIGALRM, count_signal);
    setitimer(ITIMER_REAL, &value, NULL);
    return sleep(10) + signals;
}
static long do_timer_settime(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec value = {{0, 0}, {1, 500000000}};
    signal(SIGUSR1, count_signal);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &value, NULL);
    pause();
    return signals;
}
static long do_sigtimedwait(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return sigtimedwait(&set, NULL, &duration) < 0 && errno == EAGAIN ? 0 : -1;
}

// MARK: Threads

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static uint32_t word;

static void *wake_later(void *unused)
{
    nanosleep(&duration, NULL);
    pthread_mutex_lock(&mutex);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    sem_post(&semaphore);
    word = 1;
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
    return unused;
}

static long with_waker(long (*body)(void))
{
    pthread_t thread;
    pthread_create(&thread, NULL, wake_later, NULL);
    long result = body();
    pthread_join(thread, NULL);
    return result;
}

static long wait_condition(void)
{
    pthread_mutex_lock(&mutex);
    long result = pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    return result;
}
static long do_cond_wait(void) { return with_waker(wait_condition); }
/// Waits for nothing until a time; NULL: with the call that names the clock.
static long wait_until(pthread_cond_t *own, clockid_t clock)
{
    struct timespec time = later(clock, 1500000000);
    pthread_mutex_lock(&mutex);
#ifdef __GLIBC__
    long result = own != NULL ? pthread_cond_timedwait(own, &mutex, &time)
                              : pthread_cond_clockwait(&condition, &mutex, clock, &time);
#else
    long result = pthread_cond_timedwait(own, &mutex, &time);
#endif
    pthread_mutex_unlock(&mutex);
    return result == ETIMEDOUT ? 0 : -1;
}
static long do_cond_timedwait(void) { return wait_until(&condition, CLOCK_REALTIME); }
#ifdef __GLIBC__
static long do_cond_clockwait(void) { return wait_until(NULL, CLOCK_MONOTONIC); }
#endif
static long do_cond_monotonic(void)
{
    pthread_condattr_t attributes;
    pthread_cond_t own;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&own, &attributes);
    return wait_until(&own, CLOCK_MONOTONIC);
}
static long wait_semaphore(void) { return sem_wait(&semaphore); }
static long do_sem_wait(void) { return with_waker(wait_semaphore); }
static long do_sem_timedwait(void)
{
    struct timespec time = later(CLOCK_REALTIME, 1500000000);
    return sem_timedwait(&semaphore, &time) < 0 && errno == ETIMEDOUT ? 0 : -1;
}
static long wait_futex(void)
{
    while (word == 0)
        syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
    return word;
}
static long do_futex(void) { return with_waker(wait_futex); }
static long do_futex_timeout(void)
{
    return syscall(SYS_futex, &word, FUTEX_WAIT, 0, &duration, NULL, 0) < 0 && errno == ETIMEDOUT ? 0 : -1;
}

static void *hold_locks(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_rwlock_wrlock(&lock);
    nanosleep(&duration, NULL);
    pthread_rwlock_unlock(&lock);
    pthread_mutex_unlock(&mutex);
    return unused;
}
static long with_holder(long (*body)(void))
{
    pthread_t thread;
    pthread_create(&thread, NULL, hold_locks, NULL);
    sched_yield();
    long result = body();
    pthread_join(thread, NULL);
    return result;
}
static long lock_mutex(void) { return pthread_mutex_lock(&mutex); }
static long do_mutex_lock(void) { return with_holder(lock_mutex); }
static long lock_reading(void) { return pthread_rwlock_rdlock(&lock); }
static long do_rwlock(void) { return with_holder(lock_reading); }
static long lock_timed(void)
{
    struct timespec time = later(CLOCK_REALTIME, 500000000);
    return pthread_mutex_timedlock(&mutex, &time) == ETIMEDOUT ? 0 : -1;
}
static long do_mutex_timedlock(void) { return with_holder(lock_timed); }

static void *meet(void *unused)
{
    nanosleep(&duration, NULL);
    pthread_barrier_wait(&barrier);
    return unused;
}
static long do_barrier(void)
{
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, meet, NULL);
    pthread_barrier_wait(&barrier);
    return pthread_join(thread, NULL);
}
static void *sleep_thread(void *unused)
{
    nanosleep(&duration, NULL);
    return unused;
}
static long do_pthread_join(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_thread, NULL);
    return pthread_join(thread, NULL);
}

static void *go_on(void *unused)
{
    nanosleep(&duration, NULL);
    printf("pthread_exit 0 1500000000\n");
    exit(0);
    return unused;
}
/// The first thread ends, and the others go on.
static long do_pthread_exit(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, go_on, NULL);
    pthread_exit(NULL);
}

static const struct row rows[] = {
    ROW(nanosleep), ROW(clock_nanosleep), ROW(clock_nanosleep_absolute), ROW(usleep), ROW(sleep), ROW(thrd_sleep),
    ROW(poll), ROW(ppoll), ROW(select), ROW(pselect), ROW(epoll_wait), ROW(epoll_pwait), ROW(epoll_pwait2), ROW(read),
    ROW(poll_pipe), ROW(recv), ROW(recv_timeout), ROW(fgets), ROW(write), ROW(fwrite), ROW(timerfd),
    ROW(timerfd_epoll), ROW(alarm), ROW(setitimer), ROW(timer_settime), ROW(sigtimedwait), ROW(cond_wait),
    ROW(cond_timedwait), ROW(cond_monotonic), ROW(sem_wait), ROW(sem_timedwait), ROW(futex), ROW(futex_timeout),
    ROW(mutex_lock), ROW(rwlock), ROW(mutex_timedlock), ROW(barrier), ROW(pthread_join), ROW(pthread_exit),
#ifdef __GLIBC__
    ROW(cond_clockwait),
#endif
    {NULL, NULL},
};

static bool run(const struct row *row, const char *name)
{
    for (; row->name != NULL; row++)
        if (strcmp(row->name, name) == 0) {
            int64_t begin = now();
            long result = row->call();
            printf("%s %ld %lld\n", row->name, result, (long long)(now() - begin));
            fflush(stdout);
            return true;
        }
    return false;
}

int main(int count, char **arguments)
{
    sem_init(&semaphore, 0, 0);
    for (int i = 1; i < count; i++)
        if (!run(rows, arguments[i]) && !run(more_rows, arguments[i]) && !run(process_rows, arguments[i])) {
            fprintf(stderr, "lockstep-host: no call %s\n", arguments[i]);
            return 64;
        }
    return 0;
}
