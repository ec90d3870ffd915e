// System calls that programs make by number.

#include "internal.h"

#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

PUBLIC long syscall(long number, ...)
{
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    long result;
    if (ls_on()) {
        switch (number) {
        case SYS_futex:
            if (ls_futex(a, &result))
                return ls_result(result);
            break;
        case SYS_getrandom: return getrandom((void *)a[0], (size_t)a[1], (unsigned)a[2]);
        case SYS_clock_gettime: return clock_gettime((clockid_t)a[0], (struct timespec *)a[1]);
        case SYS_nanosleep: return nanosleep((const struct timespec *)a[0], (struct timespec *)a[1]);
        case SYS_clock_nanosleep:
            result = clock_nanosleep(
                (clockid_t)a[0], (int)a[1], (const struct timespec *)a[2], (struct timespec *)a[3]);
            return ls_result(-result);
        case SYS_getpid: return getpid();
        case SYS_gettid: return gettid();
        case SYS_sched_yield: return sched_yield();
        case SYS_pidfd_open: return pidfd_open((pid_t)a[0], (unsigned)a[1]);
        case SYS_read: return read((int)a[0], (void *)a[1], (size_t)a[2]);
        case SYS_ppoll:
            return ppoll(
                (struct pollfd *)a[0], (nfds_t)a[1], (const struct timespec *)a[2], (const sigset_t *)a[3]);
        case SYS_epoll_pwait:
            return epoll_pwait((int)a[0], (struct epoll_event *)a[1], (int)a[2], (int)a[3], (const sigset_t *)a[4]);
        case SYS_epoll_pwait2:
            return epoll_pwait2(
                (int)a[0], (struct epoll_event *)a[1], (int)a[2], (const struct timespec *)a[3],
                (const sigset_t *)a[4]);
        case SYS_write: return write((int)a[0], (const void *)a[1], (size_t)a[2]);
        case SYS_connect: return connect((int)a[0], (const struct sockaddr *)a[1], (socklen_t)a[2]);
        case SYS_accept4: return accept4((int)a[0], (struct sockaddr *)a[1], (socklen_t *)a[2], (int)a[3]);
        case SYS_wait4: return wait4((pid_t)a[0], (int *)a[1], (int)a[2], (struct rusage *)a[3]);
        case SYS_waitid: return waitid((idtype_t)a[0], (id_t)a[1], (siginfo_t *)a[2], (int)a[3]);
        case SYS_kill: return kill((pid_t)a[0], (int)a[1]);
        case SYS_gettimeofday: return gettimeofday((struct timeval *)a[0], (void *)a[1]);
        case SYS_clone:
        case SYS_clone3:
            MESSAGE_ONCE("the system call clone makes a process or a thread that does not follow the time");
            break;
        // Programs have other ways where the system has no such call.
        case SYS_io_uring_setup: return ls_result(-ENOSYS);
        case SYS_exit_group: _exit((int)a[0]);
        default: break;
        }
    }
    return ls_result(lockstep_system(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}
