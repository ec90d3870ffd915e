// Queues, locks of files, descriptors of events, and what processes share.

#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

// MARK: Descriptors

static int pair[2], descriptor;

static void write_two(void)
{
    (void)!write(pair[1], "x", 1);
    nanosleep(&duration, NULL);
    (void)!write(pair[1], "yz", 2);
}
static long receive_two(void)
{
    char octets[2][8];
    struct iovec parts[2] = {{octets[0], 8}, {octets[1], 8}};
    struct mmsghdr messages[2] = {{.msg_hdr = {.msg_iov = &parts[0], .msg_iovlen = 1}},
                                  {.msg_hdr = {.msg_iov = &parts[1], .msg_iovlen = 1}}};
    int count = recvmmsg(pair[0], messages, 2, 0, NULL);
    return count * 10 + (count > 1 ? messages[1].msg_len : 0);
}
static long do_recvmmsg(void)
{
    return socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0 ? beside(write_two, receive_two) : -1;
}
static long do_recvmmsg_timeout(void)
{
    char octet;
    struct iovec part = {&octet, 1};
    struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}};
    struct timespec time = duration;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0)
        return -1;
    return recvmmsg(pair[0], &message, 1, 0, &time) < 0 && errno == EAGAIN ? 0 : -1;
}
static long scan_number(void)
{
    int value = 0;
    FILE *stream = fdopen(pair[0], "r");
    return fscanf(stream, "%d", &value) == 1 ? value : -1;
}
static void write_number(void) { (void)!write(pair[1], "42\n", 3); }
static long do_fscanf(void) { return pipe(pair) == 0 ? beside(write_number, scan_number) : -1; }
static void read_all(void)
{
    char octets[4096];
    for (int count = 0; count < 1 << 20;)
        count += (int)read(pair[0], octets, sizeof octets);
}
static long send_file(void)
{
    FILE *file = tmpfile();
    ftruncate(fileno(file), 1 << 20);
    return sendfile(pair[1], fileno(file), NULL, 1 << 20);
}
static long do_sendfile(void) { return pipe(pair) == 0 ? beside(read_all, send_file) : -1; }
static void add_event(void) { eventfd_write(descriptor, 7); }
static long read_event(void)
{
    eventfd_t value = 0;
    return eventfd_read(descriptor, &value) == 0 ? (long)value : -1;
}
static long do_eventfd(void)
{
    descriptor = eventfd(0, 0);
    return beside(add_event, read_event);
}
static char path[64];
static void touch_file(void) { close(open(path, O_CREAT | O_WRONLY, 0600)); }
static long read_notification(void)
{
    char octets[512] __attribute__((aligned(8)));
    long count = read(descriptor, octets, sizeof octets);
    return count > 0 && ((struct inotify_event *)octets)->mask & IN_CREATE ? 1 : -1;
}
static long do_inotify(void)
{
    char folder[] = "/tmp/lockstep-host-XXXXXX";
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/file", folder);
    descriptor = inotify_init1(0);
    inotify_add_watch(descriptor, folder, IN_CREATE);
    long result = beside(touch_file, read_notification);
    unlink(path);
    rmdir(folder);
    return result;
}
static void send_signal(void) { kill(getpid(), SIGUSR1); }
static long read_signal(void)
{
    struct signalfd_siginfo information;
    return read(descriptor, &information, sizeof information) > 0 ? (long)information.ssi_signo : -1;
}
static long do_signalfd(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    descriptor = signalfd(-1, &set, 0);
    return beside(send_signal, read_signal);
}
static long do_pidfd(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        nanosleep(&duration, NULL);
        _exit(0);
    }
    struct pollfd event = {(int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0};
    long result = poll(&event, 1, -1);
    wait(NULL);
    return result;
}
/// A copy of a socket is a socket of the same protocol.
static long do_fcntl_dup(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    bind(listener, (struct sockaddr *)&address, size);
    getsockname(fcntl(listener, F_DUPFD_CLOEXEC, 50), (struct sockaddr *)&address, &size);
    return address.sin_family;
}
static long do_getaddrinfo(void)
{
    struct addrinfo *known = NULL, *unknown = NULL;
    long result = getaddrinfo("127.0.0.1", "80", NULL, &known);
    return result * 10 + (getaddrinfo("host.example", "80", NULL, &unknown) == EAI_NONAME);
}

// MARK: Queues

