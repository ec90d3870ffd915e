// Overview
//
// CLockstep is the scheduler of `ble lockstep`: a state in shared memory, and the functions by which threads of several
// processes take turns and share one time.
//
// The idea: a thread that waits runs the scheduler itself, and gives the turn to the next thread by a futex; no process
// stands between. While all wait, the time moves to the earliest deadline. The air is the first thread.
//
// Callers: `CLockstepPreload` in the programs, `BluetoothAir/Lockstep` in `ble`.
//
// Invariants:
// - Only the thread with the turn writes the state, except for what `lockstep_layout.h` calls atomic.
// - The order of turns depends on the numbers of threads, on their waits and on the time: on nothing of the machine.
// - A process that ends keeps the turn until the system has closed its descriptors: the supervisor passes it on.
//
// Where to begin: this file has turns and time; `supervise.c` has what the coordinator does in real time.

#include "lockstep_layout.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lockstep_system.h"

static void futex_wait(uint32_t *word, uint32_t value, const struct timespec *limit)
{
    lockstep_system(SYS_futex, (long)word, FUTEX_WAIT, value, (long)limit, 0, 0);
}

static void futex_wake(uint32_t *word)
{
    lockstep_system(SYS_futex, (long)word, FUTEX_WAKE, INT_MAX, 0, 0, 0);
}

// MARK: Entries

static void copy_name(char *to, const char *from)
{
    int i = 0;
    for (; from[i] != 0 && i < lockstep_name_size - 1; i++)
        to[i] = from[i];
    to[i] = 0;
}

static uint64_t mix(uint64_t value)
{
    value += 0x9E3779B97F4A7C15;
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
    value = (value ^ value >> 27) * 0x94D049BB133111EB;
    return value ^ value >> 31;
}

int lockstep_add_thread(struct lockstep *lockstep, int process)
{
    for (int i = 0; i < lockstep_max_threads; i++) {
        struct lockstep_thread *thread = &lockstep->threads[i];
        if (thread->state != lockstep_thread_free)
            continue;
        memset(thread, 0, sizeof *thread);
        thread->process = process;
        thread->deadline = LOCKSTEP_NEVER;
        thread->state = lockstep_thread_ready;
        copy_name(thread->call, "start");
        if (i >= lockstep->thread_count)
            lockstep->thread_count = i + 1;
        return i;
    }
    return -1;
}

/// True if nothing refers to the entry: the process has ended, and its parent knows it or has ended, too.
static bool may_reuse(const struct lockstep *lockstep, const struct lockstep_process *process)
{
    if (process->state == lockstep_process_free)
        return true;
    if (process->state != lockstep_process_ended || process->parent < 0)
        return false;
    return process->is_reaped || lockstep->processes[process->parent].state != lockstep_process_alive;
}

static void free_threads(struct lockstep *lockstep, int process)
{
    for (int i = 0; i < lockstep->thread_count; i++)
        if (lockstep->threads[i].process == process)
            lockstep->threads[i].state = lockstep_thread_free;
}

int lockstep_add_process(struct lockstep *lockstep, const char *name, int parent, bool is_program)
{
    for (int i = 0; i < lockstep_max_processes; i++) {
        struct lockstep_process *process = &lockstep->processes[i];
        if (!may_reuse(lockstep, process))
            continue;
        free_threads(lockstep, i);
        uint32_t generation = process->generation + 1;
        memset(process, 0, sizeof *process);
        process->generation = generation;
        process->parent = parent;
        process->is_program = is_program;
        copy_name(process->name, name);
        uint64_t above = parent >= 0 ? lockstep->processes[parent].random_key : mix(lockstep->seed);
        uint64_t index = parent >= 0 ? ++lockstep->processes[parent].children : (uint64_t)i;
        process->random_key = mix(above ^ mix(index));
        if (lockstep_add_thread(lockstep, i) < 0)
            return -1;
        if (i >= lockstep->process_count)
            lockstep->process_count = i + 1;
        __atomic_store_n(&process->state, lockstep_process_reserved, __ATOMIC_RELEASE);
        return i;
    }
    return -1;
}

