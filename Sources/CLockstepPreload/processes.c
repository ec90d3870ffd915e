// Processes: fork, exec, spawn, waits for children, and the numbers of processes.
//
// A process has the same number in each run: programs use it as a seed. It is the number of its entry, and translated
// in the calls that take or return one.

#include "internal.h"

#include <fcntl.h>
#include <pty.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// MARK: Numbers

int32_t ls_system_pid(int32_t pid)
{
    int index = pid - ls_first_pid;
    if (ls_state == NULL || index < 0 || index >= lockstep_max_processes)
        return pid;
    int32_t known = ls_state->processes[index].pid;
    return known != 0 ? known : pid;
}

int32_t ls_program_pid(int32_t pid)
{
    if (ls_state == NULL || pid <= 0)
        return pid;
    for (int i = 1; i < ls_state->process_count; i++) {
        const struct lockstep_process *process = &ls_state->processes[i];
        if (process->pid == pid && process->state != lockstep_process_free && !process->is_reaped)
            return ls_first_pid + i;
    }
    return pid;
}

PUBLIC pid_t getpid(void)
{
    if (ls_on())
        return ls_first_pid + ls_process;
    return (pid_t)lockstep_system(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

/// The first thread of a process has the number of the process: programs know it by that.
PUBLIC pid_t gettid(void)
{
    if (!ls_on())
        return (pid_t)lockstep_system(SYS_gettid, 0, 0, 0, 0, 0, 0);
    bool is_first = lockstep_system(SYS_gettid, 0, 0, 0, 0, 0, 0) == lockstep_system(SYS_getpid, 0, 0, 0, 0, 0, 0);
    return is_first ? ls_first_pid + ls_process : ls_first_pid + lockstep_max_processes + ls_self;
}

PUBLIC pid_t getppid(void)
{
    if (ls_on() && ls_state->processes[ls_process].parent == 0)
        return ls_first_pid;
    return ls_program_pid((int32_t)lockstep_system(SYS_getppid, 0, 0, 0, 0, 0, 0));
}

PUBLIC int pidfd_open(pid_t pid, unsigned flags)
{
    return (int)ls_result(SYS2(SYS_pidfd_open, ls_system_pid(pid), flags));
}

PUBLIC pid_t getpgid(pid_t pid)
{
    return ls_program_pid((int32_t)ls_result(SYS1(SYS_getpgid, ls_system_pid(pid))));
}

PUBLIC pid_t getpgrp(void)
{
    return getpgid(0);
}

PUBLIC int setpgid(pid_t pid, pid_t group)
{
    return (int)ls_result(SYS2(SYS_setpgid, ls_system_pid(pid), ls_system_pid(group)));
}

PUBLIC pid_t setsid(void)
{
    return ls_program_pid((int32_t)ls_result(lockstep_system(SYS_setsid, 0, 0, 0, 0, 0, 0)));
}

PUBLIC pid_t tcgetpgrp(int descriptor)
{
    REAL(tcgetpgrp)
    return ls_program_pid(real(descriptor));
}

PUBLIC int tcsetpgrp(int descriptor, pid_t group)
{
    REAL(tcsetpgrp)
    return real(descriptor, ls_system_pid(group));
}

// MARK: fork

static int reserve(void)
{
    int process = lockstep_add_process(ls_state, ls_state->processes[ls_process].name, ls_process, false);
    if (process < 0)
        ls_message("can't start another process: the lockstep has %d at most", lockstep_max_processes);
    return process;
}

static void cancel(int process)
{
    for (int i = 0; i < ls_state->thread_count; i++)
        if (ls_state->threads[i].process == process)
            ls_state->threads[i].state = lockstep_thread_free;
    ls_state->processes[process].state = lockstep_process_free;
}

PUBLIC pid_t fork(void)
{
    REAL(fork)
    if (!ls_on())
        return real();
    int process = reserve();
    if (process < 0)
        return (pid_t)ls_result(-EAGAIN);
    pid_t pid = real();
    if (pid < 0) {
        int problem = errno;
        cancel(process);
        errno = problem;
    } else if (pid == 0) {
        ls_process = process;
        ls_self = lockstep_main_thread(ls_state, process);
        lockstep_set_pid(ls_state, process, (int32_t)lockstep_system(SYS_getpid, 0, 0, 0, 0, 0, 0));
        ls_thread_forked();
        ls_timers_forked();
        lockstep_start(ls_state, ls_self, (int32_t)lockstep_system(SYS_gettid, 0, 0, 0, 0, 0, 0));
    } else {
        lockstep_set_pid(ls_state, process, pid);
        return ls_first_pid + process;
    }
    return pid;
}

// The child of `vfork` may only call exec, so a child with memory of its own does the same.
PUBLIC pid_t vfork(void)
{
    return fork();
}

PUBLIC int daemon(int keeps_folder, int keeps_streams)
{
    REAL(daemon)
    if (!ls_on())
        return real(keeps_folder, keeps_streams);
    pid_t pid = fork();
    if (pid != 0)
        return pid < 0 ? -1 : (_exit(0), 0);
    setsid();
    if (!keeps_folder)
        (void)!chdir("/");
    int null = keeps_streams ? -1 : open("/dev/null", O_RDWR);
    for (int i = 0; i < 3 && null >= 0; i++)
        dup2(null, i);
    if (null > 2)
        close(null);
    return 0;
}

PUBLIC pid_t forkpty(
    int *main, char *name, const struct termios *settings, const struct winsize *size)
{
    REAL(forkpty)
    int terminal;
    if (!ls_on())
        return real(main, name, settings, size);
    if (openpty(main, &terminal, name, settings, size) != 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        close(*main);
        setsid();
        ioctl(terminal, TIOCSCTTY, 0);
        for (int i = 0; i < 3; i++)
            dup2(terminal, i);
        if (terminal <= 2)
            return 0;
    }
    close(terminal);
    if (pid < 0)
        close(*main);
    return pid;
}

// MARK: exec

extern char **environ;

/// Copies an environment, with the variables of the lockstep.
static char **with_lockstep(char *const environment[])
{
    static char *const none[] = {NULL};
    static const char *const names[] = {"BLE_LOCKSTEP=", "LD_PRELOAD=", "OPENSSL_CONF=", "OPENSSL_ia32cap="};
    if (environment == NULL)
        environment = none;
    size_t count = 0;
    while (environment[count] != NULL)
        count++;
    char **copy = calloc(count + 4, sizeof *copy);
    if (copy == NULL)
        return NULL;
    memcpy(copy, environment, count * sizeof *copy);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        bool has = false;
        for (size_t j = 0; j < count && !has; j++)
            has = strncmp(environment[j], names[i], length) == 0;
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)length - 1, names[i]);
        const char *value = getenv(name);
        if (has || value == NULL)
            continue;
        size_t size = length + strlen(value) + 1;
        char *text = malloc(size);
        if (text == NULL)
            continue;
        snprintf(text, size, "%s%s", names[i], value);
        copy[count++] = text;
    }
    return copy;
}