static mqd_t queue;
static long open_queue(long (*body)(void), void (*work)(void))
{
    struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
    char name[32];
    snprintf(name, sizeof name, "/lockstep-%ld", syscall(SYS_getppid));
    mq_unlink(name);
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
    if (queue < 0)
        return -1;
    mq_unlink(name);
    return work != NULL ? beside(work, body) : body();
}
static char message[8];
static long receive_queue(void) { return mq_receive(queue, message, 8, NULL); }
static void send_queue(void) { mq_send(queue, "x", 1, 0); }
static long receive_limited(void)
{
    struct timespec time = later(CLOCK_REALTIME, 1500000000);
    return mq_timedreceive(queue, message, 8, NULL, &time) < 0 && errno == ETIMEDOUT ? 0 : -1;
}
static long send_limited(void)
{
    struct timespec time = later(CLOCK_REALTIME, 1500000000);
    send_queue();
    return mq_timedsend(queue, "x", 1, 0, &time) < 0 && errno == ETIMEDOUT ? 0 : -1;
}
static void take_queue(void) { receive_queue(); }
static long send_second(void)
{
    send_queue();
    return mq_send(queue, "y", 1, 0);
}
static long do_mq_receive(void) { return open_queue(receive_queue, send_queue); }
static long do_mq_send(void) { return open_queue(send_second, take_queue); }
static long do_mq_timedreceive(void) { return open_queue(receive_limited, NULL); }
static long do_mq_timedsend(void) { return open_queue(send_limited, NULL); }

static struct {
    long type;
    char text[4];
} letter = {1, "abc"};
static void send_letter(void) { msgsnd(descriptor, &letter, 4, 0); }
static long receive_letter(void) { return msgrcv(descriptor, &letter, 4, 0, 0); }
static long do_msgrcv(void)
{
    descriptor = msgget(IPC_PRIVATE, 0600);
    long result = beside(send_letter, receive_letter);
    msgctl(descriptor, IPC_RMID, NULL);
    return result;
}
static void raise_semaphore(void) { semop(descriptor, &(struct sembuf){0, 1, 0}, 1); }
static long lower_semaphore(void) { return semop(descriptor, &(struct sembuf){0, -1, 0}, 1); }
static long do_semop(void)
{
    descriptor = semget(IPC_PRIVATE, 1, 0600);
    long result = beside(raise_semaphore, lower_semaphore);
    semctl(descriptor, 0, IPC_RMID);
    return result;
}
static long do_semtimedop(void)
{
    int set = semget(IPC_PRIVATE, 1, 0600);
    bool has_failed = semtimedop(set, &(struct sembuf){0, -1, 0}, 1, &duration) < 0 && errno == EAGAIN;
    semctl(set, 0, IPC_RMID);
    return has_failed ? 0 : -1;
}

// MARK: Locks of files

static FILE *file;
static int other;
static void unlock_file(void) { flock(descriptor, LOCK_UN); }
static long lock_other(void) { return flock(other, LOCK_EX); }
static long do_flock(void)
{
    char name[] = "/tmp/lockstep-host-XXXXXX";
    descriptor = mkstemp(name);
    other = open(name, O_RDWR);
    unlink(name);
    flock(descriptor, LOCK_EX);
    return beside(unlock_file, lock_other);
}
static long with_lock_of_child(long (*body)(void))
{
    file = tmpfile();
    int begun[2];
    char octet;
    if (pipe(begun) != 0)
        return -1;
    if (fork() == 0) {
        struct flock lock = {.l_type = F_WRLCK};
        fcntl(fileno(file), F_SETLK, &lock);
        (void)!write(begun[1], "x", 1);
        nanosleep(&duration, NULL);
        _exit(0);
    }
    (void)!read(begun[0], &octet, 1);
    long result = body();
    wait(NULL);
    return result;
}
static long lock_fcntl(void)
{
    struct flock lock = {.l_type = F_WRLCK};
    return fcntl(fileno(file), F_SETLKW, &lock);
}
static long lock_lockf(void) { return lockf(fileno(file), F_LOCK, 0); }
static long do_fcntl_lock(void) { return with_lock_of_child(lock_fcntl); }
static long do_lockf(void) { return with_lock_of_child(lock_lockf); }

// MARK: What processes share

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    sem_t semaphore;
    uint32_t word;
} *shared;