int lockstep_main_thread(const struct lockstep *lockstep, int process)
{
    for (int i = 0; i < lockstep->thread_count; i++)
        if (lockstep->threads[i].state != lockstep_thread_free && lockstep->threads[i].process == process)
            return i;
    return -1;
}

void lockstep_set_pid(struct lockstep *lockstep, int process, int32_t pid)
{
    __atomic_store_n(&lockstep->processes[process].pid, pid, __ATOMIC_RELEASE);
    int32_t reserved = lockstep_process_reserved;
    __atomic_compare_exchange_n(
        &lockstep->processes[process].state, &reserved, lockstep_process_alive, false, __ATOMIC_ACQ_REL,
        __ATOMIC_ACQUIRE);
}

int lockstep_process_of_pid(const struct lockstep *lockstep, int32_t pid)
{
    for (int i = 0; i < lockstep->process_count; i++) {
        const struct lockstep_process *process = &lockstep->processes[i];
        if (process->state == lockstep_process_alive && process->pid == pid)
            return i;
    }
    return -1;
}

uint64_t lockstep_random(struct lockstep *lockstep, int process)
{
    struct lockstep_process *entry = &lockstep->processes[process];
    return mix(entry->random_key + mix(++entry->random_count));
}

// MARK: Turns

static bool is_gone(const struct lockstep *lockstep, const struct lockstep_thread *thread)
{
    return __atomic_load_n(&lockstep->processes[thread->process].ended, __ATOMIC_SEQ_CST) != 0;
}

/// True if the thread has signals to handle: the first thread of a process does it.
static bool has_signals(const struct lockstep *lockstep, const struct lockstep_thread *thread)
{
    return __atomic_load_n(&lockstep->processes[thread->process].signals, __ATOMIC_RELAXED) != 0
        && lockstep_main_thread(lockstep, thread->process) == thread - lockstep->threads;
}

/// True if the thread can use the turn now.
static bool is_ready(const struct lockstep *lockstep, const struct lockstep_thread *thread)
{
    switch (thread->state) {
    case lockstep_thread_ready: return true;
    case lockstep_thread_waiting:
        return thread->woken || thread->deadline <= lockstep->now
            || (thread->polls && thread->checked != lockstep->epoch) || has_signals(lockstep, thread);
    default: return false;
    }
}

/// Returns the thread that gets the turn, after moving the time if needed; -1: none.
static int next_thread(struct lockstep *lockstep)
{
    for (;;) {
        int count = lockstep->thread_count;
        int64_t earliest = LOCKSTEP_NEVER;
        for (int i = 1; i <= count; i++) {
            int index = (lockstep->latest + i) % count;
            struct lockstep_thread *thread = &lockstep->threads[index];
            if (thread->state == lockstep_thread_free || is_gone(lockstep, thread))
                continue;
            if (is_ready(lockstep, thread))
                return index;
            if (thread->deadline < earliest)
                earliest = thread->deadline;
        }
        if (earliest == LOCKSTEP_NEVER)
            return -1;
        if (earliest > lockstep->end) {
            lockstep->has_ended = true;
            return -1;
        }
        lockstep->now = earliest;
        lockstep->grants++;
    }
}