static void note_static(const char *path, int process)
{
    if (!lockstep_is_static(path))
        return;
    ls_state->processes[process].is_static = true;
    ls_message("%s is a static program, which can't follow the time: it counts as computing until it ends", path);
}

PUBLIC int execve(const char *path, char *const arguments[], char *const environment[])
{
    if (!ls_on())
        return (int)ls_result(SYS3(SYS_execve, path, arguments, environment));
    char **copy = with_lockstep(environment);
    if (access(path, X_OK) == 0)
        note_static(path, ls_process);
    long result = SYS3(SYS_execve, path, arguments, copy);
    ls_state->processes[ls_process].is_static = false;
    free(copy);
    return (int)ls_result(result);
}

PUBLIC int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    if (strchr(file, '/') != NULL)
        return execve(file, arguments, environment);
    const char *folders = getenv("PATH");
    if (folders == NULL)
        folders = "/bin:/usr/bin";
    int problem = ENOENT;
    while (true) {
        char path[4096];
        size_t length = strcspn(folders, ":");
        snprintf(path, sizeof path, "%.*s%s%s", (int)length, folders, length > 0 ? "/" : "", file);
        if (SYS3(SYS_faccessat, AT_FDCWD, path, X_OK) == 0)
            execve(path, arguments, environment);
        if (errno == EACCES)
            problem = EACCES;
        if (folders[length] == 0)
            break;
        folders += length + 1;
    }
    errno = problem;
    return -1;
}

