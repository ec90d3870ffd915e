// Calls that read and write octets.

#include "internal.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define AWAIT(descriptor, events, call) \
    if (ls_on()) { \
        int problem = ls_await_descriptor(descriptor, events, call); \
        if (problem != 0) \
            return ls_result(problem); \
    }

// MARK: Reading

PUBLIC ssize_t read(int descriptor, void *octets, size_t count)
{
    int64_t expirations;
    if (ls_on() && ls_kind(descriptor) == ls_random) {
        ls_fill_random(octets, count);
        return (ssize_t)count;
    }
    AWAIT(descriptor, POLLIN, "read")
    if (ls_on() && count >= 8 && ls_read_timer(descriptor, &expirations)) {
        if (expirations < 0)
            return ls_result(expirations);
        *(uint64_t *)octets = (uint64_t)expirations;
        return 8;
    }
    return ls_result(SYS3(SYS_read, descriptor, octets, count));
}

PUBLIC ssize_t __read_chk(int descriptor, void *octets, size_t count, size_t size)
{
    (void)size;
    return read(descriptor, octets, count);
}

PUBLIC ssize_t readv(int descriptor, const struct iovec *parts, int count)
{
    AWAIT(descriptor, POLLIN, "readv")
    return ls_result(SYS3(SYS_readv, descriptor, parts, count));
}

PUBLIC ssize_t recvfrom(
    int descriptor, void *restrict octets, size_t count, int flags, struct sockaddr *restrict address,
    socklen_t *restrict size)
{
    if (!(flags & MSG_DONTWAIT)) {
        AWAIT(descriptor, POLLIN, "recv")
    }
    if (flags & MSG_WAITALL && ls_on()) {
        size_t total = 0;
        while (total < count) {
            AWAIT(descriptor, POLLIN, "recv")
            long result = SYS6(
                SYS_recvfrom, descriptor, (char *)octets + total, count - total, flags & ~MSG_WAITALL, address, size);
            if (result <= 0)
                return total > 0 ? (ssize_t)total : ls_result(result);
            total += (size_t)result;
        }
        return (ssize_t)total;
    }
    return ls_result(SYS6(SYS_recvfrom, descriptor, octets, count, flags, address, size));
}

PUBLIC ssize_t recv(int descriptor, void *octets, size_t count, int flags)
{
    return recvfrom(descriptor, octets, count, flags, NULL, NULL);
}

PUBLIC ssize_t __recv_chk(int descriptor, void *octets, size_t count, size_t size, int flags)
{
    (void)size;
    return recvfrom(descriptor, octets, count, flags, NULL, NULL);
}

PUBLIC ssize_t __recvfrom_chk(
    int descriptor, void *restrict octets, size_t count, size_t limit, int flags, struct sockaddr *restrict address,
    socklen_t *restrict size)
{
    (void)limit;
    return recvfrom(descriptor, octets, count, flags, address, size);
}

PUBLIC ssize_t recvmsg(int descriptor, struct msghdr *message, int flags)
{
    if (!(flags & MSG_DONTWAIT)) {
        AWAIT(descriptor, POLLIN, "recvmsg")
    }
    return ls_result(SYS3(SYS_recvmsg, descriptor, message, flags));
}

// MARK: Writing