/// Wakes the waits below from a child process, after 1.5 s.
static long with_child(long (*body)(void))
{
    pthread_mutexattr_t mutex;
    pthread_condattr_t condition;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &mutex);
    pthread_condattr_init(&condition);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared->condition, &condition);
    sem_init(&shared->semaphore, 1, 0);
    if (fork() == 0) {
        nanosleep(&duration, NULL);
        pthread_mutex_lock(&shared->mutex);
        pthread_cond_signal(&shared->condition);
        pthread_mutex_unlock(&shared->mutex);
        sem_post(&shared->semaphore);
        shared->word = 1;
        syscall(SYS_futex, &shared->word, FUTEX_WAKE, 1, NULL, NULL, 0);
        _exit(0);
    }
    long result = body();
    wait(NULL);
    return result;
}
static long wait_shared_condition(void)
{
    pthread_mutex_lock(&shared->mutex);
    long result = pthread_cond_wait(&shared->condition, &shared->mutex);
    pthread_mutex_unlock(&shared->mutex);
    return result;
}
static long wait_shared_semaphore(void) { return sem_wait(&shared->semaphore); }
static long wait_shared_word(void) { return syscall(SYS_futex, &shared->word, FUTEX_WAIT, 0, NULL, NULL, 0); }
static long do_cond_shared(void) { return with_child(wait_shared_condition); }
static long do_sem_shared(void) { return with_child(wait_shared_semaphore); }
static long do_futex_shared(void) { return with_child(wait_shared_word); }

// MARK: Limits of locks

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;
static struct timespec limit;
static int limited(int (*call)(void), clockid_t clock)
{
    limit = later(clock, 1500000000);
    return call();
}
static int time_read(void) { return pthread_rwlock_timedrdlock(&lock, &limit); }
static int time_write(void) { return pthread_rwlock_timedwrlock(&lock, &limit); }
static long do_rwlock_timedrdlock(void)
{
    pthread_rwlock_wrlock(&lock);
    return limited(time_read, CLOCK_REALTIME) == ETIMEDOUT ? 0 : -1;
}
static long do_rwlock_timedwrlock(void)
{
    pthread_rwlock_rdlock(&lock);
    return limited(time_write, CLOCK_REALTIME) == ETIMEDOUT ? 0 : -1;
}
#ifdef __GLIBC__
static int clock_read(void) { return pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &limit); }
static int clock_write(void) { return pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &limit); }
static int clock_mutex(void) { return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &limit); }
static int clock_semaphore(void) { return sem_clockwait(&semaphore, CLOCK_MONOTONIC, &limit); }
static long do_rwlock_clockrdlock(void)
{
    pthread_rwlock_wrlock(&lock);
    return limited(clock_read, CLOCK_MONOTONIC) == ETIMEDOUT ? 0 : -1;
}
static long do_rwlock_clockwrlock(void)
{
    pthread_rwlock_rdlock(&lock);
    return limited(clock_write, CLOCK_MONOTONIC) == ETIMEDOUT ? 0 : -1;
}
static long do_mutex_clocklock(void)
{
    pthread_mutex_lock(&mutex);
    return limited(clock_mutex, CLOCK_MONOTONIC) == ETIMEDOUT ? 0 : -1;
}
static long do_sem_clockwait(void) { return limited(clock_semaphore, CLOCK_MONOTONIC) < 0 && errno == ETIMEDOUT ? 0 : -1; }
static void *sleep_long(void *unused)
{
    sleep(100);
    return unused;
}
static long do_timedjoin(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_long, NULL);
    limit = later(CLOCK_REALTIME, 1500000000);
    return pthread_timedjoin_np(thread, NULL, &limit) == ETIMEDOUT ? 0 : -1;
}
#endif
static long do_cnd_timedwait(void)
{
    mtx_t own;
    cnd_t condition;
    mtx_init(&own, mtx_timed);
    cnd_init(&condition);
    mtx_lock(&own);
    limit = later(CLOCK_REALTIME, 1500000000);
    return cnd_timedwait(&condition, &own, &limit) == thrd_timedout ? 0 : -1;
}

const struct row more_rows[] = {
    ROW(recvmmsg), ROW(recvmmsg_timeout), ROW(fscanf), ROW(sendfile), ROW(eventfd), ROW(inotify), ROW(signalfd),
    ROW(pidfd), ROW(fcntl_dup), ROW(getaddrinfo), ROW(mq_receive), ROW(mq_send), ROW(mq_timedreceive),
    ROW(mq_timedsend), ROW(msgrcv), ROW(semop), ROW(semtimedop), ROW(flock), ROW(fcntl_lock), ROW(lockf),
    ROW(cond_shared), ROW(sem_shared), ROW(futex_shared), ROW(rwlock_timedrdlock), ROW(rwlock_timedwrlock),
    ROW(cnd_timedwait),
#ifdef __GLIBC__
    ROW(rwlock_clockrdlock), ROW(rwlock_clockwrlock), ROW(mutex_clocklock), ROW(sem_clockwait), ROW(timedjoin),
#endif
    {NULL, NULL},
};
