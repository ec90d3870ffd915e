// Message queues, semaphores of System V, locks of files, and calls that pass several messages or a file.

#include "internal.h"

#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

/// Repeats a system call that does not wait until it succeeds, fails for another reason than `busy`, or the deadline has
/// passed. Returns its result, or a negated `errno`.
#define REPEAT(expression, busy, deadline_value, call) \
    struct ls_wait wait = {call, deadline_value, false, false}; \
    for (;;) { \
        long result = expression; \
        if (result != -(busy) || ls_is_over(&wait)) \
            return ls_result(result); \
        if (ls_wait_again(&wait) == ls_interrupted) \
            return ls_result(-EINTR); \
    }

// MARK: POSIX message queues, which are descriptors

static int64_t queue_deadline(const struct timespec *time)
{
    return time != NULL ? ls_deadline(CLOCK_REALTIME, time) : LOCKSTEP_NEVER;
}

static ssize_t receive_from(
    mqd_t queue, char *octets, size_t count, unsigned *priority, const struct timespec *time)
{
    int problem = ls_on() ? ls_await_until(queue, POLLIN, queue_deadline(time), "mq_receive") : 0;
    if (problem != 0)
        return ls_result(problem == -EAGAIN ? -ETIMEDOUT : problem);
    return ls_result(SYS5(SYS_mq_timedreceive, queue, octets, count, priority, ls_on() ? NULL : time));
}

PUBLIC ssize_t mq_timedreceive(
    mqd_t queue, char *restrict octets, size_t count, unsigned *restrict priority,
    const struct timespec *restrict time)
{
    return receive_from(queue, octets, count, priority, time);
}

PUBLIC ssize_t mq_receive(mqd_t queue, char *octets, size_t count, unsigned *priority)
{
    return receive_from(queue, octets, count, priority, NULL);
}

static int send_to(mqd_t queue, const char *octets, size_t count, unsigned priority, const struct timespec *time)
{
    int problem = ls_on() ? ls_await_until(queue, POLLOUT, queue_deadline(time), "mq_send") : 0;
    if (problem != 0)
        return (int)ls_result(problem == -EAGAIN ? -ETIMEDOUT : problem);
    return (int)ls_result(SYS5(SYS_mq_timedsend, queue, octets, count, priority, ls_on() ? NULL : time));
}

PUBLIC int mq_timedsend(
    mqd_t queue, const char *octets, size_t count, unsigned priority, const struct timespec *time)
{
    return send_to(queue, octets, count, priority, time);
}

PUBLIC int mq_send(mqd_t queue, const char *octets, size_t count, unsigned priority)
{
    return send_to(queue, octets, count, priority, NULL);
}

// MARK: Message queues and semaphores of System V

static long receive_message(int queue, void *message, size_t size, long type, int flags)
{
    if (!ls_on() || flags & IPC_NOWAIT)
        return ls_result(SYS5(SYS_msgrcv, queue, message, size, type, flags));
    REPEAT(SYS5(SYS_msgrcv, queue, message, size, type, flags | IPC_NOWAIT), ENOMSG, LOCKSTEP_NEVER, "msgrcv")
}

PUBLIC ssize_t msgrcv(int queue, void *message, size_t size, long type, int flags)
{
    return receive_message(queue, message, size, type, flags);
}

static long send_message(int queue, const void *message, size_t size, int flags)
{
    if (!ls_on() || flags & IPC_NOWAIT)
        return ls_result(SYS4(SYS_msgsnd, queue, message, size, flags));
    REPEAT(SYS4(SYS_msgsnd, queue, message, size, flags | IPC_NOWAIT), EAGAIN, LOCKSTEP_NEVER, "msgsnd")
}

PUBLIC int msgsnd(int queue, const void *message, size_t size, int flags)
{
    return (int)send_message(queue, message, size, flags);
}

static long change_semaphores(int set, struct sembuf *operations, size_t count, const struct timespec *time)
{
    enum { max_operations = 500 };
    struct sembuf copy[max_operations];
    bool waits = count > 0 && count <= max_operations;
    for (size_t i = 0; i < count && waits; i++) {
        copy[i] = operations[i];
        copy[i].sem_flg |= IPC_NOWAIT;
        waits = !(operations[i].sem_flg & IPC_NOWAIT);
    }
    if (!ls_on() || !waits)
        return ls_result(SYS4(SYS_semtimedop, set, operations, count, time));
    int64_t deadline = ls_after(time != NULL ? ls_nanoseconds(time) : -1);
    REPEAT(SYS4(SYS_semtimedop, set, copy, count, NULL), EAGAIN, deadline, "semop")
}

PUBLIC int semtimedop(int set, struct sembuf *operations, size_t count, const struct timespec *time)
{
    return (int)change_semaphores(set, operations, count, time);
}

PUBLIC int semop(int set, struct sembuf *operations, size_t count)
{
    return (int)change_semaphores(set, operations, count, NULL);
}

// MARK: Locks of files, and copies of descriptors