/// Writes all octets of a call that would block in the system: as many at a time as the reader accepts.
static ssize_t write_blocking(int descriptor, const char *octets, size_t count, int flags, const char *call)
{
    size_t total = 0;
    int type = 0;
    socklen_t size = sizeof type;
    bool is_socket = SYS5(SYS_getsockopt, descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0;
    while (total < count) {
        int problem = ls_await_descriptor(descriptor, POLLOUT, call);
        if (problem != 0)
            return total > 0 ? (ssize_t)total : problem;
        size_t part = count - total;
        long result;
        if (is_socket) {
            result = SYS6(SYS_sendto, descriptor, octets + total, part, flags | MSG_DONTWAIT, NULL, 0);
            // A socket that accepts some octets, but not these: wait until other threads have read.
            if (result == -EAGAIN) {
                struct ls_wait wait = {call, LOCKSTEP_NEVER, true, false};
                if (ls_wait_again(&wait) == ls_interrupted)
                    return total > 0 ? (ssize_t)total : -EINTR;
                continue;
            }
        } else {
            result = SYS3(SYS_write, descriptor, octets + total, part < PIPE_BUF ? part : PIPE_BUF);
        }
        if (result < 0)
            return total > 0 ? (ssize_t)total : result;
        total += (size_t)result;
    }
    return (ssize_t)total;
}

/// True if writing may wait for a reader in the system.
static bool may_block(int descriptor, size_t count)
{
    struct pollfd event = {descriptor, POLLOUT, 0};
    struct timespec none = {0, 0};
    if (count <= PIPE_BUF && SYS5(SYS_ppoll, &event, 1, &none, NULL, 8) != 0)
        return false;
    long flags = SYS3(SYS_fcntl, descriptor, F_GETFL, 0);
    if (flags < 0 || flags & O_NONBLOCK)
        return false;
    // Files are always ready.
    return SYS3(SYS_lseek, descriptor, 0, SEEK_CUR) == -ESPIPE;
}

PUBLIC ssize_t write(int descriptor, const void *octets, size_t count)
{
    if (ls_on() && may_block(descriptor, count))
        return ls_result(write_blocking(descriptor, octets, count, 0, "write"));
    return ls_result(SYS3(SYS_write, descriptor, octets, count));
}

PUBLIC ssize_t writev(int descriptor, const struct iovec *parts, int count)
{
    size_t total = 0;
    for (int i = 0; i < count; i++)
        total += parts[i].iov_len;
    if (!ls_on() || !may_block(descriptor, total))
        return ls_result(SYS3(SYS_writev, descriptor, parts, count));
    ssize_t written = 0;
    for (int i = 0; i < count; i++) {
        ssize_t result = write_blocking(descriptor, parts[i].iov_base, parts[i].iov_len, 0, "writev");
        if (result < 0)
            return written > 0 ? written : ls_result(result);
        written += result;
    }
    return written;
}

PUBLIC ssize_t sendto(
    int descriptor, const void *octets, size_t count, int flags, const struct sockaddr *address, socklen_t size)
{
    if (address == NULL && !(flags & MSG_DONTWAIT) && ls_on() && may_block(descriptor, count))
        return ls_result(write_blocking(descriptor, octets, count, flags, "send"));
    return ls_result(SYS6(SYS_sendto, descriptor, octets, count, flags, address, size));
}

PUBLIC ssize_t send(int descriptor, const void *octets, size_t count, int flags)
{
    return sendto(descriptor, octets, count, flags, NULL, 0);
}

PUBLIC ssize_t sendmsg(int descriptor, const struct msghdr *message, int flags)
{
    if (!(flags & MSG_DONTWAIT)) {
        AWAIT(descriptor, POLLOUT, "sendmsg")
    }
    return ls_result(SYS3(SYS_sendmsg, descriptor, message, flags));
}

// MARK: Descriptors

PUBLIC int close(int descriptor)
{
    if (ls_kind(descriptor) == ls_timer)
        ls_forget_timer(descriptor);
    ls_set_kind(descriptor, ls_plain);
    return (int)ls_result(SYS1(SYS_close, descriptor));
}

static int open_random(int flags)
{
    int descriptor = (int)ls_result(SYS2(SYS_memfd_create, "random", flags & O_CLOEXEC ? 1 : 0));
    if (descriptor < 0)
        return -1;
    // For readers that `read` does not see, such as those of stdio.
    char octets[4096];
    for (int i = 0; i < 4; i++) {
        ls_fill_random(octets, sizeof octets);
        SYS3(SYS_write, descriptor, octets, sizeof octets);
    }
    SYS3(SYS_lseek, descriptor, 0, SEEK_SET);
    ls_set_kind(descriptor, ls_random);
    return descriptor;
}

static bool is_random(const char *path)
{
    return ls_on() && ls_state->is_random_answered
        && (__builtin_strcmp(path, "/dev/urandom") == 0 || __builtin_strcmp(path, "/dev/random") == 0);
}

static int open_file(int folder, const char *path, int flags, int mode)
{
    if (is_random(path))
        return open_random(flags);
    int descriptor = (int)ls_result(SYS4(SYS_openat, folder, path, flags, mode));
    ls_set_kind(descriptor, ls_plain);
    return descriptor;
}

#define MODE(flags) \
    int mode = 0; \
    if ((flags) & O_CREAT || ((flags) & O_TMPFILE) == O_TMPFILE) { \
        va_list arguments; \
        va_start(arguments, flags); \
        mode = va_arg(arguments, int); \
        va_end(arguments); \
    }

PUBLIC int open(const char *path, int flags, ...)
{
    MODE(flags)
    return open_file(AT_FDCWD, path, flags, mode);
}

PUBLIC int openat(int folder, const char *path, int flags, ...)
{
    MODE(flags)
    return open_file(folder, path, flags, mode);
}

// The streams of the C library do not call the functions above.
static FILE *random_stream(void)
{
    int descriptor = open_random(0);
    return descriptor < 0 ? NULL : fdopen(descriptor, "r");
}

PUBLIC FILE *fopen(const char *path, const char *mode)
{
    REAL(fopen)
    return is_random(path) ? random_stream() : real(path, mode);
}

// In musl, these names are macros.
#ifdef __GLIBC__
PUBLIC FILE *fopen64(const char *path, const char *mode)
{
    REAL(fopen64)
    return is_random(path) ? random_stream() : real(path, mode);
}

PUBLIC int open64(const char *path, int flags, ...)
{
    MODE(flags)
    return open_file(AT_FDCWD, path, flags, mode);
}

PUBLIC int openat64(int folder, const char *path, int flags, ...)
{
    MODE(flags)
    return open_file(folder, path, flags, mode);
}
#endif