PUBLIC int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

PUBLIC int execvp(const char *file, char *const arguments[])
{
    return execvpe(file, arguments, environ);
}

#define COLLECT(first) \
    enum { max_arguments = 1024 }; \
    char *arguments[max_arguments] = {(char *)(first)}; \
    int count = 1; \
    va_list list; \
    va_start(list, first); \
    while (count < max_arguments - 1 && (arguments[count] = va_arg(list, char *)) != NULL) \
        count++;

PUBLIC int execl(const char *path, const char *first, ...)
{
    COLLECT(first)
    va_end(list);
    return execve(path, arguments, environ);
}

PUBLIC int execlp(const char *file, const char *first, ...)
{
    COLLECT(first)
    va_end(list);
    return execvpe(file, arguments, environ);
}

PUBLIC int execle(const char *path, const char *first, ...)
{
    COLLECT(first)
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return execve(path, arguments, environment);
}

// MARK: spawn

typedef __typeof__(&posix_spawn) spawn_type;

static int spawn(
    spawn_type real, pid_t *result, const char *path, const posix_spawn_file_actions_t *actions,
    const posix_spawnattr_t *attributes, char *const arguments[], char *const environment[])
{
    int process = reserve();
    if (process < 0)
        return EAGAIN;
    char **copy = with_lockstep(environment);
    note_static(path, process);
    pid_t pid = 0;
    int problem = real(&pid, path, actions, attributes, arguments, copy);
    free(copy);
    if (problem != 0) {
        cancel(process);
        return problem;
    }
    lockstep_set_pid(ls_state, process, pid);
    if (result != NULL)
        *result = ls_first_pid + process;
    return 0;
}

PUBLIC int posix_spawn(
    pid_t *restrict result, const char *restrict path, const posix_spawn_file_actions_t *restrict actions,
    const posix_spawnattr_t *restrict attributes, char *const arguments[], char *const environment[])
{
    REAL(posix_spawn)
    if (!ls_on())
        return real(result, path, actions, attributes, arguments, environment);
    return spawn((spawn_type)real, result, path, actions, attributes, arguments, environment);
}

PUBLIC int posix_spawnp(
    pid_t *restrict result, const char *restrict file, const posix_spawn_file_actions_t *restrict actions,
    const posix_spawnattr_t *restrict attributes, char *const arguments[], char *const environment[])
{
    REAL(posix_spawnp)
    if (!ls_on())
        return real(result, file, actions, attributes, arguments, environment);
    return spawn((spawn_type)real, result, file, actions, attributes, arguments, environment);
}

// MARK: Waiting for children

/// Notes that this process knows the end of a child. Returns the number that programs use.
static pid_t reaped(pid_t pid)
{
    pid_t result = ls_program_pid(pid);
    if (result >= ls_first_pid)
        ls_state->processes[result - ls_first_pid].is_reaped = true;
    return result;
}