/// Takes the turn that a thread of a process that has ended would have. Returns false if another thread has done so.
static bool claim(struct lockstep *lockstep, int running)
{
    return __atomic_compare_exchange_n(
        &lockstep->running, &running, lockstep_claimed, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/// Gives the turn to the next thread. `own` is the calling thread if it can have the turn again, otherwise -1. Returns
/// true if the calling thread has it.
static bool pass_turn(struct lockstep *lockstep, int own)
{
    int next;
    do {
        next = lockstep->is_stopping ? 0 : next_thread(lockstep);
        if (lockstep->has_ended) {
            lockstep->is_stopping = true;
            next = 0;
        }
        __atomic_add_fetch(&lockstep->turns, 1, __ATOMIC_RELAXED);
        if (next < 0) {
            __atomic_store_n(&lockstep->running, lockstep_idle, __ATOMIC_SEQ_CST);
            lockstep_ring(lockstep);
            return false;
        }
        lockstep->latest = next;
        __atomic_store_n(&lockstep->running, next, __ATOMIC_SEQ_CST);
        // The process may have been killed since. Then either this thread or the supervisor passes the turn on.
    } while (next != own && is_gone(lockstep, &lockstep->threads[next]) && claim(lockstep, next));
    if (next == own)
        return true;
    __atomic_store_n(&lockstep->threads[next].turn, 1, __ATOMIC_RELEASE);
    futex_wake(&lockstep->threads[next].turn);
    return false;
}

/// Returns when the thread that has ended last no longer exists, so that nothing of it runs beside others.
static void await_dying(struct lockstep *lockstep)
{
    if (lockstep->dying_tid == 0)
        return;
    while (lockstep_system(SYS_tgkill, lockstep->dying_pid, lockstep->dying_tid, 0, 0, 0, 0) == 0)
        lockstep_system(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
    lockstep->dying_tid = 0;
}

static void take_turn(struct lockstep *lockstep, int index)
{
    struct lockstep_thread *thread = &lockstep->threads[index];
    while (__atomic_load_n(&thread->turn, __ATOMIC_ACQUIRE) == 0)
        futex_wait(&thread->turn, 0, NULL);
}

static void begin_turn(struct lockstep *lockstep, int index)
{
    struct lockstep_thread *thread = &lockstep->threads[index];
    __atomic_store_n(&thread->turn, 0, __ATOMIC_RELAXED);
    thread->state = lockstep_thread_running;
    await_dying(lockstep);
}

void lockstep_start(struct lockstep *lockstep, int index, int32_t tid)
{
    lockstep->threads[index].tid = tid;
    take_turn(lockstep, index);
    begin_turn(lockstep, index);
}

static void note_run(struct lockstep *lockstep)
{
    lockstep->epoch++;
    __atomic_store_n(&lockstep->runs, lockstep->runs + 1, __ATOMIC_RELAXED);
}

bool lockstep_wait(
    struct lockstep *lockstep, int index, const char *call, int64_t deadline, bool polls, bool has_run)
{
    struct lockstep_thread *thread = &lockstep->threads[index];
    copy_name(thread->call, call);
    thread->deadline = deadline;
    thread->polls = polls;
    thread->woken = false;
    if (has_run)
        note_run(lockstep);
    thread->checked = lockstep->epoch;
    thread->state = lockstep_thread_waiting;
    if (!pass_turn(lockstep, index))
        take_turn(lockstep, index);
    begin_turn(lockstep, index);
    bool woken = thread->woken;
    thread->woken = false;
    return woken;
}

void lockstep_yield(struct lockstep *lockstep, int index)
{
    struct lockstep_thread *thread = &lockstep->threads[index];
    note_run(lockstep);
    thread->state = lockstep_thread_ready;
    if (!pass_turn(lockstep, index))
        take_turn(lockstep, index);
    begin_turn(lockstep, index);
}

void lockstep_wake(struct lockstep *lockstep, int index)
{
    lockstep->threads[index].woken = true;
}

void lockstep_thread_ended(struct lockstep *lockstep, int index, int32_t pid, int32_t tid)
{
    note_run(lockstep);
    lockstep->threads[index].state = lockstep_thread_free;
    lockstep->dying_pid = pid;
    lockstep->dying_tid = tid;
    pass_turn(lockstep, -1);
}

void lockstep_process_ends(struct lockstep *lockstep, int process)
{
    lockstep->exiting = process;
    __atomic_store_n(&lockstep->running, lockstep_exiting, __ATOMIC_RELEASE);
    lockstep_ring(lockstep);
}

int64_t lockstep_now(const struct lockstep *lockstep)
{
    return __atomic_load_n(&lockstep->now, __ATOMIC_RELAXED);
}

uint64_t lockstep_grants(const struct lockstep *lockstep)
{
    return lockstep->grants;
}

uint64_t lockstep_runs(const struct lockstep *lockstep)
{
    return __atomic_load_n(&lockstep->runs, __ATOMIC_RELAXED);
}

uint64_t lockstep_turns(const struct lockstep *lockstep)
{
    return __atomic_load_n(&lockstep->turns, __ATOMIC_RELAXED);
}

// MARK: The supervisor

void lockstep_ring(struct lockstep *lockstep)
{
    __atomic_store_n(&lockstep->bell, 1, __ATOMIC_RELEASE);
    futex_wake(&lockstep->bell);
}

void lockstep_listen(struct lockstep *lockstep, int milliseconds)
{
    struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    if (__atomic_load_n(&lockstep->bell, __ATOMIC_ACQUIRE) == 0)
        futex_wait(&lockstep->bell, 0, &limit);
    __atomic_store_n(&lockstep->bell, 0, __ATOMIC_RELEASE);
}

/// True if the end of a program ends the run.
static bool ends_run(const struct lockstep *lockstep, int index)
{
    if (!lockstep->processes[index].is_program)
        return false;
    if (lockstep->stops_on_failure && lockstep->processes[index].status != 0)
        return true;
    int first = 0, last = 0;
    bool has_others = false;
    for (int i = 1; i < lockstep->process_count; i++) {
        if (!lockstep->processes[i].is_program)
            continue;
        first = first == 0 ? i : first;
        last = i;
        has_others |= i != index && lockstep->processes[i].state != lockstep_process_ended;
    }
    switch (lockstep->until) {
    case lockstep_until_first: return index == first;
    case lockstep_until_last: return index == last;
    default: return !has_others;
    }
}

void lockstep_stop(struct lockstep *lockstep)
{
    __atomic_store_n(&lockstep->is_stopping, true, __ATOMIC_RELEASE);
    lockstep_ring(lockstep);
}

void lockstep_process_gone(struct lockstep *lockstep, int index)
{
    struct lockstep_process *process = &lockstep->processes[index];
    int parent = process->parent;
    // The parent of the programs is the air, which takes no signals.
    if (parent > 0)
        __atomic_fetch_or(&lockstep->processes[parent].signals, 1ULL << SIGCHLD, __ATOMIC_RELAXED);
    process->has_ended_by_itself = !lockstep->is_stopping;
    if (ends_run(lockstep, index))
        __atomic_store_n(&lockstep->is_stopping, true, __ATOMIC_RELEASE);
    __atomic_store_n(&process->ended, 1, __ATOMIC_SEQ_CST);
    int running = __atomic_load_n(&lockstep->running, __ATOMIC_SEQ_CST);
    bool has_turn = running == lockstep_idle || (running == lockstep_exiting && lockstep->exiting == index)
        || (running >= 0 && lockstep->threads[running].process == index);
    has_turn = has_turn && claim(lockstep, running);
    if (has_turn)
        free_threads(lockstep, index);
    // Its entry can be used again from here on.
    __atomic_store_n(&process->state, lockstep_process_ended, __ATOMIC_SEQ_CST);
    if (has_turn) {
        lockstep->epoch++;
        lockstep->dying_tid = 0;
        pass_turn(lockstep, -1);
    }
}

bool lockstep_is_idle(const struct lockstep *lockstep)
{
    return __atomic_load_n(&lockstep->running, __ATOMIC_ACQUIRE) == lockstep_idle;
}

void lockstep_recheck(struct lockstep *lockstep)
{
    if (!lockstep_is_idle(lockstep))
        return;
    lockstep->epoch++;
    pass_turn(lockstep, -1);
}
