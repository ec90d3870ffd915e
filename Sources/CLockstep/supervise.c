// The shared file, and the supervisor's view of the processes. Used by the coordinator in real time.

#include "lockstep_layout.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockstep_system.h"

#define MAGIC 0x31304B434F4C4C42ULL

static struct lockstep *map(int descriptor)
{
    void *memory = mmap(NULL, sizeof(struct lockstep), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

struct lockstep *lockstep_create(const char *path, uint64_t seed, int64_t wall_start)
{
    int descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor < 0)
        return NULL;
    struct lockstep *lockstep = NULL;
    if (ftruncate(descriptor, sizeof(struct lockstep)) == 0)
        lockstep = map(descriptor);
    close(descriptor);
    if (lockstep == NULL)
        return NULL;
    lockstep->seed = seed;
    lockstep->wall_start = wall_start;
    // Some programs take a clock of 0 for none.
    lockstep->monotonic_start = 1000000000000;
    lockstep->end = LOCKSTEP_NEVER - 1;
    lockstep->is_random_answered = true;
    lockstep->magic = MAGIC;
    // The air is the first process, and has the first turn.
    lockstep_add_process(lockstep, "air", -1, false);
    lockstep_set_pid(lockstep, 0, getpid());
    lockstep->threads[0].state = lockstep_thread_running;
    lockstep->running = 0;
    return lockstep;
}

struct lockstep *lockstep_open(const char *path)
{
    int descriptor = (int)lockstep_system(SYS_openat, AT_FDCWD, (long)path, O_RDWR | O_CLOEXEC, 0, 0, 0);
    if (descriptor < 0)
        return NULL;
    struct lockstep *lockstep = map(descriptor);
    lockstep_system(SYS_close, descriptor, 0, 0, 0, 0, 0);
    return lockstep != NULL && lockstep->magic == MAGIC ? lockstep : NULL;
}

void lockstep_close(struct lockstep *lockstep)
{
    munmap(lockstep, sizeof *lockstep);
}

// MARK: Processes

/// True if the process runs no more: it no longer exists, or is a zombie.
static bool has_gone(int32_t pid)
{
    int descriptor = (int)syscall(SYS_pidfd_open, pid, 0);
    if (descriptor < 0)
        return errno == ESRCH;
    struct pollfd event = {descriptor, POLLIN, 0};
    bool result = poll(&event, 1, 0) == 1;
    close(descriptor);
    return result;
}

static bool is_exiting(const struct lockstep *lockstep, int index)
{
    return __atomic_load_n(&lockstep->running, __ATOMIC_ACQUIRE) == lockstep_exiting && lockstep->exiting == index;
}

/// Waits at most 100 ms for the end of a process.
static void await_end(int32_t pid)
{
    struct pollfd event = {(int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0};
    poll(&event, 1, 100);
    if (event.fd >= 0)
        close(event.fd);
}

int lockstep_find_ended(struct lockstep *lockstep)
{
    for (int i = 1; i < lockstep->process_count; i++) {
        struct lockstep_process *process = &lockstep->processes[i];
        int state = __atomic_load_n(&process->state, __ATOMIC_ACQUIRE);
        int32_t pid = __atomic_load_n(&process->pid, __ATOMIC_ACQUIRE);
        if (state != lockstep_process_alive)
            continue;
        bool has_ended = has_gone(pid);
        while (!has_ended && is_exiting(lockstep, i)) {
            await_end(pid);
            has_ended = has_gone(pid);
        }
        if (!has_ended)
            continue;
        // The programs are children of the coordinator. Their status is known before their turn is passed on.
        if (!process->has_status && process->is_program) {
            int status;
            process->has_status = waitpid(pid, &status, WNOHANG) == pid;
            process->status = process->has_status ? status : 0;
        }
        // Time moves on with the turn.
        process->end = lockstep_now(lockstep);
        lockstep_process_gone(lockstep, i);
        return i;
    }
    return -1;
}

bool lockstep_is_alive(const struct lockstep *lockstep, int index)
{
    int state = __atomic_load_n(&lockstep->processes[index].state, __ATOMIC_ACQUIRE);
    return state == lockstep_process_alive || state == lockstep_process_reserved;
}

int lockstep_process_count(const struct lockstep *lockstep)
{
    return lockstep->process_count;
}

const char *lockstep_name(const struct lockstep *lockstep, int index)
{
    return lockstep->processes[index].name;
}

bool lockstep_is_left_behind(const struct lockstep *lockstep, int index)
{
    int parent = lockstep->processes[index].parent;
    return lockstep_is_alive(lockstep, index) && parent > 0 && !lockstep_is_alive(lockstep, parent);
}

bool lockstep_has_processes(const struct lockstep *lockstep)
{
    for (int i = 1; i < lockstep->process_count; i++)
        if (lockstep_is_alive(lockstep, i))
            return true;
    return false;
}

void lockstep_kill_all(struct lockstep *lockstep)
{
    for (int i = 1; i < lockstep->process_count; i++)
        if (lockstep->processes[i].state == lockstep_process_alive && lockstep->processes[i].pid > 0)
            kill(lockstep->processes[i].pid, SIGKILL);
}

void lockstep_reap(struct lockstep *lockstep)
{
    for (int i = 1; i < lockstep->process_count; i++) {
        struct lockstep_process *process = &lockstep->processes[i];
        if (process->is_program && !process->has_status && process->pid > 0)
            process->has_status = waitpid(process->pid, &process->status, 0) == process->pid;
    }
}

void lockstep_set_end(struct lockstep *lockstep, int64_t end)
{
    lockstep->end = end;
}

bool lockstep_has_reached_end(const struct lockstep *lockstep)
{
    return lockstep->has_ended;
}

void lockstep_answer_random(struct lockstep *lockstep, bool answers)
{
    lockstep->is_random_answered = answers;
}

void lockstep_set_until(struct lockstep *lockstep, enum lockstep_until until, bool stops_on_failure)
{
    lockstep->until = until;
    lockstep->stops_on_failure = stops_on_failure;
}

bool lockstep_is_stopping(const struct lockstep *lockstep)
{
    return __atomic_load_n(&lockstep->is_stopping, __ATOMIC_ACQUIRE);
}

bool lockstep_has_ended_by_itself(const struct lockstep *lockstep, int process)
{
    return lockstep->processes[process].has_ended_by_itself;
}

int lockstep_status(const struct lockstep *lockstep, int process)
{
    return lockstep->processes[process].status;
}

int64_t lockstep_end(const struct lockstep *lockstep, int process)
{
    return lockstep->processes[process].end;
}

// MARK: Texts

static int describe(const struct lockstep *lockstep, int index, char *text, int size)
{
    const struct lockstep_thread *thread = &lockstep->threads[index];
    const struct lockstep_process *process = &lockstep->processes[thread->process];
    return snprintf(
        text, (size_t)size, "%s (process %d, thread %d): %s", process->name, process->pid, thread->tid, thread->call);
}

void lockstep_describe(const struct lockstep *lockstep, char *text, int size)
{
    text[0] = 0;
    int running = __atomic_load_n(&lockstep->running, __ATOMIC_ACQUIRE);
    if (running >= 0) {
        const struct lockstep_thread *thread = &lockstep->threads[running];
        const struct lockstep_process *process = &lockstep->processes[thread->process];
        const char *state = process->is_static
            ? "is a static program, which can't follow the time"
            : "runs: it computes, or a call that does not follow the time blocks it";
        snprintf(
            text, (size_t)size, "%s (process %d, thread %d) %s; its last wait was %s", process->name, process->pid,
            thread->tid, state, thread->call);
        return;
    }
    if (running == lockstep_exiting) {
        snprintf(text, (size_t)size, "%s does not end", lockstep->processes[lockstep->exiting].name);
        return;
    }
    int length = 0;
    for (int i = 1; i < lockstep->thread_count && length < size - 160; i++) {
        const struct lockstep_thread *thread = &lockstep->threads[i];
        if (thread->state == lockstep_thread_free || !lockstep_is_alive(lockstep, thread->process))
            continue;
        if (length > 0)
            length += snprintf(text + length, (size_t)(size - length), "\n");
        length += describe(lockstep, i, text + length, size - length);
    }
}

// MARK: Programs

bool lockstep_fix_address_layout(void)
{
    int now = personality(0xFFFFFFFF);
    return now >= 0 && personality((unsigned long)now | ADDR_NO_RANDOMIZE) >= 0;
}

/// Finds a program as execvp does. Returns false if there is none.
static bool find(const char *file, char *path, size_t size)
{
    if (strchr(file, '/') != NULL)
        return snprintf(path, size, "%s", file) < (int)size && access(path, X_OK) == 0;
    const char *folders = getenv("PATH");
    if (folders == NULL)
        folders = "/usr/local/bin:/usr/bin:/bin";
    while (*folders != 0) {
        size_t length = strcspn(folders, ":");
        if (length > 0 && snprintf(path, size, "%.*s/%s", (int)length, folders, file) < (int)size
            && access(path, X_OK) == 0)
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

bool lockstep_is_static(const char *file)
{
    char path[4096];
    if (!find(file, path, sizeof path))
        return false;
    FILE *stream = fopen(path, "rbe");
    if (stream == NULL)
        return false;
    Elf64_Ehdr header;
    bool is_elf = fread(&header, sizeof header, 1, stream) == 1 && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0
        && header.e_ident[EI_CLASS] == ELFCLASS64;
    bool has_interpreter = false;
    for (int i = 0; is_elf && i < header.e_phnum; i++) {
        Elf64_Phdr segment;
        if (fseek(stream, (long)(header.e_phoff + (uint64_t)i * header.e_phentsize), SEEK_SET) != 0
            || fread(&segment, sizeof segment, 1, stream) != 1)
            break;
        has_interpreter |= segment.p_type == PT_INTERP;
    }
    fclose(stream);
    return is_elf && !has_interpreter;
}

int lockstep_spawn(
    struct lockstep *lockstep, int process, char *const arguments[], char *const environment[], int output)
{
    char path[4096];
    if (!find(arguments[0], path, sizeof path))
        return ENOENT;
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0)
        return errno;
    pid_t pid = fork();
    if (pid == 0) {
        // A killed coordinator leaves no programs behind, which would wait for ever.
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        for (int number = 1; number < 32; number++)
            signal(number, SIG_DFL);
        lockstep_fix_address_layout();
        if (output >= 0) {
            dup2(output, 1);
            dup2(output, 2);
        }
        execve(path, arguments, environment);
        int problem = errno;
        (void)!write(report[1], &problem, sizeof problem);
        _exit(127);
    }
    close(report[1]);
    int problem = pid < 0 ? errno : 0;
    if (pid > 0 && read(report[0], &problem, sizeof problem) == sizeof problem)
        waitpid(pid, NULL, 0);
    close(report[0]);
    if (problem == 0)
        lockstep_set_pid(lockstep, process, pid);
    return problem;
}
