// Processes, the network of the host, clocks, random numbers, and bad ends.

#include "host.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <unistd.h>

// MARK: Processes

static long do_wait(void)
{
    if (fork() == 0) {
        nanosleep(&duration, NULL);
        _exit(7);
    }
    int status = 0;
    wait(&status);
    return WEXITSTATUS(status);
}
static long do_system(void) { return system("sleep 1.5"); }
static long do_popen(void)
{
    char text[8] = "";
    FILE *stream = popen("sleep 1.5; echo 7", "r");
    (void)!fgets(text, sizeof text, stream);
    pclose(stream);
    return atoi(text);
}
static long do_kill(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    nanosleep(&duration, NULL);
    kill(pid, SIGTERM);
    int status = 0;
    waitpid(pid, &status, 0);
    return WTERMSIG(status);
}
/// The program leaves its parent: its child goes on.
static long do_daemon(void)
{
    int64_t begin = later(CLOCK_MONOTONIC, 0).tv_sec;
    if (daemon(1, 1) != 0)
        return -1;
    nanosleep(&duration, NULL);
    return later(CLOCK_MONOTONIC, 0).tv_sec - begin;
}
static long do_forkpty(void)
{
    int terminal;
    char octet = 0;
    pid_t pid = forkpty(&terminal, NULL, NULL, NULL);
    if (pid == 0) {
        nanosleep(&duration, NULL);
        _exit(write(1, "x", 1) == 1 ? 0 : 1);
    }
    (void)!read(terminal, &octet, 1);
    waitpid(pid, NULL, 0);
    return octet;
}
static void note_signal(int number) { (void)number; }
static long do_sigsuspend(void)
{
    sigset_t set;
    sigemptyset(&set);
    pid_t parent = getpid();
    struct sigaction action = {.sa_handler = note_signal};
    sigaction(SIGUSR1, &action, NULL);
    if (fork() == 0) {
        nanosleep(&duration, NULL);
        kill(parent, SIGUSR1);
        _exit(0);
    }
    long result = sigsuspend(&set);
    return result < 0 && errno == EINTR ? 0 : -1;
}

// MARK: The network of the host

static long do_tcp(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    bind(listener, (struct sockaddr *)&address, sizeof address);
    listen(listener, 1);
    getsockname(listener, (struct sockaddr *)&address, &size);
    if (fork() == 0) {
        nanosleep(&duration, NULL);
        int client = socket(AF_INET, SOCK_STREAM, 0);
        connect(client, (struct sockaddr *)&address, sizeof address);
        _exit(send(client, "x", 1, 0) == 1 ? 0 : 1);
    }
    char octet = 0;
    return recv(accept(listener, NULL, NULL), &octet, 1, 0);
}

// MARK: Clocks

static long do_gettimeofday(void)
{
    struct timeval time;
    gettimeofday(&time, NULL);
    return time.tv_sec * 10 + time.tv_usec;
}
static long do_time(void)
{
    time_t before = time(NULL);
    sleep(100);
    return time(NULL) - before;
}
/// A loop that only reads the clock ends, although nothing waits.
static long do_spin(void)
{
    int64_t begin = now();
    while (now() - begin < 1000000) {
    }
    return 0;
}
static long do_getrandom(void)
{
    uint64_t first = 0, second = 0;
    getrandom(&first, sizeof first, 0);
    getentropy(&second, sizeof second);
    return (long)((first ^ second) & 0xFFFFFFFF);
}
static long do_urandom(void)
{
    uint32_t value = 0;
    FILE *stream = fopen("/dev/urandom", "r");
    (void)!fread(&value, sizeof value, 1, stream);
    fclose(stream);
    return value;
}
static long do_getpid(void) { return getpid(); }
static long do_times(void)
{
    clock_t begin = times(NULL);
    nanosleep(&duration, NULL);
    return (times(NULL) - begin) * 100 / sysconf(_SC_CLK_TCK);
}
static long do_getrusage(void)
{
    struct rusage usage;
    nanosleep(&duration, NULL);
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec * 10 + usage.ru_utime.tv_usec / 100000;
}
static long do_getitimer(void)
{
    struct itimerval value = {{0, 0}, {9, 0}};
    setitimer(ITIMER_REAL, &value, NULL);
    nanosleep(&duration, NULL);
    getitimer(ITIMER_REAL, &value);
    return value.it_value.tv_sec * 10 + value.it_value.tv_usec / 100000;
}
static long do_clock_settime(void)
{
    return clock_settime(CLOCK_REALTIME, &duration) < 0 && errno == EPERM ? 0 : -1;
}

// MARK: Bad ends

static long do_abort(void)
{
    nanosleep(&duration, NULL);
    abort();
}
static long do_fail(void) { exit(3); }
static long do_forever(void) { return pause(); }
/// Computes until it is killed.
static long do_hang(void)
{
    for (volatile int i = 0;; i++) {
    }
    return 0;
}
/// A call that follows no time: it blocks in the system while the program has the turn.
static long do_block(void)
{
    int held[2];
    (void)!pipe(held);
    return splice(held[0], NULL, open("/dev/null", O_WRONLY), NULL, 1, 0);
}
static long do_kill_self(void)
{
    nanosleep(&duration, NULL);
    return kill(getpid(), SIGKILL);
}
/// Leaves a child behind that goes on for an hour.
static long do_leave(void)
{
    if (fork() == 0) {
        sleep(3600);
        printf("left behind\n");
    }
    return 0;
}

const struct row process_rows[] = {
    ROW(wait), ROW(system), ROW(popen), ROW(kill), ROW(daemon), ROW(forkpty), ROW(sigsuspend), ROW(tcp),
    ROW(gettimeofday), ROW(time), ROW(spin), ROW(getrandom), ROW(urandom), ROW(getpid), ROW(times), ROW(getrusage),
    ROW(getitimer), ROW(clock_settime), ROW(abort), ROW(fail), ROW(forever), ROW(hang), ROW(block), ROW(kill_self),
    ROW(leave),
    {NULL, NULL},
};