PUBLIC pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    if (!ls_on())
        return (pid_t)ls_result(SYS4(SYS_wait4, pid, status, options, usage));
    pid_t child = pid > 0 ? ls_system_pid(pid) : pid < -1 ? -ls_system_pid(-pid) : pid;
    struct ls_wait wait = {"wait", LOCKSTEP_NEVER, true, false};
    for (;;) {
        long result = SYS4(SYS_wait4, child, status, options | WNOHANG, usage);
        if (result > 0) {
            bool has_ended = status == NULL || WIFEXITED(*status) || WIFSIGNALED(*status);
            return has_ended ? reaped((pid_t)result) : ls_program_pid((pid_t)result);
        }
        if (result != 0 || options & WNOHANG) {
            if (result == 0)
                ls_spin();
            return (pid_t)ls_result(result);
        }
        if (ls_wait_again(&wait) == ls_interrupted)
            return (pid_t)ls_result(-EINTR);
    }
}

PUBLIC pid_t wait3(int *status, int options, struct rusage *usage)
{
    return wait4(-1, status, options, usage);
}

PUBLIC pid_t waitpid(pid_t pid, int *status, int options)
{
    return wait4(pid, status, options, NULL);
}

PUBLIC pid_t wait(int *status)
{
    return wait4(-1, status, 0, NULL);
}

PUBLIC int waitid(idtype_t type, id_t identifier, siginfo_t *information, int options)
{
    if (!ls_on())
        return (int)ls_result(SYS5(SYS_waitid, type, identifier, information, options, NULL));
    id_t child = type == P_PID ? (id_t)ls_system_pid((int32_t)identifier) : identifier;
    struct ls_wait wait = {"waitid", LOCKSTEP_NEVER, true, false};
    siginfo_t own;
    siginfo_t *answer = information != NULL ? information : &own;
    for (;;) {
        answer->si_pid = 0;
        long result = SYS5(SYS_waitid, type, child, answer, options | WNOHANG, NULL);
        if (result == 0 && answer->si_pid != 0) {
            answer->si_pid = options & WNOWAIT ? ls_program_pid(answer->si_pid) : reaped(answer->si_pid);
            return 0;
        }
        if (result != 0 || options & WNOHANG)
            return (int)ls_result(result);
        if (ls_wait_again(&wait) == ls_interrupted)
            return (int)ls_result(-EINTR);
    }
}

// MARK: The end

static _Noreturn void end(int status)
{
    if (ls_on())
        lockstep_process_ends(ls_state, ls_process);
    for (;;)
        SYS1(SYS_exit_group, status);
}

PUBLIC _Noreturn void _exit(int status)
{
    end(status);
}

PUBLIC _Noreturn void _Exit(int status)
{
    end(status);
}

// MARK: Commands

PUBLIC int system(const char *command)
{
    REAL(system)
    if (!ls_on() || command == NULL)
        return real(command);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    if (pid > 0)
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
    return status;
}

static struct {
    FILE *stream;
    pid_t pid;
} commands[64];

PUBLIC FILE *popen(const char *command, const char *mode)
{
    REAL(popen)
    if (!ls_on())
        return real(command, mode);
    bool reads = mode[0] == 'r';
    int pipes[2], slot = 0;
    while (slot < 64 && commands[slot].stream != NULL)
        slot++;
    if (slot == 64 || pipe2(pipes, O_CLOEXEC) != 0)
        return NULL;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(pipes[reads ? 1 : 0], reads ? 1 : 0);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    close(pipes[reads ? 1 : 0]);
    FILE *stream = pid > 0 ? fdopen(pipes[reads ? 0 : 1], reads ? "r" : "w") : NULL;
    if (stream == NULL) {
        close(pipes[reads ? 0 : 1]);
        return NULL;
    }
    commands[slot].stream = stream;
    commands[slot].pid = pid;
    return stream;
}

PUBLIC int pclose(FILE *stream)
{
    REAL(pclose)
    for (int i = 0; i < 64; i++) {
        if (commands[i].stream == NULL || commands[i].stream != stream)
            continue;
        commands[i].stream = NULL;
        fclose(stream);
        int status = -1;
        while (waitpid(commands[i].pid, &status, 0) < 0 && errno == EINTR) {
        }
        return status;
    }
    return real(stream);
}
