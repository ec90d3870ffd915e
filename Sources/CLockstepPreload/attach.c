// Overview
//
// This target becomes the library libble-lockstep.so, which `ble lockstep` loads into unchanged programs. Its functions
// stand before those of the C library: they answer clocks from the time of the lockstep, and turn waits into waits of
// the lockstep's scheduler (`CLockstep`).
//
// Callers: the programs. The library calls CLockstep and the system; it calls the C library only where that can't wait.
//
// Invariants:
// - A thread runs only while it has the turn. So one thread of all processes runs at a time, and nothing here needs
//   locks.
// - A wait is a check that is repeated (`ls_wait_again`): the check asks the system without waiting, and is repeated
//   after other threads have run.
// - A thread that is no part of the lockstep (`ls_self` is -1) gets the functions of the system.
//
// Where to begin: this file, then `waits.c` for descriptors, `threads.c`, `processes.c`, `signals.c`, `sockets.c`.
// Documentation/Lockstep.md is for users.

#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct lockstep *ls_state;
int ls_process = -1;
__thread int ls_self __attribute__((tls_model("initial-exec"))) = -1;

static char folder[96];
static bool is_attaching, is_outside;

const char *ls_folder(void)
{
    return folder;
}

void *ls_symbol(const char *name)
{
    void *symbol = NULL;
#ifdef __GLIBC__
    // The C library for x86-64 has two versions of condition variables; the default of `dlsym` is the old one.
    symbol = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
#endif
    if (symbol == NULL)
        symbol = dlsym(RTLD_NEXT, name);
    if (symbol == NULL) {
        ls_message("the function %s has no definition to pass calls to", name);
        abort();
    }
    return symbol;
}

void ls_message(const char *format, ...)
{
    char text[512], line[640];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *name = ls_process >= 0 ? ls_state->processes[ls_process].name : "a program";
    int length = snprintf(line, sizeof line, "ble lockstep: %s: %s\n", name, text);
    SYS3(SYS_write, 2, line, length);
}

/// Finds the entry of this process, which its parent has reserved.
static int find_entry(struct lockstep *state)
{
    int32_t pid = (int32_t)lockstep_system(SYS_getpid, 0, 0, 0, 0, 0, 0);
    int32_t parent = (int32_t)lockstep_system(SYS_getppid, 0, 0, 0, 0, 0, 0);
    int known = lockstep_process_of_pid(state, pid);
    if (known >= 0)
        return known;
    for (int i = 1; i < lockstep_max_processes; i++) {
        struct lockstep_process *process = &state->processes[i];
        if (__atomic_load_n(&process->state, __ATOMIC_ACQUIRE) != lockstep_process_reserved || process->parent < 0
            || state->processes[process->parent].pid != parent)
            continue;
        int32_t none = 0;
        if (__atomic_compare_exchange_n(&process->pid, &none, pid, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)
            || none == pid) {
            lockstep_set_pid(state, i, pid);
            return i;
        }
    }
    return -1;
}

static void name_process(void)
{
    const char *name = program_invocation_short_name;
    if (name != NULL && *name != 0)
        snprintf(ls_state->processes[ls_process].name, lockstep_name_size, "%s", name);
}

void ls_attach(void)
{
    if (is_attaching || is_outside || ls_state != NULL)
        return;
    const char *path = getenv("BLE_LOCKSTEP");
    if (path == NULL)
        return;
    is_attaching = true;
    snprintf(folder, sizeof folder, "%s", path);
    char file[128];
    snprintf(file, sizeof file, "%s/state", folder);
    struct lockstep *state = lockstep_open(file);
    int process = -1;
    for (int i = 0; state != NULL && process < 0 && i < 2000; i++) {
        process = find_entry(state);
        if (process < 0) {
            struct timespec pause = {0, 500000};
            SYS2(SYS_nanosleep, &pause, NULL);
        }
    }
    if (process < 0) {
        is_outside = true;
        is_attaching = false;
        ls_message(
            "process %d can't join the lockstep: it was not started by a process of it; its time is the real time",
            (int)lockstep_system(SYS_getpid, 0, 0, 0, 0, 0, 0));
        return;
    }
    int thread = lockstep_main_thread(state, process);
    int32_t tid = (int32_t)lockstep_system(SYS_gettid, 0, 0, 0, 0, 0, 0);
    int running = __atomic_load_n(&state->running, __ATOMIC_ACQUIRE);
    bool has_executed = running >= 0 && state->threads[running].process == process
        && state->threads[running].state == lockstep_thread_running;
    if (has_executed) {
        // After exec, the process has the turn already, and no other thread.
        thread = running;
        for (int i = 0; i < state->thread_count; i++)
            if (i != running && state->threads[i].process == process)
                state->threads[i].state = lockstep_thread_free;
    } else {
        lockstep_start(state, thread, tid);
    }
    state->threads[thread].tid = tid;
    ls_process = process;
    ls_self = thread;
    state->processes[process].is_static = false;
    ls_state = state;
    is_attaching = false;
    name_process();
}

__attribute__((constructor(101))) static void loaded(void)
{
    ls_attach();
}

// After the other destructors of the program. What runs later, in the system, is waited for by the supervisor.
__attribute__((destructor(101))) static void unloaded(void)
{
    if (!ls_on())
        return;
    // What the system writes at the end of a process can't wait for a reader.
    fflush(stdout);
    lockstep_process_ends(ls_state, ls_process);
}