static long lock_file(int descriptor, int operation)
{
    if (!ls_on() || operation & LOCK_NB)
        return ls_result(SYS2(SYS_flock, descriptor, operation));
    REPEAT(SYS2(SYS_flock, descriptor, operation | LOCK_NB), EAGAIN, LOCKSTEP_NEVER, "flock")
}

PUBLIC int flock(int descriptor, int operation)
{
    return (int)lock_file(descriptor, operation);
}

static long lock_record(int descriptor, int command, long argument)
{
    REPEAT(SYS3(SYS_fcntl, descriptor, command, argument), EAGAIN, LOCKSTEP_NEVER, "fcntl")
}

static int control(int descriptor, int command, long argument)
{
    if (ls_on() && (command == F_SETLKW || command == F_OFD_SETLKW))
        return (int)lock_record(descriptor, command == F_SETLKW ? F_SETLK : F_OFD_SETLK, argument);
    int result = (int)ls_result(SYS3(SYS_fcntl, descriptor, command, argument));
    if (result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC))
        ls_set_kind(result, ls_kind(descriptor));
    return result;
}

#define CONTROL \
    va_list list; \
    va_start(list, command); \
    long argument = va_arg(list, long); \
    va_end(list); \
    return control(descriptor, command, argument);

PUBLIC int fcntl(int descriptor, int command, ...)
{
    CONTROL
}

#ifdef __GLIBC__
PUBLIC int fcntl64(int descriptor, int command, ...)
{
    CONTROL
}
#endif

PUBLIC int lockf(int descriptor, int command, off_t size)
{
    REAL(lockf)
    if (!ls_on() || command != F_LOCK)
        return real(descriptor, command, size);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_len = size};
    return fcntl(descriptor, F_SETLKW, &lock);
}

#ifdef __GLIBC__
PUBLIC int lockf64(int descriptor, int command, off64_t size)
{
    return lockf(descriptor, command, size);
}
#endif

// MARK: Event descriptors

PUBLIC int eventfd_read(int descriptor, eventfd_t *value)
{
    return read(descriptor, value, sizeof *value) == sizeof *value ? 0 : -1;
}

PUBLIC int eventfd_write(int descriptor, eventfd_t value)
{
    return write(descriptor, &value, sizeof value) == sizeof value ? 0 : -1;
}

// MARK: Several messages, and files

// glibc and musl differ in the type of the flags.
#ifdef __GLIBC__
typedef int message_flags;
#else
typedef unsigned message_flags;
#endif

/// The time limit is one of the wait: the system's is looked at only between two messages.
PUBLIC int recvmmsg(
    int descriptor, struct mmsghdr *messages, unsigned count, message_flags flags, struct timespec *time)
{
    if (!ls_on() || (int)flags & MSG_DONTWAIT)
        return (int)ls_result(SYS5(SYS_recvmmsg, descriptor, messages, count, flags, time));
    int64_t deadline = ls_after(time != NULL ? ls_nanoseconds(time) : -1);
    unsigned received = 0;
    while (received < count) {
        int problem = ls_await_until(descriptor, POLLIN, deadline, "recvmmsg");
        long result = problem;
        if (problem == 0)
            result = SYS5(
                SYS_recvmmsg, descriptor, messages + received, count - received,
                ((int)flags & ~MSG_WAITFORONE) | MSG_DONTWAIT, NULL);
        if (result <= 0)
            return received > 0 ? (int)received : (int)ls_result(result);
        received += (unsigned)result;
        if ((int)flags & MSG_WAITFORONE)
            break;
    }
    return (int)received;
}

PUBLIC int sendmmsg(int descriptor, struct mmsghdr *messages, unsigned count, message_flags flags)
{
    unsigned sent = 0;
    for (; sent < count; sent++) {
        ssize_t result = sendmsg(descriptor, &messages[sent].msg_hdr, (int)flags);
        if (result < 0)
            break;
        messages[sent].msg_len = (unsigned)result;
    }
    return sent > 0 || count == 0 ? (int)sent : -1;
}

PUBLIC ssize_t sendfile(int to, int from, off_t *offset, size_t count)
{
    long flags = SYS3(SYS_fcntl, to, F_GETFL, 0);
    if (!ls_on() || flags < 0 || flags & O_NONBLOCK)
        return ls_result(SYS4(SYS_sendfile, to, from, offset, count));
    char octets[16384];
    size_t total = 0;
    while (total < count) {
        size_t part = count - total < sizeof octets ? count - total : sizeof octets;
        ssize_t size = offset != NULL ? pread(from, octets, part, *offset) : read(from, octets, part);
        if (size <= 0)
            return total > 0 ? (ssize_t)total : size;
        ssize_t written = write(to, octets, (size_t)size);
        if (written < 0)
            return total > 0 ? (ssize_t)total : -1;
        if (offset != NULL)
            *offset += written;
        total += (size_t)written;
    }
    return (ssize_t)total;
}

#ifdef __GLIBC__
PUBLIC ssize_t sendfile64(int to, int from, off64_t *offset, size_t count)
{
    return sendfile(to, from, offset, count);
}
#endif
