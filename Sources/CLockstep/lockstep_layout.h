// The layout of the state that all processes of a lockstep share. Only the scheduler and the preloaded library use it.

#ifndef LOCKSTEP_LAYOUT_H
#define LOCKSTEP_LAYOUT_H

#include "CLockstep.h"

enum { lockstep_max_processes = 256, lockstep_max_threads = 1024, lockstep_name_size = 48 };

/// The values of `running` that name no thread.
enum {
    /// All threads wait, and no deadline is set.
    lockstep_idle = -1,
    /// A process ends with the turn. The supervisor passes the turn on when the system has closed its descriptors.
    lockstep_exiting = -2,
    /// A thread or the supervisor takes the turn of a process that has been killed.
    lockstep_claimed = -3
};

enum lockstep_thread_state {
    lockstep_thread_free,
    /// Gets the turn as soon as the threads before it have had theirs.
    lockstep_thread_ready,
    lockstep_thread_running,
    /// Waits for its deadline, for a wake, or for other threads to run if `polls` is set.
    lockstep_thread_waiting
};

enum lockstep_process_state {
    lockstep_process_free,
    /// Created by its parent, without a process of the system so far.
    lockstep_process_reserved,
    lockstep_process_alive,
    lockstep_process_ended
};

struct lockstep_thread {
    int32_t state;
    int32_t process;
    /// The thread's number in the system.
    int32_t tid;
    /// The futex word for which the thread waits: 1 gives it the turn. Atomic.
    uint32_t turn;
    int64_t deadline;
    /// The value of `epoch` when the thread last checked what it waits for.
    uint32_t checked;
    bool polls;
    /// True if the thread was woken, and has not just reached its deadline.
    bool woken;
    char call[lockstep_name_size];
};

struct lockstep_process {
    /// Atomic, because a new process looks for its entry.
    int32_t state;
    /// The number in the system; 0 if unknown. Atomic.
    int32_t pid;
    int32_t parent;
    /// The number of processes that the entry has had, for random numbers.
    uint32_t generation;
    /// Set by the supervisor when the process has ended. Atomic.
    uint32_t ended;
    /// The signals that wait for the process's next turn. Atomic.
    uint64_t signals;
    /// The random numbers taken so far.
    uint64_t random_count;
    /// The key of the process's random numbers.
    uint64_t random_key;
    /// The number of child processes so far.
    uint32_t children;
    /// True after the parent has learned of the end.
    bool is_reaped;
    /// True if the process was started by the coordinator.
    bool is_program;
    /// True if the program can't load the library; its time is computing.
    bool is_static;
    /// The status of wait(2) of a program that has ended.
    int32_t status;
    bool has_status;
    /// The time of the end in nanoseconds.
    int64_t end;
    /// True if the process has ended before the end of the run.
    bool has_ended_by_itself;
    char name[lockstep_name_size];
};

struct lockstep {
    uint64_t magic;
    /// The time in nanoseconds since the start.
    int64_t now;
    /// The clocks at the start.
    int64_t wall_start, monotonic_start;
    uint64_t seed;
    /// Changes whenever a thread may have done something for which another thread waits.
    uint32_t epoch;
    /// The thread with the turn, or one of the values above. Atomic.
    int32_t running;
    /// The thread that ran before: threads take turns in the order of their numbers.
    int32_t latest;
    /// The number of entries in use.
    int32_t thread_count, process_count;
    /// The process that ends if `running` is `lockstep_exiting`.
    int32_t exiting;
    /// A thread that has ended, which the next thread waits for; 0: none.
    int32_t dying_pid, dying_tid;
    /// Wakes the supervisor. Atomic.
    uint32_t bell;
    /// Changes with each turn, so that the supervisor can see progress. Atomic.
    uint64_t turns;
    /// The number of times that a thread has waited after it may have done something. Atomic.
    uint64_t runs;
    /// The number of times that the time has moved.
    uint64_t grants;
    /// Ports for sockets without one.
    uint32_t next_port;
    /// The end of time: the time does not move beyond it.
    int64_t end;
    /// True after the time has reached its end.
    bool has_ended;
    /// True after the end of the run has been decided: the air gets the next turn, and keeps it.
    bool is_stopping;
    /// Selects the programs whose end ends the run.
    int32_t until;
    bool stops_on_failure;
    /// False if the programs get the system's random numbers.
    bool is_random_answered;
    struct lockstep_process processes[lockstep_max_processes];
    struct lockstep_thread threads[lockstep_max_threads];
};

#endif
